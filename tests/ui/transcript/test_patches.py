"""Patches lead from what a tab shows to what it is to show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from assistant.ui.transcript.nodes import Node, card_node
from assistant.ui.transcript.patches import Operation, everything, patch_between

NODES = st.lists(
    st.builds(
        Node,
        st.sampled_from("0123456789"),
        st.sampled_from(["person", "own"]),
        st.lists(st.text("ab𝒳é<", max_size=6), max_size=3).map(tuple),
        st.booleans(),
    ),
    max_size=8,
    unique_by=lambda node: node.key,
).map(tuple)
Drawn = dict[str, tuple[str, list[str], bool]]


def applied(drawn: Drawn, operations: Sequence[Operation]) -> Drawn:
    """What the page's script makes of these operations."""
    for name, key, *rest in cast("Sequence[tuple[str, str, *tuple[object, ...]]]", operations):
        match name:
            case "insert":
                role, before, blocks, is_growing = cast("tuple[str, str, list[str], bool]", tuple(rest))
                place = list(drawn).index(before) if before else len(drawn)
                items = list(drawn.items())
                drawn = dict([*items[:place], (key, (role, list(blocks), is_growing)), *items[place:]])
            case "remove":
                del drawn[key]
            case "change":
                index, kept, ending = cast("tuple[int, int, str]", tuple(rest))
                blocks = drawn[key][1]
                units = blocks[index].encode("utf-16-le")[: 2 * kept]
                blocks[index] = units.decode("utf-16-le") + ending
            case "blocks":
                index, new = cast("tuple[int, list[str]]", tuple(rest))
                drawn[key][1][index:] = new
            case _:
                assert name == "settle"
                drawn[key] = (*drawn[key][:2], False)
    return drawn


def as_drawn(nodes: Sequence[Node]) -> list[tuple[str, str, list[str]]]:
    return [(node.key, node.role, list(node.blocks)) for node in nodes]


@given(NODES, NODES, NODES)
def test_any_way_leads_to_what_is_wanted(
    first: tuple[Node, ...], second: tuple[Node, ...], third: tuple[Node, ...]
) -> None:
    patch, shown = patch_between(None, first)
    assert patch.base is None
    drawn = applied({}, patch.operations)
    for nodes in (second, third):
        patch, after = patch_between(shown, nodes)
        assert (patch.base, patch.version) == (shown.version, shown.version + 1)
        drawn, shown = applied(drawn, patch.operations), after
        assert [(key, role, blocks) for key, (role, blocks, _) in drawn.items()] == as_drawn(nodes)


def test_nothing_new_is_no_operation() -> None:
    _, shown = patch_between(None, [card_node("0", "a")])
    assert patch_between(shown, [card_node("0", "a")])[0].operations == ()


def test_a_growing_block_sends_what_is_new_of_it() -> None:
    _, shown = patch_between(None, [Node("0", "own", ("<p>one</p>", "<p>tw</p>"), True)])
    patch, _ = patch_between(shown, [Node("0", "own", ("<p>one</p>", "<p>two 𝒳</p>"), True)])
    assert patch.operations == (["change", "0", 1, 5, "o 𝒳</p>"],)


def test_everything_is_sent_to_whoever_asks() -> None:
    _, shown = patch_between(None, [card_node("0", "a")])
    patch, after = everything(shown, [card_node("0", "a")])
    assert (patch.base, patch.version, after.version) == (None, 2, 2)
    assert patch.operations == (["insert", "0", "own", "", ["a"], False],)

"""Ids of tool calls: the provider's own where nobody had it before, else fresh ones of the same shape."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.models.providers.call_ids import CallIds, fresh_call_id


@pytest.mark.parametrize(
    ("wanted", "shape"),
    [
        ("call_0", r"call_\d{20}"),
        ("functions.read:12", r"functions\.read:\d{20}"),
        ("0", r"\d{20}"),
        ("", r"call_[A-Za-z0-9]{20}"),
        ("call_000000000001", r"call_\d{12}"),
        ("Read", r"[A-Za-z0-9]{20}"),
    ],
)
def test_an_id_that_others_may_have_too_is_replaced_in_its_shape(wanted: str, shape: str):
    assert re.fullmatch(shape, CallIds().unique(wanted))


@pytest.mark.parametrize("wanted", ["D681PevKs", "call_Jx93kd02mmvQpL1s", "chatcmpl-tool-8f14e45fceea167a"])
def test_a_random_id_is_kept_once_and_replaced_when_it_comes_again(wanted: str):
    ids = CallIds()

    assert ids.unique(wanted) == wanted
    again = ids.unique(wanted)
    assert again != wanted
    assert len(again) == len(wanted)


def test_an_id_that_stands_in_the_conversation_is_replaced():
    ids = CallIds()
    ids.remember(["D681PevKs"])

    assert ids.unique("D681PevKs") != "D681PevKs"


@given(st.lists(st.text(max_size=12), max_size=20))
def test_no_id_is_handed_out_twice(wanted: list[str]):
    ids = CallIds()
    handed = [ids.unique(one) for one in wanted]

    assert len(set(handed)) == len(handed)
    assert all(handed)


def test_fresh_ids_differ():
    assert len({fresh_call_id() for _ in range(100)}) == 100

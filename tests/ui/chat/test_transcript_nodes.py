"""Entries become nodes; what has not changed is drawn once."""

from __future__ import annotations

from assistant.messages.events import VersionsKnown
from assistant.ui.cards import action
from assistant.ui.chat.entries import EndEntry, NoticeEntry, TextEntry, Transcript, UserEntry
from assistant.ui.chat.transcript_nodes import TranscriptNodes
from assistant.ui.chat.transcript_window import Window


def texts(count: int) -> Transcript:
    """A conversation of so many texts."""
    return Transcript(tuple(TextEntry(f"b{number}", f"text {number}") for number in range(count)))


def test_the_newest_two_hundred_are_drawn_and_the_others_can_be_loaded() -> None:
    nodes = TranscriptNodes().draw(texts(300), Window(), is_running=False)
    assert len(nodes) == 201
    assert "100 earlier messages" in nodes[0].blocks[0]
    assert nodes[1].blocks == ("<p>text 100</p>\n",)
    past = TranscriptNodes().draw(texts(300), Window(end=220), is_running=False)
    assert [past[1].blocks, past[-2].blocks] == [("<p>text 20</p>\n",), ("<p>text 219</p>\n",)]
    assert "80 later messages" in past[-1].blocks[0]


def test_what_waits_is_at_the_end() -> None:
    nodes = TranscriptNodes().draw(Transcript((UserEntry("Hi", "m", ""),)), Window(), True, ["And then?"])
    assert [node.role for node in nodes] == ["person", "own", "person"]
    assert "Working" in nodes[1].blocks[0]
    assert "And then?" in nodes[2].blocks[0]


def test_a_message_that_can_be_edited_has_a_pencil_beside_its_text() -> None:
    entries = (UserEntry("```python\nopen fence", "m1", ""), UserEntry("folded", "m0", ""))
    first, second = TranscriptNodes().draw(Transcript(entries), Window(), is_running=False, editable={"m1"})
    assert action("edit", "m1") in first.blocks[0]
    assert first.blocks[1] == '<div class="m-typed">```python\nopen fence</div>'
    assert second.blocks[1:] == ('<div class="m-typed">folded</div>',)
    assert [(action("edit", name) in one.blocks[0]) for name, one in (("m1", first), ("m0", second))] == [True, False]
    assert action("copy-message", "m0") in second.blocks[0]


def test_versions_stand_at_the_message_and_at_the_end_of_the_answer_while_nothing_runs() -> None:
    versions = (VersionsKnown("message", "m1", 1, 2), VersionsKnown("answer", "m1", 2, 3))
    told = Transcript((UserEntry("Hi", "m1", ""), EndEntry("m1", "completed")), versions=versions)
    question, end = TranscriptNodes().draw(told, Window(), is_running=False)
    assert action("version", "message m1 2") in question.blocks[1]
    assert ">1/2<" in question.blocks[1]
    assert [action("version", f"answer m1 {number}") in end.blocks[1] for number in (1, 3)] == [True, True]
    question, *_ = TranscriptNodes().draw(told, Window(), is_running=True)
    assert len(question.blocks) == 2


def test_the_text_at_the_end_of_a_running_turn_grows() -> None:
    nodes, asked = TranscriptNodes(), UserEntry("Hi", "m", "")
    first = nodes.draw(Transcript((asked, TextEntry("b", "one\n\n**tw"))), Window(), is_running=True)
    second = nodes.draw(Transcript((asked, TextEntry("b", "one\n\n**two** a"))), Window(), is_running=True)
    ended = nodes.draw(
        Transcript((asked, TextEntry("b", "one\n\n**two** a"), EndEntry("t", "completed"))), Window(), False
    )
    assert first[1].blocks == ("<p>one</p>\n", "<p><strong>tw</strong></p>\n")
    assert second[1].blocks == ("<p>one</p>\n", "<p><strong>two</strong> a</p>\n")
    assert (first[1].is_growing, second[1].is_growing, ended[1].is_growing) == (True, True, False)
    assert ended[1].blocks == second[1].blocks
    assert first[0] is second[0] is ended[0]


def test_the_buttons_of_an_end_go_when_it_is_the_last_no_more() -> None:
    nodes, end = TranscriptNodes(), EndEntry("t1", "interrupted")
    [last] = nodes.draw(Transcript((end,)), Window(), is_running=False)
    assert action("continue", "t1") in last.blocks[0]
    first, _ = nodes.draw(Transcript((end, UserEntry("more", "m", ""))), Window(), is_running=False)
    assert "<button" not in first.blocks[0]


def test_another_entry_at_the_same_place_is_drawn() -> None:
    nodes = TranscriptNodes()
    nodes.draw(texts(3), Window(), is_running=False)
    [only] = nodes.draw(Transcript((NoticeEntry("gone", "info"),)), Window(), is_running=False)
    assert "gone" in only.blocks[0]

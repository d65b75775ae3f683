"""Each tab is sent what it does not show yet."""

from __future__ import annotations

from assistant.ui.chat.sent_transcripts import DrawnTranscript, SentTranscripts, ShownPart
from assistant.ui.transcript.nodes import card_node
from tests.ui.turns import only

ONE, TWO = card_node("0", "one"), card_node("1", "two")


def test_a_tab_is_sent_everything_and_then_what_is_new() -> None:
    sent = SentTranscripts()
    first, patch = only(sent.patch("tab", DrawnTranscript(ShownPart("s"), (ONE,))))
    assert patch == {"base": None, "ops": (["insert", "0", "own", "", ["one"], False],), "session": "s"}
    second, patch = only(sent.patch("tab", DrawnTranscript(ShownPart("s"), (ONE, TWO))))
    assert patch == {"base": first, "ops": (["insert", "1", "own", "", ["two"], False],)}
    assert second == first + 1
    assert only(sent.patch("other", DrawnTranscript(ShownPart("s"), (ONE,))))[1]["base"] is None


def test_another_conversation_begins_with_an_empty_page() -> None:
    sent = SentTranscripts()
    first, _ = only(sent.patch("tab", DrawnTranscript(ShownPart("s"), (ONE,))))
    second, patch = only(sent.patch("tab", DrawnTranscript(ShownPart("t"), (ONE,))))
    assert (patch["base"], patch["session"], second) == (None, "t", first + 1)


def test_a_tab_that_missed_a_patch_is_sent_everything_once() -> None:
    sent = SentTranscripts()
    sent.patch("tab", DrawnTranscript(ShownPart("s"), (ONE,)))
    sent.send_all("tab")
    assert only(sent.patch("tab", DrawnTranscript(ShownPart("s"), (ONE,))))[1]["base"] is None
    assert only(sent.patch("tab", DrawnTranscript(ShownPart("s"), (ONE,))))[1]["ops"] == ()


def test_a_tab_that_outlives_the_program_is_sent_versions_that_grow() -> None:
    earlier, _ = only(SentTranscripts().patch("tab", DrawnTranscript(ShownPart("s"), (ONE,))))
    later, patch = only(SentTranscripts().patch("tab", DrawnTranscript(ShownPart("s"), (ONE,))))
    assert later >= earlier > 1_000_000_000_000
    assert patch["base"] is None


def test_what_to_scroll_to_and_what_arrived_go_along() -> None:
    _, patch = only(SentTranscripts().patch("tab", DrawnTranscript(ShownPart("s"), (ONE,), show="0", received="7")))
    assert (patch["show"], patch["received"]) == ("0", "7")


def test_what_is_said_goes_along_where_it_is_anything() -> None:
    sent = SentTranscripts()
    _, patch = only(sent.patch("tab", DrawnTranscript(ShownPart("s"), (ONE,)), live=False, beside=None))
    assert (patch["live"], "beside" in patch) == (False, False)


def test_of_each_tab_is_known_what_it_shows() -> None:
    sent = SentTranscripts()
    version, _ = only(sent.patch("tab", DrawnTranscript(ShownPart("s", version=3), (ONE,))))
    assert (sent.part("tab"), sent.part("other")) == (ShownPart("s", version=3), None)
    can_go_on = [sent.can_go_on("tab", number) for number in (version + 1, version, version - 1, 0)]
    assert can_go_on == [False, True, True, False]
    assert not sent.can_go_on("other", version)

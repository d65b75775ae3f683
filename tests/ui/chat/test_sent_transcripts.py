"""Each tab is sent what it does not show yet."""

from __future__ import annotations

from assistant.ui.chat.sent_transcripts import DrawnTranscript, SentTranscripts
from assistant.ui.transcript.nodes import card_node

ONE, TWO = card_node("0", "one"), card_node("1", "two")


def only(value: dict[str, object]) -> tuple[int, dict[str, object]]:
    """The version of a patch, and what it says."""
    [(version, said)] = value.items()
    assert isinstance(said, dict)
    return int(version), said


def test_a_tab_is_sent_everything_and_then_what_is_new() -> None:
    sent = SentTranscripts()
    first, patch = only(sent.patch("tab", DrawnTranscript("s", (ONE,))))
    assert patch == {"base": None, "ops": (["insert", "0", "own", "", ["one"], False],), "session": "s"}
    second, patch = only(sent.patch("tab", DrawnTranscript("s", (ONE, TWO))))
    assert patch == {"base": first, "ops": (["insert", "1", "own", "", ["two"], False],)}
    assert second == first + 1
    assert only(sent.patch("other", DrawnTranscript("s", (ONE,))))[1]["base"] is None


def test_another_conversation_begins_with_an_empty_page() -> None:
    sent = SentTranscripts()
    first, _ = only(sent.patch("tab", DrawnTranscript("s", (ONE,))))
    second, patch = only(sent.patch("tab", DrawnTranscript("t", (ONE,))))
    assert (patch["base"], patch["session"], second) == (None, "t", first + 1)


def test_a_tab_that_missed_a_patch_is_sent_everything_once() -> None:
    sent = SentTranscripts()
    sent.patch("tab", DrawnTranscript("s", (ONE,)))
    sent.send_all("tab")
    assert only(sent.patch("tab", DrawnTranscript("s", (ONE,))))[1]["base"] is None
    assert only(sent.patch("tab", DrawnTranscript("s", (ONE,))))[1]["ops"] == ()


def test_a_tab_that_outlives_the_program_is_sent_versions_that_grow() -> None:
    earlier, _ = only(SentTranscripts().patch("tab", DrawnTranscript("s", (ONE,))))
    later, patch = only(SentTranscripts().patch("tab", DrawnTranscript("s", (ONE,))))
    assert later >= earlier > 1_000_000_000_000
    assert patch["base"] is None


def test_what_to_scroll_to_and_what_arrived_go_along() -> None:
    _, patch = only(SentTranscripts().patch("tab", DrawnTranscript("s", (ONE,), show="0", received="7")))
    assert (patch["show"], patch["received"]) == ("0", "7")

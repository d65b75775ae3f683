"""A streamed response is read in one pass, however its lines are split and however long a value is."""

from __future__ import annotations

import json

import pytest

from assistant.models.wire.event_lines import EventLines, is_whole

_BODY = json.dumps({"choices": [{"delta": {"content": f"word {number}"}} for number in range(3_000)]}, indent=1)


class CountingCheck:
    """Counts what is parsed to see whether a value is whole."""

    def __init__(self) -> None:
        self.characters = 0

    def __call__(self, text: str) -> bool:
        self.characters += len(text)
        return is_whole(text)


def read(content: bytes, size: int, check: CountingCheck) -> list[str]:
    """The events of the content when `size` bytes come at once."""
    lines = EventLines(check)
    pieces = [content[at : at + size] for at in range(0, len(content), size)]
    return [event for piece in pieces for event in lines.feed(piece)] + lines.close()


@pytest.mark.parametrize("size", [1, 7, 4_096, 10_000_000])
@pytest.mark.parametrize(
    "content",
    [_BODY, "".join(f"data: {line}\n" for line in _BODY.splitlines()), f"data: {json.dumps(json.loads(_BODY))}\n\n"],
    ids=["lines of a body", "lines of data without a blank line", "one long line"],
)
def test_a_long_value_is_parsed_once(content: str, size: int) -> None:
    check = CountingCheck()
    events = read(content.encode(), size, check)
    assert [json.loads(event) for event in events] == [json.loads(_BODY)]
    assert check.characters <= len(content)


@pytest.mark.parametrize(
    "line", ['{"a": [1,]}', '{"a": "open', "never closed {", "plain words"], ids=["odd", "string", "bracket", "words"]
)
def test_lines_that_never_become_a_value_are_not_parsed_again(line: str) -> None:
    check = CountingCheck()
    content = f"data: {line}\n" * 2_000
    assert read(content.encode(), 512, check) == ["\n".join([line] * 2_000)]
    assert check.characters <= len(content)


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_end_may_be_split_anywhere(end: str, size: int) -> None:
    content = end.join(["data: 1", "", 'data: {"a":', 'data: "é"}', "data: [DONE]", "", ": a remark", "data: last"])
    expected = ["1", '{"a":\n"é"}', "[DONE]", "last"]
    assert read(content.encode(), size, CountingCheck()) == expected

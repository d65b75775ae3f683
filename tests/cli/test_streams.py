"""Whatever a terminal can write, nothing that is said ends the program, and a failure is one line."""

from __future__ import annotations

import io
import json
import sys

import pytest

from assistant.cli.streams import open_streams

TEXT = "你好 👋 ž é \ud83d"


@pytest.mark.parametrize(
    "encoding", ["ascii", "latin-1", "cp437", "cp1252", "gbk", "big5", "shift_jis", "koi8-r", "utf-8"]
)
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_every_text_can_be_written_and_stays_the_same_in_json(
    monkeypatch: pytest.MonkeyPatch, encoding: str, stream: str
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, stream, io.TextIOWrapper(written, encoding=encoding))
    open_streams()
    print(json.dumps({"text": TEXT}, ensure_ascii=False), file=getattr(sys, stream), flush=True)
    assert json.loads(written.getvalue().decode(encoding)) == {"text": TEXT}


def test_what_cannot_be_read_is_read_with_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9\n"), encoding="utf-8"))
    open_streams()
    assert sys.stdin.readline() == "caf\ufffd\n"


def test_streams_that_are_closed_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, stream, None)
    open_streams()

"""A PDF is read in a process of its own, which ends with its limits; the tool says what came of it."""

from __future__ import annotations

import io
import zlib
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from assistant.agent.readers.pdf_texts import MAX_PAGES
from assistant.agent.readers.process import read_apart
from assistant.agent.tools.file_tools import DescribedRead
from assistant.agent.tools.tool_backend import ToolBackend, shell_environment
from assistant.messages.blocks import TextBlock, ToolResultState


def pdf(*texts: str, packed: bytes | None = None) -> bytes:
    """A PDF with a page for each text, or with one page of these packed drawing commands."""
    streams = [zlib.compress(f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()) for text in texts]
    streams = [packed] if packed is not None else streams
    count = len(streams)
    kids = " ".join(f"{3 + 2 * place} 0 R" for place in range(count))
    font = f"{3 + 2 * count} 0 R"
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode()]
    for place, stream in enumerate(streams):
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {4 + 2 * place} 0 R "
        objects.append(f"{page}/Resources << /Font << /F1 {font} >> >> >>".encode())
        head = f"<< /Length {len(stream)} /Filter /FlateDecode >>\nstream\n".encode()
        objects.append(head + stream + b"\nendstream")
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    out, places = io.BytesIO(), list[int]()
    out.write(b"%PDF-1.4\n")
    for number, content in enumerate(objects, 1):
        places.append(out.tell())
        out.write(f"{number} 0 obj\n".encode() + content + b"\nendobj\n")
    start = out.tell()
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    out.write("".join(f"{place:010} 00000 n \n" for place in places).encode())
    out.write(f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


def encrypted() -> bytes:
    writer, out = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf("one")))), io.BytesIO()
    writer.encrypt("secret")
    writer.write(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "pages", "found"),
    [
        (pdf("one", "two", "three"), "", {"total": 3, "first": 1, "texts": ["one", "two", "three"]}),
        (pdf("one", "two", "three"), "2-9", {"total": 3, "first": 2, "texts": ["two", "three"]}),
        (pdf("one", "two"), "3", {"problem": "no_such_pages", "total": 2}),
        (pdf("one", "two"), "two", {"problem": "no_such_pages", "total": 2}),
        (pdf(*"x" * (MAX_PAGES + 1)), "", {"problem": "too_many_pages", "total": MAX_PAGES + 1}),
        (b"no pdf", "", {"problem": "unreadable"}),
        (pdf("one")[:-200], "1", {"problem": "unreadable"}),
        (encrypted(), "", {"problem": "unreadable"}),
    ],
    ids=["all", "some", "none there", "no number", "too many", "no PDF", "cut", "encrypted"],
)
async def test_the_pages_or_the_problem_are_found(content: bytes, pages: str, found: dict[str, object]) -> None:
    assert await read_apart("pdf", content, shell_environment(), pages) == found


async def test_what_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.agent.readers.process.MAX_SECONDS", 0.0)
    assert await read_apart("pdf", pdf("one"), shell_environment()) == {"problem": "too_slow"}


async def test_the_tool_reads_pages_and_says_what_is_wrong(tmp_path: Path) -> None:
    backend = ToolBackend(tmp_path, tmp_path, lambda _: False, lambda _, __: None)
    read = DescribedRead(model_input_types=[], backend=backend)
    (tmp_path / "plan.pdf").write_bytes(pdf("one", "two"))
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4\nnothing")
    plan, broken = str(tmp_path / "plan.pdf"), str(tmp_path / "broken.pdf")
    chunks = [await read.call(plan), await read.call(plan, pages="7"), await read.call(broken)]
    said = [block.text for chunk in chunks for block in chunk.content if isinstance(block, TextBlock)]
    assert said == [
        "--- Page 1/2 ---\none\n\n--- Page 2/2 ---\ntwo",
        "There are no pages '7': the PDF has 2. Give a number or a range such as 1-5.",
        "This file is no PDF that can be read: it is broken or encrypted.",
    ]
    assert [chunk.state == ToolResultState.ERROR for chunk in chunks] == [False, True, True]

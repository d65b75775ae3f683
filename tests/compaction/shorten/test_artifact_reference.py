"""What metadata says of a full text, and which calls read one back."""

from __future__ import annotations

import pytest

from assistant.compaction.shorten.artifact_reference import ArtifactReference, Reading, reading_of, reference_of
from assistant.messages.blocks import ToolResultBlock
from tests.compaction.conversations import call

ID = "00000000-0000-0000-0000-00000000000a"


def test_a_reference_survives_the_metadata_of_a_block() -> None:
    reference = ArtifactReference(ID, 9_000, 90, True, 60, 30, 100, True, None, 7, "# a heading")
    block = ToolResultBlock(id="c1", name="Bash", output="", metadata={"diff": "kept", **reference.as_metadata()})
    assert reference_of(block) == reference


def test_a_result_that_was_never_cut_has_none() -> None:
    assert reference_of(ToolResultBlock(id="c1", name="Bash", output="", metadata={"diff": "x"})) is None


@pytest.mark.parametrize(
    ("name", "input_", "expected"),
    [
        pytest.param("Read", f'{{"file_path": "/h/tool_result/{ID}.txt"}}', Reading(ID, from_line=1), id="a read"),
        pytest.param(
            "Read", f'{{"file_path": "/h/tool_result/{ID}.txt", "offset": 41}}', Reading(ID, from_line=41), id="by line"
        ),
        pytest.param(
            "Bash", f'{{"command": "tail -c +101 /h/tool_result/{ID}.txt"}}', Reading(ID, from_byte=100), id="by byte"
        ),
        pytest.param("Bash", f'{{"command": "grep x tool_result/{ID}.txt"}}', Reading(ID), id="somewhere in it"),
        pytest.param("Read", '{"file_path": "/h/tool_result/../notes.txt"}', None, id="no artifact"),
        pytest.param("Bash", '{"command": "ls"}', None, id="something else"),
        pytest.param("Read", "not json", None, id="broken arguments"),
    ],
)
def test_a_call_that_reads_an_artifact_is_told_by_its_arguments(
    name: str, input_: str, expected: Reading | None
) -> None:
    assert reading_of(call("c1", name, input_)) == expected

"""What a GGUF file says of itself, and what is no such file."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import ModelError
from assistant.models.local.gguf_file import GgufFile, read_gguf
from tests.models.local.gguf_heads import LLAMA, write_gguf


def test_a_file_tells_its_window_and_what_a_token_costs(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "SmolLM2-135M.gguf")
    # 30 layers, 3 heads, keys and values of 64 numbers each, 2 bytes a number.
    expected = GgufFile(path, path.stat().st_size, "llama", 8_192, 30 * 3 * (64 + 64) * 2)
    assert read_gguf(path) == expected
    assert (expected.name, expected.is_for_chat) == ("SmolLM2-135M", True)


def test_heads_that_differ_by_layer_count_as_the_most(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf", {**LLAMA, "llama.attention.head_count_kv": [1, 3, 2]})
    assert read_gguf(path).token_bytes == 30 * 3 * (64 + 64) * 2


@pytest.mark.parametrize("architecture", ["clip", "nomic-bert", "gemma-embedding"])
def test_a_model_of_pictures_or_vectors_chats_with_nobody(architecture: str, tmp_path: Path) -> None:
    assert not read_gguf(write_gguf(tmp_path / "m.gguf", {"general.architecture": architecture})).is_for_chat


def test_the_parts_of_a_model_are_one_model(tmp_path: Path) -> None:
    first, second = (write_gguf(tmp_path / f"big-0000{number}-of-00002.gguf") for number in (1, 2))
    model = read_gguf(first)
    assert (model.name, model.size_bytes) == ("big", first.stat().st_size + second.stat().st_size)


def test_a_part_that_is_not_the_first_names_the_first(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "big-00002-of-00003.gguf")
    with pytest.raises(ModelError) as caught:
        read_gguf(path)
    line = "is one of 3 parts of a model. Name the first one, big-00001-of-00003.gguf; the others stand beside it."
    assert str(caught.value) == f"{path} {line}"


def test_a_part_without_the_others_names_what_is_missing(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "big-00001-of-00003.gguf")
    write_gguf(tmp_path / "big-00002-of-00003.gguf")
    with pytest.raises(ModelError, match="1 of them are not beside it: big-00003-of-00003.gguf is the first"):
        read_gguf(path)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is no GGUF file"),
        (b"PK\x03\x04 a zip", "is no GGUF file"),
        (b"<!DOCTYPE html>", "is no GGUF file"),
        (b"GGUF", "is broken or was not downloaded to its end"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 5), "is broken or was not downloaded to its end"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "is broken or was not downloaded to its end"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**63), "is broken or was not downloaded to its end"),
    ],
    ids=["empty", "zip", "web page", "cut", "cut facts", "version", "endless name"],
)
def test_what_is_no_model_is_told(content: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=told):
        read_gguf(path)


@given(noise=st.binary(max_size=400))
def test_no_head_is_too_damaged_to_be_told_of(noise: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("noise") / "m.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 3) + noise)
    try:
        assert read_gguf(path).size_bytes == path.stat().st_size
    except ModelError as error:
        assert "broken" in str(error)

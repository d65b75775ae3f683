"""Which window fits into the memory there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.errors import ModelError
from assistant.models.local.gguf_file import GgufFile
from assistant.models.local.memory_need import free_memory_bytes, window_that_fits

# 4.7 GB on disk, and 131,072 bytes a token, as models of 8 billion parameters have.
EIGHT_BILLION = GgufFile(Path("Qwen3-8B.gguf"), 4_700_000_000, "qwen3", 40_960, 131_072)


@pytest.mark.parametrize(
    ("free_gigabytes", "window"), [(32.0, 32_768), (8.0, 16_384), (6.5, 8_192), (5.7, 4_096)], ids=str
)
def test_the_widest_window_that_fits_is_taken(free_gigabytes: float, window: int) -> None:
    assert window_that_fits(EIGHT_BILLION, None, int(free_gigabytes * 1e9)) == window


def test_a_model_gets_no_wider_window_than_it_was_made_for() -> None:
    small = GgufFile(Path("small.gguf"), 90_000_000, "llama", 2_048, 0)
    assert window_that_fits(small, None, 10**10) == 2_048
    with pytest.raises(
        ModelError, match="small was made for 2,048 tokens, and PALIMPSEST_MAX_INPUT_LENGTH asks for 4,"
    ):
        window_that_fits(small, 4_096, 10**10)


def test_a_window_that_was_asked_for_is_given_or_refused_and_never_made_smaller() -> None:
    assert window_that_fits(EIGHT_BILLION, 10_000, 8 * 10**9) == 10_000
    with pytest.raises(ModelError) as caught:
        window_that_fits(EIGHT_BILLION, 40_000, 8 * 10**9)
    assert str(caught.value) == (
        "Qwen3-8B needs about 10.3 GB of memory with a window of 40,000 tokens, and 8.0 GB are free. "
        "Close other programs, or take a smaller model."
    )


def test_too_little_memory_for_any_window_is_told() -> None:
    with pytest.raises(ModelError, match="needs about 5.6 GB of memory with a window of 4,096 tokens, and 2.0 GB are"):
        window_that_fits(EIGHT_BILLION, None, 2 * 10**9)


def test_the_free_memory_of_this_machine_is_known() -> None:
    assert free_memory_bytes() > 0

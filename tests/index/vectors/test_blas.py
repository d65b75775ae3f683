"""Matrix products keep to one thread."""

from __future__ import annotations

from assistant.index.vectors.blas import use_one_thread


def test_numpys_own_library_is_told() -> None:
    assert use_one_thread()

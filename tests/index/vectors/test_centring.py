"""Cosines without what questions, and texts, have in common."""

from __future__ import annotations

import numpy as np
import pytest

from assistant.index.vectors.centring import Centring


def test_a_cosine_less_both_shares_is_that_of_the_vectors_from_their_means() -> None:
    random = np.random.default_rng(1)
    question, text = (random.normal(size=8).astype(np.float32) for _ in range(2))
    centring = Centring(*(random.normal(size=8).astype(np.float32) for _ in range(2)))
    centred = question @ text - centring.mean_cosines(text[None])[0] - centring.mean_cosine(question)
    assert centred == pytest.approx((question - centring.question) @ (text - centring.text), abs=1e-4)

"""Texts become vectors: the offline encoder, a server, and what goes wrong with either."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import IndexingError
from assistant.index.chunker import estimate_tokens
from assistant.index.vectors.calibration import Calibration
from assistant.index.vectors.calibration_texts import Measurement, measure_embedder
from assistant.index.vectors.centring import Centring
from assistant.index.vectors.embedding_cache import ChunkVectors, EmbeddingCache
from assistant.index.vectors.embeddings import (
    DASHSCOPE_MODEL,
    DASHSCOPE_URL,
    EmbedderSettings,
    OfflineEmbedder,
    ServerEmbedder,
    batches,
    make_embedder,
)
from tests.index.fakes import embedding_server


async def test_the_offline_encoder_knows_that_two_languages_say_the_same() -> None:
    embedder = OfflineEmbedder()
    assert await embedder.open() == 512
    vectors = await embedder.embed(
        ["她喜欢喝绿茶", "She likes green tea", "The engine needs a new gasket", "", "\ud800"]
    )
    assert vectors.shape == (5, 512)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2
    await embedder.close()


async def test_a_server_is_asked_in_lists_of_ten_and_answers_are_put_in_order() -> None:
    with embedding_server() as server:
        embedder = ServerEmbedder(server.url, "m", "key")
        vectors = await embedder.embed(["x" * length for length in range(1, 24)])
        await embedder.close()
    assert [len(request["input"]) for request in server.requests] == [10, 10, 3]  # type: ignore[arg-type]
    firsts = vectors[:, 0] / vectors[:, 1]
    assert np.allclose(firsts, range(1, 24))
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0)


async def test_a_server_that_refuses_dimensions_is_asked_without_them() -> None:
    with embedding_server() as server:
        server.knows_dimensions = False
        embedder = ServerEmbedder(server.url, "m", "", dimensions=2)
        assert await embedder.open() == 4
        await embedder.embed(["again"])
        await embedder.close()
    assert ["dimensions" in request for request in server.requests] == [True, False, False]


async def test_a_busy_server_is_asked_again() -> None:
    with embedding_server() as server:
        server.failures = [429, 503]
        embedder = ServerEmbedder(server.url, "m", "", retry_seconds=0.0)
        assert await embedder.open() == 4
        await embedder.close()
    assert len(server.requests) == 3


@pytest.mark.parametrize("failures", [[401], [500, 500, 500]], ids=["refused", "broken for long"])
async def test_a_server_that_does_not_give_vectors_is_named(failures: list[int]) -> None:
    with embedding_server() as server:
        server.failures = failures
        embedder = ServerEmbedder(server.url, "m", "secret", retry_seconds=0.0)
        with pytest.raises(IndexingError, match=r"127\.0\.0\.1/m: the server answered") as caught:
            await embedder.open()
        await embedder.close()
    assert "secret" not in str(caught.value)


async def test_a_server_that_is_not_there_is_named() -> None:
    embedder = ServerEmbedder("http://127.0.0.1:9/v1", "m", "", retry_seconds=0.0)
    with pytest.raises(IndexingError, match="does not answer"):
        await embedder.open()
    await embedder.close()


async def test_empty_texts_and_long_chinese_ones_are_sent_as_servers_take_them() -> None:
    with embedding_server() as server:
        embedder = ServerEmbedder(server.url, "m", "")
        vectors = await embedder.embed(["", "很长" * 10_000, "short"])
        await embedder.close()
    assert vectors.shape == (3, 4)
    assert [len(request["input"]) for request in server.requests] == [1, 1, 1]  # type: ignore[arg-type]
    assert server.requests[0]["input"] == [" "]


def test_each_choice_has_its_embedder() -> None:
    assert make_embedder(EmbedderSettings("none")) is None
    assert isinstance(make_embedder(EmbedderSettings()), OfflineEmbedder)
    dashscope = make_embedder(EmbedderSettings("dashscope", api_key="k"))
    assert dashscope is not None
    assert dashscope.name == f"{DASHSCOPE_URL.split('/')[2]}/{DASHSCOPE_MODEL}"


@given(st.lists(st.integers(0, 30_000).map(lambda size: "x" * size), max_size=40))
def test_batches_keep_order_and_both_limits(texts: list[str]) -> None:
    found = list(batches(texts))
    assert [text for batch in found for text in batch] == texts
    for batch in found:
        assert 1 <= len(batch) <= 10
        assert len(batch) == 1 or sum(map(estimate_tokens, batch)) <= 6_500


def vector(value: float) -> np.ndarray:
    return np.full(3, value, dtype=np.float32)


def test_the_cache_tells_models_and_dimensions_apart(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "cache.sqlite")
    cache.store("a", 3, {"d1": ChunkVectors(vector(1), b"signs"), "d2": ChunkVectors(vector(2))})
    found = cache.find("a", 3, ["d1", "d3"])
    assert {key: (made.vector.tolist(), made.line_signs) for key, made in found.items()} == {
        "d1": ([1, 1, 1], b"signs")
    }
    assert cache.find("b", 3, ["d1"]) == {}
    assert cache.find("a", 4, ["d1"]) == {}
    cache.close()


def test_the_cache_keeps_what_is_used_and_a_few_spare_ones(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "cache.sqlite")
    cache.store("a", 3, {f"d{number}": ChunkVectors(vector(number)) for number in range(10)})
    cache.keep_only(["d0", "d1"], spare=2)
    assert sorted(cache.find("a", 3, [f"d{number}" for number in range(10)])) == ["d0", "d1", "d8", "d9"]
    cache.close()


def test_the_numbers_of_a_model_are_kept_with_its_vectors(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "cache.sqlite")
    numbers = Calibration(0.1, 0.5, 0.3, 1.2, 0.2, 0.9, 0.4, 0.8)
    cache.store_measurement("a", 3, Measurement(Centring(vector(1), vector(2)), numbers))
    found = cache.find_measurement("a", 3)
    assert found is not None
    assert (found.centring.question.tolist(), found.centring.text.tolist()) == ([1, 1, 1], [2, 2, 2])
    assert (found.calibration, cache.find_measurement("a", 4)) == (numbers, None)
    cache.close()


async def test_an_embedder_nobody_has_measured_is_calibrated_by_a_few_texts() -> None:
    embedder = OfflineEmbedder()
    await embedder.open()
    found = (await measure_embedder(embedder.embed)).calibration
    assert 0.0 < found.unrelated < 0.2 < found.related < 0.5
    assert found.low < found.high
    assert found.low_from_cjk < found.high_from_cjk
    assert found.low_to_cjk < found.high_to_cjk
    await embedder.close()


def test_a_damaged_cache_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(b"no database" * 1000)
    cache = EmbeddingCache(path)
    assert cache.find("a", 3, ["d1"]) == {}
    cache.close()

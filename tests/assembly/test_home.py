"""A home that is opened: what kills left behind goes, and its words go to no server that nobody named."""

from __future__ import annotations

import json
import os
from pathlib import Path

from assistant.assembly.home import open_home
from assistant.config.settings import Settings
from tests.fakes.json_server import JsonAnswer, JsonRequest, json_server


async def test_what_a_kill_left_half_written_goes_at_the_next_start(home: Path, tmp_path: Path) -> None:
    settings = Settings.model_validate({"home": home, "embedder": "none", "memory_store_backend": "local"})
    async with open_home(settings):
        pass
    outside = tmp_path / "outside"
    outside.mkdir()
    (home / "trash").rmdir()
    (home / "trash").symlink_to(outside)
    names = [home / ".USER.md.0123456789ab.tmp", home / "sessions" / ".a.json.0123456789ab.tmp"]
    others = [outside / ".a.json.0123456789ab.tmp", home / "files" / "draft.tmp"]
    for path in (*names, *others):
        path.write_text("{", encoding="utf-8")
        os.utime(path, (1_000, 1_000))
    async with open_home(settings):
        assert [path.exists() for path in (*names, *others)] == [False, False, True, True]


async def test_vectors_are_made_by_the_server_that_the_person_named_with_its_key(home: Path) -> None:
    asked: list[JsonRequest] = []

    def answer(request: JsonRequest) -> JsonAnswer:
        asked.append(request)
        texts = json.loads(request.body)["input"]
        return JsonAnswer({"data": [{"index": number, "embedding": [1.0, 0.0]} for number in range(len(texts))]})

    with json_server(answer) as address:
        values = {"embedder": "openai", "base_url": f"{address}/v1", "api_key": "the-key-of-that-server"}
        async with open_home(
            Settings.model_validate({"home": home, "memory_store_backend": "local", **values})
        ) as opened:
            opened.store.notes.add_lines("USER.md", "About", ["Likes tea"], "owner")
            await opened.index.sync()
    assert {request.path for request in asked} == {"/v1/embeddings"}
    assert {request.headers["Authorization"] for request in asked} == {"Bearer the-key-of-that-server"}
    assert "Likes tea" in "".join(request.body.decode() for request in asked)

"""No command brings a key of the program into a conversation, whatever it opened."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from assistant.assembly.known_keys import KeySource
from assistant.messages.blocks import block_text
from assistant.messages.events import ToolFinished, ToolOutput
from assistant.models.scripted import ScriptedModel
from assistant.storage.journal.rows import BlockRow
from assistant.text.known_secrets import KNOWN_SECRET_MARK, KnownSecrets
from tests.fakes.home import call, home_settings, say, scripted_assistant, text

ENV_KEY, MCP_KEY, OWN_KEY = "plain-env-value-4711", "plain-mcp-value-0815", "plain-own-value-2342"


def write_secrets(home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / ".env").write_text(f"WEATHER_API_KEY={ENV_KEY}\nCITY=Plovdiv-on-Maritsa\n", encoding="utf-8")
    server = {"url": "https://example.org", "headers": {"Authorization": f"Bearer {MCP_KEY}"}}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": {"web": {**server, "disabled": True}}}), encoding="utf-8")


def test_keys_are_known_from_everywhere_and_other_values_are_left(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_secrets(home)
    monkeypatch.setenv("GITHUB_TOKEN", "plain-token-value-1")
    monkeypatch.setenv("HTTPS_PROXY", "http://ada:proxy%2Dpass-1@proxy.example:3128")
    monkeypatch.setenv("EDITOR", "some-long-editor")
    password_hash = f"scrypt.16384.8.5.{'0a' * 16}.{'1b' * 32}"
    known = KnownSecrets(KeySource(home_settings(home, embedding_api_key=OWN_KEY, users=f"ada:{password_hash}")).values)
    for value in (ENV_KEY, MCP_KEY, OWN_KEY, "plain-token-value-1", "proxy%2Dpass-1", "proxy-pass-1", password_hash):
        assert known.mask(f"<{value}>") == f"<{KNOWN_SECRET_MARK}>"
    for value in ("Plovdiv-on-Maritsa", "some-long-editor", "https://example.org", "ada"):
        assert known.mask(value) == value


def test_the_password_of_a_store_is_known_wherever_it_stands_in_the_address(home: Path) -> None:
    address = "postgresql://ada:store%2Dpass-1@db.example/memory?sslpassword=store-pass-2"
    source = KeySource(home_settings(home, memory_store_backend="pgvector", memory_store_url=address))
    assert source.values() >= {"store%2Dpass-1", "store-pass-1", "store-pass-2"}
    assert address not in source.values()


def test_a_key_that_comes_into_a_file_is_known_from_then_on(home: Path) -> None:
    home.mkdir(parents=True)
    known = KnownSecrets(KeySource(home_settings(home)).values)
    assert known.mask(ENV_KEY) == ENV_KEY
    write_secrets(home)
    assert known.mask(f"{ENV_KEY} {MCP_KEY}") == f"{KNOWN_SECRET_MARK} {KNOWN_SECRET_MARK}"


@pytest.mark.skipif(os.name == "nt", reason="a folder that is in use cannot be removed")
def test_a_program_that_starts_in_a_folder_that_is_gone_knows_its_keys(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_secrets(home)
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert ENV_KEY in KeySource(home_settings(home)).values()


@pytest.mark.parametrize("command", ["cat ../.e* ../m*.json", "cp ../.e* x.txt; cat x.txt ../m*.json"])
async def test_a_command_that_was_allowed_brings_no_key(home: Path, command: str) -> None:
    write_secrets(home)
    model = ScriptedModel([[call("Bash", json.dumps({"command": command}), "call_bash_0001")], [text("Done.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Look")
        start = conversation.next_number
        conversation.answer("call_bash_0001", True)
        told = [numbered.event async for numbered in conversation.follow_until_idle(start)]
        rows = assistant.store.journal.rows(conversation.session_id)
    said = "".join(event.text if isinstance(event, ToolOutput) else "" for event in told)
    said += "".join(event.output for event in told if isinstance(event, ToolFinished))
    said += "".join(block_text(row.block) for row in rows if isinstance(row, BlockRow))
    assert KNOWN_SECRET_MARK in said
    assert [value for value in (ENV_KEY, MCP_KEY) if value in said] == []

"""The doctor looks at the home, the model and the machine, and says what to do."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from assistant.cli.doctor import Finding, examine, findings_json, findings_text
from assistant.config.settings import Settings
from tests.fakes.home import home_settings
from tests.fakes.players import SequencePlayer
from tests.fakes.provider import StrictProvider
from tests.source_files import ROOT


async def found(settings: Settings) -> dict[str, Finding]:
    return {finding.name: finding for finding in await examine(settings)}


async def test_a_home_with_a_model_is_well(home: Path) -> None:
    with StrictProvider(SequencePlayer()) as provider:
        findings = await found(home_settings(home, provider="openai", base_url=provider.base_url))

    assert findings["home"] == Finding("home", "ok", f"{home}, 0 conversations")
    assert findings["model"].state == "ok"
    assert findings["model"].text.startswith("strict-7b, window 16,000 tokens. ")


async def test_the_offline_assistant_is_a_warning(home: Path) -> None:
    assert (await found(home_settings(home, provider="offline")))["model"].state == "warning"


async def test_a_server_that_does_not_answer_is_an_error(home: Path) -> None:
    with StrictProvider(SequencePlayer()) as provider:
        address = provider.base_url
    assert (await found(home_settings(home, provider="openai", base_url=address)))["model"].state == "error"


async def test_a_named_model_whose_key_is_refused_is_an_error(home: Path) -> None:
    with StrictProvider(SequencePlayer(), api_key="right") as provider:
        settings = home_settings(home, provider="openai", base_url=provider.base_url, model="strict-7b", api_key="no")
        finding = (await found(settings))["model"]
    words = f"{provider.base_url} refused the key. Check the key and that it belongs to this provider."
    assert finding == Finding("model", "error", words)


@pytest.mark.skipif(sys.platform == "win32", reason="links")
async def test_links_in_the_home_that_are_not_followed_are_named(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    (tmp_path / "synced").mkdir()
    (home / "dialog").symlink_to(tmp_path / "synced")
    finding = (await found(home_settings(home, provider="offline")))["home"]
    assert (finding.state, finding.text.startswith(f"{home}: dialog: a link here")) == ("warning", True)


async def test_damaged_lines_of_the_journal_are_counted(home: Path) -> None:
    (home / "dialog").mkdir(parents=True)
    (home / "dialog" / "2026-11-30.jsonl").write_text('{"session_id":"a","kind":\nnot a row\n', encoding="utf-8")
    finding = (await found(home_settings(home, provider="offline")))["home"]

    assert finding == Finding("home", "warning", f"{home}: 2 lines of the journal are damaged and left as is.")


def test_findings_are_lines_for_a_person_and_json_for_a_program() -> None:
    findings = [Finding("home", "ok", "fine"), Finding("model", "error", "No key.")]

    assert findings_text(findings) == "✓ home: fine\n✗ model: No key."
    assert json.loads(findings_json(findings)) == [
        {"name": "home", "state": "ok", "text": "fine"},
        {"name": "model", "state": "error", "text": "No key."},
    ]


async def test_mcp_servers_are_started_and_what_is_wrong_with_one_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.cli.doctor.MCP_SECONDS", 60.0)
    home.mkdir()
    good = {"command": sys.executable, "args": ["-m", "tests.fakes.strange_servers", "plain"], "cwd": str(ROOT)}
    told: list[Finding] = []
    for servers in ({"good": good}, {"good": good, "gone": {"command": "no-such-program"}, "odd": {}}, {}):
        (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
        told += [one for one in await examine(home_settings(home, provider="offline")) if one.name == "MCP servers"]
    assert told == [
        Finding("MCP servers", "ok", "good (1 tool)"),
        Finding(
            "MCP servers",
            "warning",
            "good (1 tool). The MCP server 'odd' in mcp.json cannot be used: it needs either a command or a url. "
            "The MCP server 'gone' cannot be used: its program 'no-such-program' was not found. "
            "The rest goes on without it.",
        ),
    ]

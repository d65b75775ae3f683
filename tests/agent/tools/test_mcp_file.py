"""mcp.json as the owner writes it: every form is read, variables are put in, and what cannot be used is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assistant.agent.tools.mcp_file import ListedServers, ServerSettings, read_servers


def write_file(home: Path, servers: object) -> None:
    """An mcp.json in the home."""
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")


def test_a_home_without_the_file_lists_nothing(tmp_path: Path) -> None:
    assert read_servers(tmp_path / "mcp.json") == ListedServers({}, ())


def test_servers_are_read_in_the_form_other_programs_use(tmp_path: Path) -> None:
    write_file(
        tmp_path,
        {
            "files": {"command": "npx", "args": ["-y", "server"], "env": {"KEY": "1"}, "type": "stdio"},
            "web": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer 1"}},
            "off": {"command": "npx", "disabled": True},
        },
    )
    assert read_servers(tmp_path / "mcp.json") == ListedServers(
        {
            "files": ServerSettings(command="npx", args=["-y", "server"], env={"KEY": "1"}),
            "web": ServerSettings(url="https://example.org/mcp", headers={"Authorization": "Bearer 1"}),
        },
        (),
    )


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"command": "a", "url": "https://example.org"}, "it needs either a command or a url."),
        ({}, "it needs either a command or a url."),
        ({"url": "ftp://example.org"}, "its url must begin with http:// or https://."),
        ({"command": "a", "args": "b"}, "args: it must be a list."),
        ("a", "it must be an object."),
    ],
    ids=["both", "neither", "another scheme", "a text for a list", "no entry"],
)
def test_an_entry_that_cannot_be_is_told_and_the_rest_is_read(tmp_path: Path, entry: object, reason: str) -> None:
    write_file(tmp_path, {"odd": entry, "fine": {"command": "npx"}})
    assert read_servers(tmp_path / "mcp.json") == ListedServers(
        {"fine": ServerSettings(command="npx")}, (f"The MCP server 'odd' in mcp.json cannot be used: {reason}",)
    )


def test_a_name_no_tool_could_have_is_told(tmp_path: Path) -> None:
    write_file(tmp_path, {"my server": {"command": "npx"}})
    listed = read_servers(tmp_path / "mcp.json")
    assert (listed.servers, [problem[:35] for problem in listed.problems]) == (
        {},
        ["The MCP server 'my server' cannot b"],
    )


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"mcpServers": 1}', b"\xff\xfe"])
def test_a_file_that_cannot_be_used_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "mcp.json").write_bytes(content)
    listed = read_servers(tmp_path / "mcp.json")
    assert (listed.servers, [problem.partition(":")[0] for problem in listed.problems]) == (
        {},
        ["mcp.json cannot be used"],
    )


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("${TOKEN}", "t-1"),
        ("${env:TOKEN}", "t-1"),
        ("Bearer ${TOKEN}", "Bearer t-1"),
        ("${TOKEN}/${PLACE}", "t-1/here"),
        ("${MISSING:-otherwise}", "otherwise"),
        ("${MISSING:-}", ""),
        ("${TOKEN:-otherwise}", "t-1"),
        ("$TOKEN", "$TOKEN"),
        ("${}", "${}"),
        (8080, "8080"),
        (True, "true"),
    ],
)
def test_variables_and_figures_are_put_in_where_they_are_meant(tmp_path: Path, given: object, read: str) -> None:
    write_file(tmp_path, {"srv": {"command": "run", "args": [given], "env": {"A": given}}})
    listed = read_servers(tmp_path / "mcp.json", {"TOKEN": "t-1", "PLACE": "here"})
    assert listed == ListedServers({"srv": ServerSettings(command="run", args=[read], env={"A": read})}, ())


def test_a_variable_that_is_not_set_is_named(tmp_path: Path) -> None:
    write_file(tmp_path, {"srv": {"url": "https://example.org/${PLACE}", "headers": {"key": "${TOKEN}"}}})
    assert read_servers(tmp_path / "mcp.json") == ListedServers(
        {}, ("The MCP server 'srv' in mcp.json cannot be used: PLACE, TOKEN is not set.",)
    )


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ('{"servers": {"a": {"command": "run"}}}', ["a"]),
        (
            '{"mcpServers": {"a": {"serverUrl": "http://127.0.0.1/mcp"}, "b": {"httpUrl": "http://127.0.0.1"}}}',
            ["a", "b"],
        ),
        ('{"mcpServers": {"a": {"command": "run", "enabled": false}, "b": {"command": "run"}}}', ["b"]),
        ('\ufeff{"mcpServers": {"a": {"command": "run"}}}', ["a"]),
    ],
    ids=["servers", "other names of the address", "switched off", "byte order mark"],
)
def test_the_forms_of_other_programs_are_read(tmp_path: Path, content: str, names: list[str]) -> None:
    (tmp_path / "mcp.json").write_text(content, encoding="utf-8")
    listed = read_servers(tmp_path / "mcp.json")
    assert (list(listed.servers), listed.problems) == (names, ())


def test_a_file_that_is_no_json_is_named_by_the_place_of_its_fault(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"a": }}', encoding="utf-8")
    assert read_servers(tmp_path / "mcp.json").problems == (
        "mcp.json cannot be used: it is no JSON (line 1 column 22). No MCP server is used.",
    )

"""Looking round, failing, finding nothing: read from command and output, in English and Chinese."""

from __future__ import annotations

import pytest

from assistant.openclaw.entry_contents import CallContent, ResultContent
from assistant.openclaw.tool_calls import call_shape, has_failed, is_empty_handed

SHAPES = {
    "ls": ("exec", "ls -la /tmp", "listing"),
    "pwd": ("bash", "pwd", "listing"),
    "cd-and-ls": ("exec", "cd src && ls", "listing"),
    "which-or-echo": ("exec", 'which chromium 2>/dev/null || echo "No browser found"', "listing"),
    "windows": ("exec", "C:\\Windows\\System32\\where.exe git", "listing"),
    "powershell": ("exec", "Get-ChildItem -Recurse", "listing"),
    "grep": ("exec", "grep -rn 'a | b > c' src", "search"),
    "grep-in-a-pipe": ("exec", "cat log.txt | grep error | head -5", "search"),
    "ps-and-grep": ("exec", "ps aux | grep -i chrome | grep -v grep", "search"),
    "git-grep": ("exec", "git grep TODO", "search"),
    "find": ("exec", "find . -name '*.py'", "search"),
    "with-a-variable": ("exec", "LANG=C sudo ls", "listing"),
    "find-that-deletes": ("exec", "find . -name x -delete", "other"),
    "find-that-runs": ("exec", "find . -exec rm {} +", "other"),
    "ls-into-a-file": ("exec", "ls > files.txt", "other"),
    "ls-and-work": ("exec", "ls && python build.py", "other"),
    "substitution": ("exec", "ls $(make)", "other"),
    "cat-alone": ("exec", "cat a.txt", "other"),
    "git": ("exec", "git commit -m ls", "other"),
    "native-ls": ("ls", "", "listing"),
    "native-grep": ("mcp__files__grep", "", "search"),
    "native-write": ("write", "", "other"),
}


@pytest.mark.parametrize(("name", "command", "shape"), SHAPES.values(), ids=SHAPES.keys())
def test_a_call_is_a_look_a_search_or_work(name: str, command: str, shape: str) -> None:
    assert call_shape(CallContent("1", name, {"command": command} if command else {"path": "x"})) == shape


def test_a_command_is_found_in_every_dialect_of_arguments() -> None:
    assert call_shape(CallContent("1", "Bash", '{"command":"ls"}')) == "listing"
    assert call_shape(CallContent("1", "shell", {"cmd": ["ls", "-l"]})) == "listing"


NOTHING = {
    "empty": "",
    "line-break": "\n\n",
    "exit-1": "(Command exited with code 1)",
    "exit-1-zh": "（命令退出码：1）",
    "no-output": "(no output)",
    "no-matches": "No matches found.",
    "no-matches-for": "No matches found for 'foo' in src/",
    "0-results": "0 results",
    "found-0": "Found 0 matches",
    "no-files": "No files found",
    "json": '{"matches": [], "count": 0}',
    "list": "[]",
    "zh-none-found": "未找到匹配项",
    "zh-no-match": "没有匹配的结果",
    "zh-no-result": "无结果",
    "zh-not-found": "没有找到任何文件。",
    "zh-0": "找到 0 个结果",
    "zh-no-output": "（无输出）",
}
SOMETHING = {
    "hit": "src/a.py:3: def matches():",
    "a-line-about-nothing": "docs/a.md:1: no matches found in the index, see b.md",
    "hits-in-json": '{"matches": [1], "count": 1}',
    "long": "x" * 500,
    "zh-hit": "a.txt: 未找到的文件会被跳过，见说明书第三章第二节的内容和附录中的表格",
}


@pytest.mark.parametrize("text", NOTHING.values(), ids=NOTHING.keys())
def test_a_search_without_a_hit_is_known_in_all_its_shapes(text: str) -> None:
    assert is_empty_handed(ResultContent("1", "exec", (text,)))


@pytest.mark.parametrize("text", SOMETHING.values(), ids=SOMETHING.keys())
def test_a_search_with_a_hit_is_not_taken_for_an_empty_one(text: str) -> None:
    assert not is_empty_handed(ResultContent("1", "exec", (text,)))


FAILED = {
    "flag": ResultContent("1", "exec", ("fine",), is_error=True),
    "exit-code": ResultContent("1", "exec", ("fine",), exit_code=2),
    "note": ResultContent("1", "exec", ("sh: lsof: not found\n\n(Command exited with code 127)",)),
    "status": ResultContent("1", "web", ('{\n  "status": "error",\n  "tool": "web_fetch"\n}',)),
    "traceback": ResultContent("1", "exec", ("Traceback (most recent call last):\n  ...",)),
    "error": ResultContent("1", "exec", ("Error: no such file",)),
    "zh": ResultContent("1", "exec", ("错误：文件不存在",)),
}
WELL = {
    "text": ResultContent("1", "exec", ("done",)),
    "exit-0": ResultContent("1", "exec", ("Error lines: 0\n(Command exited with code 0)",)),
    "json": ResultContent("1", "exec", ('{"status": "ok", "error": null}',)),
    "word-inside": ResultContent("1", "exec", ("checked 3 files, no error",)),
}


@pytest.mark.parametrize("result", FAILED.values(), ids=FAILED.keys())
def test_a_failure_is_known_by_flag_code_status_or_first_word(result: ResultContent) -> None:
    assert has_failed(result)


@pytest.mark.parametrize("result", WELL.values(), ids=WELL.keys())
def test_a_success_is_no_failure(result: ResultContent) -> None:
    assert not has_failed(result)

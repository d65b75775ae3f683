"""Compressing a 100 MB session against parsing the same file and writing it back: CPU seconds, and memory at its peak.

The session is made up, with the same bytes each time. The bare way reads, parses, serialises and writes every line and
waits for the disk; the others are whole runs: guards, diary, plan, copy, verification, replacement, log. Each is
measured in a process of its own, the better of two.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from assistant.openclaw.compression_options import CompressionMode, Options
from assistant.openclaw.file_compression import CompressionJob, compress_file
from benchmarks.figures import Figure, report

MEGABYTES = 100
TIME_GOAL, MEMORY_GOAL = 2.5, 3.0
RUNS = 2
WAYS = ("light", "standard", "aggressive", "standard, no limit", "aggressive, no limit")
_VOCABULARY = (
    "the a of and to in for with on at by it as one two more list path value index table field block page line count"
    " build start parse write store fetch render merge split order total query cache token user session file server"
    " 会话 压缩 日志 结果 文件 数据 任务 完成 状态 测试 接口 模块 配置 页面 目录"
)
WORDS = tuple(_VOCABULARY.split())
# One answer in twenty says something that belongs into the diary.
CUES = ("We decided to use the second layout.", "The root cause was a stale cache.", "我们决定采用第二个方案。")


@dataclass(frozen=True, slots=True)
class Measure:
    """CPU seconds and peak memory of one way to go through the file."""

    cpu_seconds: float
    peak_megabytes: float


def write_session(path: Path, megabytes: int) -> None:
    """A session of turns with tool calls, large outputs, thinking and explanations, like a long-running agent's."""
    chance = random.Random(7)
    written = 0
    with path.open("wb") as file:
        for entry in _entries(chance):
            raw = json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            file.write(raw)
            written += len(raw)
            if written >= megabytes * 1_000_000 and entry.get("is_end"):
                return


def bare(path: Path) -> None:
    """Parse every line and write it again: what any program has to do at the least."""
    target = path.with_suffix(".bare")
    with path.open("rb") as source, target.open("wb") as file:
        for raw in source:
            value = json.loads(raw)
            file.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    target.unlink()


def compressed(path: Path, mode: CompressionMode, max_iterations: int) -> None:
    """The whole run: guards, diary, plan, copy, verification, replacement, log."""
    job = CompressionJob(
        path=path,
        options=Options(mode=mode, max_iterations=max_iterations),
        now=datetime.now(UTC),
        workspace=path.parent / "workspace",
        mask=lambda text: text,
    )
    report = compress_file(job)
    if not report.has_changed:
        raise SystemExit(f"nothing was compressed: {report.verdict.text}")


def main() -> int:
    """Measure every way and report; the exit code is 1 when a goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        write_session(path, MEGABYTES)
        megabytes = path.stat().st_size / 1e6
        base = _measure_apart("bare", path)
        figures = [Figure("bare parse and write", base.cpu_seconds, "CPU s")]
        for way in WAYS:
            found = _measure_apart(way, path)
            times, share = found.cpu_seconds / base.cpu_seconds, found.peak_megabytes / megabytes
            figures.append(Figure(f"{way}: time", round(times, 2), "x bare", at_most=TIME_GOAL))
            figures.append(Figure(f"{way}: speed", round(megabytes / found.cpu_seconds, 1), "MB/s"))
            figures.append(Figure(f"{way}: memory", round(share, 2), "x file", at_most=MEMORY_GOAL))
    return report(figures)


def _measure_apart(way: str, path: Path) -> Measure:
    found: list[Measure] = []
    for _ in range(RUNS):
        copy = path.with_name("copy.jsonl")
        copy.write_bytes(path.read_bytes())
        command = [sys.executable, "-m", "benchmarks.openclaw", "--way", way, str(copy)]
        answer = subprocess.run(command, check=True, capture_output=True, text=True)
        found.append(Measure(**json.loads(answer.stdout)))
    return Measure(min(one.cpu_seconds for one in found), max(one.peak_megabytes for one in found))


def _measure_here(way: str, path: Path) -> Measure:
    started = time.process_time()
    if way == "bare":
        bare(path)
    else:
        mode, _, limit = way.partition(", ")
        compressed(path, _mode(mode), 10**9 if limit else Options().max_iterations)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Measure(time.process_time() - started, peak / 1e3 if sys.platform != "darwin" else peak / 1e6)


def _mode(name: str) -> CompressionMode:
    return "light" if name == "light" else "standard" if name == "standard" else "aggressive"


def _entries(chance: random.Random) -> Iterator[dict[str, object]]:
    yield {"type": "session", "version": 3, "id": "bench", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/work"}
    number = 0

    def entry(message: dict[str, object], is_end: bool = False) -> dict[str, object]:
        nonlocal number
        number += 1
        parent = f"{number - 1:08x}" if number > 1 else None
        end = {"is_end": True} if is_end else {}
        stamp = "2026-01-01T00:00:00.000Z"
        return {
            "type": "message",
            "id": f"{number:08x}",
            "parentId": parent,
            "timestamp": stamp,
            "message": message,
            **end,
        }

    while True:
        yield entry({"role": "user", "content": [{"type": "text", "text": _text(chance, 30)}]})
        for step in range(chance.randint(2, 8)):
            call = {
                "type": "toolCall",
                "id": f"exec:{number}:{step}",
                "name": chance.choice(("exec", "read", "write")),
                "arguments": {"command": _text(chance, 8), "content": _text(chance, chance.choice((5, 20, 600)))},
            }
            thinking = {"type": "thinking", "thinking": _text(chance, 80), "thinkingSignature": "s"}
            usage = {"input": 100, "output": 100, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 200}
            yield entry({"role": "assistant", "content": [thinking, call], "usage": usage, "stopReason": "toolUse"})
            output = {"type": "text", "text": _text(chance, chance.choice((10, 100, 300, 3000)))}
            yield entry(
                {
                    "role": "toolResult",
                    "toolCallId": call["id"],
                    "toolName": call["name"],
                    "content": [output],
                    "isError": chance.random() < 0.1,
                }
            )
        cue = f". {chance.choice(CUES)} " if chance.random() < 0.05 else " "
        answer = [{"type": "text", "text": f"{_text(chance, 100)}{cue}{_text(chance, 100)}"}]
        yield entry({"role": "assistant", "content": answer, "stopReason": "stop"}, is_end=True)


def _text(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--way"]:
        print(json.dumps(asdict(_measure_here(sys.argv[2], Path(sys.argv[3])))))
    else:
        sys.exit(main())

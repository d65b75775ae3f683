"""Strange machines, started for real: environment, locale, proxy, certificates, permissions, disk, clock, streams.

On each machine the command line talks and examines, on most it lists and searches, on many it opens the page. A command
works, or one line says what is wrong and what to do, and there is no traceback. `--table` prints what each did.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import Figure, report
from benchmarks.machines.homes import home_machines
from benchmarks.machines.machine import ROOT, Command, Machine
from benchmarks.machines.networks import network_machines
from benchmarks.machines.outside import Outside
from benchmarks.machines.surroundings import surrounding_machines
from tests.fakes.players import RuleBasedPlayer
from tests.fakes.provider import StrictProvider

_SAID = "My PIN hint is the walrus. 你好 🙂 Grüße"
_ARGUMENTS: dict[Command, list[str]] = {
    "chat": ["chat", "--once", _SAID],
    "doctor": ["doctor"],
    "sessions": ["sessions"],
    "search": ["search", "walrus"],
    "page": ["serve"],
}
_SECONDS = 120.0
_WIDTHS = (48, 9, 6, 0)
_UNREADABLE = re.compile(r"Traceback|\b[A-Za-z]+(?:Error|Exception)\b|\[Errno|\[SSL|site-packages")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command did on a machine; `fault` is empty where all is well."""

    machine: str
    command: Command
    result: str
    fault: str = ""


def main() -> int:
    """Run the machines whose names hold the words given, or all; print, and 1 where one of them is not well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?", default="", help="only machines whose name this pattern finds")
    parser.add_argument("--table", action="store_true", help="print what each command did")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    outcomes: list[Outcome] = []
    for outcome in run_all(options.name):
        outcomes.append(outcome)
        if outcome.fault or options.table:
            mark = "FAULT" if outcome.fault else ""
            cells = (outcome.machine, outcome.command, mark, outcome.fault or outcome.result)
            print("  ".join(cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True)), flush=True)
    return report(
        [
            Figure("strange machines", len({one.machine for one in outcomes}), at_least=None if options.name else 15),
            Figure("commands that neither work nor say why", sum(bool(one.fault) for one in outcomes), at_most=0),
        ]
    )


def run_all(name: str = "") -> Iterator[Outcome]:
    """Every machine, one after the other, each with a copy of the same home."""
    with tempfile.TemporaryDirectory(prefix="palimpsest_strange_") as scratch, _reachable_model() as outside:
        root = Path(scratch)
        root.chmod(0o755)
        seed = root / "seed"
        _run(Machine("seed"), "chat", seed, root, outside)
        every = [*network_machines(outside), *surrounding_machines(), *home_machines()]
        for number, machine in enumerate(every):
            if re.search(name, machine.name):
                folder = root / str(number)
                folder.mkdir(mode=0o777)
                folder.chmod(0o777)
                home = folder / machine.home_name
                shutil.copytree(seed, home)
                machine.prepare(home)
                for command in machine.commands:
                    yield _run(machine, command, home, folder, outside)


@contextlib.contextmanager
def _reachable_model() -> Generator[Outside]:
    with StrictProvider(RuleBasedPlayer(), window_tokens=64_000) as provider, Outside(provider.port) as outside:
        yield outside


def _run(machine: Machine, command: Command, home: Path, folder: Path, outside: Outside) -> Outcome:
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PALIMPSEST_HOME": str(home),
        "PALIMPSEST_EMBEDDER": "none",
        "PALIMPSEST_PROVIDER": "offline" if machine.address == "none" else "openai",
        "PALIMPSEST_API_KEY": "k-test",
        "PALIMPSEST_MODEL": "strict-7b",
        "PALIMPSEST_LANGUAGE": "en",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME_FOLDER": str(home),
        "SCRATCH": str(folder),
        **({} if machine.address == "none" else {"PALIMPSEST_BASE_URL": outside.address(machine.address)}),
    }
    for name, value in machine.variables.items():
        variables.pop(name, None)
        variables |= {} if value is None else {name: value}
    arguments = [sys.executable, "-m", "assistant", *_ARGUMENTS[command]]
    line = ["/bin/sh", "-c", machine.shell, "sh", *arguments]
    if command == "page":
        return _open_page(machine, line, variables)
    try:
        ended = subprocess.run(
            line, cwd=ROOT, env=variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Outcome(machine.name, command, "", f"not done after {_SECONDS:.0f} s")
    out, err = (text.decode("utf-8", "replace").strip() for text in (ended.stdout, ended.stderr))
    fault = _fault(machine, command, ended.returncode, out, err)
    said = err or (_crosses(out) if command == "doctor" else out)
    return Outcome(machine.name, command, f"{ended.returncode}: {_short(said)}", fault)


def _fault(machine: Machine, command: Command, code: int, out: str, err: str) -> str:
    if found := _UNREADABLE.search(f"{out}\n{err}"):
        return f"says {found[0]!r}: {_short(err or out)}"
    if code < 0:
        return f"ended by signal {-code}"
    lines = err.splitlines()
    is_told = (
        code == 0
        or (machine.is_unread and not err)
        or (len(lines) == 1 and lines[0].startswith("palimpsest: "))
        or "✗" in out
        or "\\u2717" in out
    )
    if not is_told:
        return f"exit code {code} with {len(lines)} lines: {_short(err)}"
    if command != "chat":
        return ""
    if machine.told:
        return "" if re.search(machine.told, f"{out} {err}", re.DOTALL) else f"does not say why: {_short(err or out)}"
    return f"does not work: {_short(err)}" if code else ""


def _open_page(machine: Machine, line: Sequence[str], variables: Mapping[str, str]) -> Outcome:
    with subprocess.Popen(
        line, cwd=ROOT, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        timer_seconds = _SECONDS
        try:
            address = _first_line(process, timer_seconds)
            found = re.search(r"http://\S+", address)
            status = _status(found[0]) if found else 0
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                out, err = process.communicate(timeout=30.0)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
    said = (err or out).decode("utf-8", "replace").strip()
    if status == 200 and "Traceback" not in said:
        return Outcome(machine.name, "page", "opens")
    lines = said.splitlines()
    is_told = len(lines) == 1 and lines[0].startswith("palimpsest: ")
    return Outcome(machine.name, "page", _short(said), "" if is_told else f"does not open ({status}): {_short(said)}")


def _first_line(process: subprocess.Popen[bytes], seconds: float) -> str:
    """What the page says when it is there; empty where it ended before."""
    assert process.stdout is not None
    signal.signal(signal.SIGALRM, lambda *_: process.kill())
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return process.stdout.readline().decode("utf-8", "replace")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _status(address: str) -> int:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with contextlib.suppress(OSError), opener.open(address, timeout=60.0) as answer:
        return int(answer.status)
    return 0


def _crosses(text: str) -> str:
    return "; ".join(line for line in text.splitlines() if line.startswith("✗")) or "all is well"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else f"{line[:160]}…"


if __name__ == "__main__":
    sys.exit(main())

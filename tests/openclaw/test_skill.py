"""The skill folder: listed by AgentScope's own loader, and its scripts work from wherever it is copied to."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from agentscope.skill import LocalSkillLoader

from tests.openclaw.sessions import Session, work_session

ROOT = Path(__file__).resolve().parents[2]
SKILL = ROOT / "working_dir_template" / "skills" / "context-compressor"
SCRIPTS = {"compress-session.sh", "compress-session.ps1", "compress-simple.py", "compress-all.py", "diary-logger.py"}


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """The skill in another agent's folder, far from this checkout."""
    shutil.copytree(SKILL, tmp_path / "other-agent" / "skills" / "context-compressor")
    return tmp_path / "other-agent" / "skills" / "context-compressor" / "scripts"


def start(*words: object, home: Path, installed: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a script with palimpsest importable, as an installation has it, or not at all."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}" if installed else os.environ["PATH"],
        "HOME": str(home),
        "USERPROFILE": str(home),
        "PYTHONIOENCODING": "utf-8",
        **({"PYTHONPATH": str(ROOT)} if installed else {}),
    }
    return subprocess.run(
        list(map(str, words)), env=environment, cwd=home, capture_output=True, text=True, encoding="utf-8", check=False
    )


def test_agentscopes_own_loader_lists_it() -> None:
    loader = LocalSkillLoader(str(SKILL.parent), scan_subdir=True)
    skills = {skill.name: skill for skill in asyncio.run(loader.list_skills())}
    description = skills["context-compressor"].description
    assert "压缩上下文" in description and "compress context" in description


def test_its_page_names_every_script_the_modes_and_where_each_thing_goes() -> None:
    text = (SKILL / "SKILL.md").read_text("utf-8")
    assert {path.name for path in (SKILL / "scripts").iterdir() if not path.name.startswith("_")} == SCRIPTS
    for word in (
        *SCRIPTS,
        "light",
        "standard",
        "aggressive",
        "--max-iter 100",
        "/compact",
        "SOUL.md",
        "8,000",
        "heartbeat",
        "long task",
    ):
        assert word in text, word
    assert re.search(r"Not in the middle of a task, not when the session is about to end", text)


def test_the_simple_script_compresses_a_session(scripts: Path, tmp_path: Path) -> None:
    path = work_session(outputs=20).write(tmp_path / "s1.jsonl")
    done = start(sys.executable, scripts / "compress-simple.py", path, "aggressive", "2", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"Compression complete\. \d+ tokens remaining\.", done.stdout.splitlines()[-1])


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_the_shell_script_takes_mode_tail_and_dry_run(scripts: Path, tmp_path: Path) -> None:
    path = work_session(outputs=20).write(tmp_path / "s1.jsonl")
    before = path.read_bytes()
    done = start("sh", scripts / "compress-session.sh", path, "light", "60", "dry-run", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("Dry run, nothing was changed")
    assert path.read_bytes() == before


def test_the_batch_script_needs_no_arguments(scripts: Path, tmp_path: Path) -> None:
    path = work_session(outputs=20).write(tmp_path / ".openclaw" / "agents" / "main" / "sessions" / "s1.jsonl")
    before = path.read_bytes()
    done = start(sys.executable, scripts / "compress-all.py", "--keep-tail", "2", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert path.read_bytes() != before


def test_the_diary_script_has_the_skills_four_commands(scripts: Path, tmp_path: Path) -> None:
    logger = scripts / "diary-logger.py"
    session = Session()
    session.user("We decided to use plan A.")
    session.turns(40)
    path, workspace = session.write(tmp_path / "s.jsonl"), tmp_path / "w"
    lines = [
        ("extract", path, workspace),
        ("log-compression", workspace, "--mode", "standard", "--before", "8000", "--after", "4000", "--removed", "45"),
        ("update-index", workspace, "--note", "手动添加的备注"),
        ("validate", workspace),
    ]
    codes = [start(sys.executable, logger, *words, home=tmp_path).returncode for words in lines]
    assert codes == [0, 0, 0, 0]


def test_the_powershell_script_has_the_skills_parameters() -> None:
    text = (SKILL / "scripts" / "compress-session.ps1").read_text("utf-8")
    assert re.findall(r"\$(\w+)(?: = [^,)]+)?,?\n", text.split("param(")[1].split("\n)")[0] + "\n") == [
        *("SessionFile", "Mode", "KeepTail", "MaxIter", "DryRun")
    ]


@pytest.mark.skipif(shutil.which("pwsh") is None, reason="no PowerShell here")
def test_the_powershell_script_compresses_a_session(scripts: Path, tmp_path: Path) -> None:
    path = work_session(outputs=20).write(tmp_path / "s1.jsonl")
    done = start("pwsh", scripts / "compress-session.ps1", "-SessionFile", path, "-DryRun", home=tmp_path)
    assert done.returncode == 0, done.stderr


def test_without_palimpsest_it_says_what_to_install(scripts: Path, tmp_path: Path) -> None:
    code = f"""import sys
sys.path.insert(0, {str(scripts)!r})
from _palimpsest import hand_over
sys.exit(hand_over(["compress"]))"""
    done = start(sys.executable, "-I", "-S", "-c", code, home=tmp_path, installed=False)
    assert done.returncode == 1
    assert "palimpsest is not installed here" in done.stderr

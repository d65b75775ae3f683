"""The built package is whole: installed elsewhere it has its prompts, makes a home and answers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.source_files import ROOT

PYTHONS = ("3.11", "3.12", "3.13")
# (sys_platform, platform_machine, os_name) of the machines that the pins are for.
MACHINES = (
    ("linux", "x86_64", "posix"),
    ("linux", "aarch64", "posix"),
    ("darwin", "arm64", "posix"),
    ("darwin", "x86_64", "posix"),
    ("win32", "AMD64", "nt"),
)


@dataclass(frozen=True, slots=True)
class Installation:
    """A built wheel and the folder it was installed into, far from the checkout."""

    wheel: Path
    site: Path

    def run(self, *arguments: str, home: Path) -> str:
        """Standard output of Python with the installed package, started in a folder of its own."""
        home.parent.mkdir(exist_ok=True)
        environment = os.environ | {
            "PYTHONPATH": str(self.site),
            "PYTHONIOENCODING": "utf-8",
            "PALIMPSEST_HOME": str(home),
            "PALIMPSEST_PROVIDER": "offline",
        }
        finished = subprocess.run(
            [sys.executable, *arguments],
            cwd=home.parent,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            stdin=subprocess.DEVNULL,
            timeout=100,
            check=False,
        )
        assert finished.returncode == 0, finished.stderr
        return finished.stdout


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """The package built as a source archive, that one built as a wheel, and the wheel installed."""
    folder = tmp_path_factory.mktemp("package")
    _python("-m", "build", "--no-isolation", "--outdir", str(folder / "dist"), str(ROOT))
    wheel = next((folder / "dist").glob("*.whl"))
    _python("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(folder / "site"), str(wheel))
    return Installation(wheel, folder / "site")


def test_the_wheel_carries_the_package_the_prompts_and_the_template_and_nothing_else(
    installation: Installation,
) -> None:
    names = zipfile.ZipFile(installation.wheel).namelist()
    expected = {
        f"{target}/{path.relative_to(ROOT / source).as_posix()}"
        for source, target in (
            ("assistant", "assistant"),
            ("prompts", "assistant/_prompts"),
            ("working_dir_template", "assistant/_working_dir_template"),
        )
        for path in (ROOT / source).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if ".dist-info/" not in name} == expected


def test_the_installed_package_reads_its_own_prompts_and_makes_a_home(
    installation: Installation, tmp_path: Path
) -> None:
    code = """
from pathlib import Path
from assistant.config.prompts import render
from assistant.config.resources import resource_folder
from assistant.config.settings import load_settings
from assistant.storage.workspace import Workspace

values = dict.fromkeys(("agents", "soul", "user", "memory", "bootstrap", "skills"), "")
print(render("system", "zh", **values, today="2026-11-30", home="H", files_folder="F", tools='all').splitlines()[-1])
Workspace(load_settings().home).create("zh")
print(resource_folder("prompts"))
"""
    home = tmp_path / "elsewhere" / "home"
    date, folder = installation.run("-c", code, home=home).splitlines()
    assert date == "今天是 2026-11-30，除非后面的消息另有说明。"
    assert Path(folder) == installation.site / "assistant" / "_prompts"
    template = ROOT / "working_dir_template" / "zh" / "SOUL.md"
    assert (home / "SOUL.md").read_bytes() == template.read_bytes()


def test_the_installed_package_answers_in_the_terminal(installation: Installation, tmp_path: Path) -> None:
    home = tmp_path / "elsewhere" / "home"
    lines = installation.run("-m", "assistant", "chat", "--once", "hello", "--json", home=home).splitlines()
    events = [json.loads(line) for line in lines]
    assert events[0]["type"] == "turn_started"
    assert (events[-1]["type"], events[-1]["reason"]) == ("turn_finished", "completed")
    assert "".join(event["text"] for event in events if event["type"] == "text_delta").strip()
    journal = "".join(path.read_text(encoding="utf-8") for path in (home / "dialog").glob("*.jsonl"))
    assert '"hello"' in journal


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_version_is_pinned_once_for_every_machine_and_names_no_address(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert re.findall(r"://|^-|--index|--hash=", text, re.MULTILINE) == []
    pins = _pins(name)
    assert [str(pin) for pin in pins if [one.operator for one in pin.specifier] != ["=="]] == []
    for environment in _environments():
        chosen = [pin.name for pin in pins if pin.marker is None or pin.marker.evaluate(environment)]
        assert sorted(set(chosen)) == sorted(chosen), environment


def test_the_pins_satisfy_what_the_package_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {"requirements.txt": project["dependencies"], "requirements-dev.txt": []}
    wanted["requirements-dev.txt"] = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    for name, lines in wanted.items():
        for environment in _environments():
            versions = {
                canonicalize_name(pin.name): next(iter(pin.specifier)).version
                for pin in _pins(name)
                if pin.marker is None or pin.marker.evaluate(environment)
            }
            for requirement in map(Requirement, lines):
                if requirement.marker is None or requirement.marker.evaluate(environment):
                    version = versions[canonicalize_name(requirement.name)]
                    assert requirement.specifier.contains(version, prereleases=True), f"{name}: {requirement}"


def test_tests_run_on_the_versions_that_people_get() -> None:
    runtime = {str(pin) for pin in _pins("requirements.txt")}
    assert runtime - {str(pin) for pin in _pins("requirements-dev.txt")} == set()


def test_the_pins_with_hashes_are_the_same_ones_and_name_no_address() -> None:
    text = (ROOT / "requirements-hashed.txt").read_text(encoding="utf-8")
    assert re.findall(r"://|^-|--index", text, re.MULTILINE) == []
    blocks = re.findall(
        r"^([\w.\[\]-]+==.*?)(?: \\\n|\n)((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)*)", text, re.MULTILINE
    )
    assert [pin for pin, hashes in blocks if not hashes] == []
    assert [str(Requirement(pin)) for pin, _ in blocks] == [str(pin) for pin in _pins("requirements.txt")]


def _pins(name: str) -> list[Requirement]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.lstrip().startswith("#")]


def _environments() -> list[dict[str, str]]:
    return [
        {
            "python_version": python,
            "python_full_version": f"{python}.9",
            "sys_platform": platform,
            "platform_machine": machine,
            "os_name": os_name,
            "platform_python_implementation": "CPython",
            "implementation_name": "cpython",
            "extra": "",
        }
        for python in PYTHONS
        for platform, machine, os_name in MACHINES
    ]


def _python(*arguments: str) -> None:
    finished = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr

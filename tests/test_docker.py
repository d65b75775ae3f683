"""The image and its neighbours, held to the program: nothing here builds them, everything they name is run."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import yaml

from assistant.config.accounts import hash_password
from assistant.config.settings import Settings, variable_names
from tests.fakes.free_port import free_port
from tests.source_files import ROOT

# What the slim image of Python and Debian have.
COMMANDS = {"pip", "python", "useradd", "install"}
PATIENCE_SECONDS = 60
# A shell that starts something in the background has it ignore the interrupt, which a container does not.
LISTENING = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.executable, sys.argv[1:])"
)


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile and what follows each, in order."""
    text = (ROOT / "Dockerfile").read_text("utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines)]


def said(name: str) -> list[str]:
    """What follows each instruction of this name."""
    return [rest for one, rest in instructions() if one == name]


def copied() -> list[str]:
    """The files and folders that go into the image."""
    return [source for line in said("COPY") for source in line.split()[:-1]]


def environment() -> dict[str, str]:
    """The variables that the image sets."""
    return dict(pair.split("=", 1) for line in said("ENV") for pair in shlex.split(line))


def health_command() -> list[str]:
    """What asks the page in the container whether it is there."""
    return json.loads(said("HEALTHCHECK")[0].partition("CMD ")[2])


def is_healthy(port: int) -> bool:
    """What that command says of the page at a port."""
    command = [sys.executable, *health_command()[1:]]
    variables = os.environ | {"PALIMPSEST_PORT": str(port), "http_proxy": "http://127.0.0.1:9"}
    return (
        subprocess.run(
            command, env=variables, check=False, timeout=PATIENCE_SECONDS, stderr=subprocess.DEVNULL
        ).returncode
        == 0
    )


def test_the_image_is_pinned_small_and_of_a_python_that_the_program_knows() -> None:
    (base,) = said("FROM")
    found = re.fullmatch(r"python:(3\.\d+)\.\d+-slim-[a-z]+", base)
    assert found is not None
    assert f"Programming Language :: Python :: {found[1]}" in (ROOT / "pyproject.toml").read_text("utf-8")


def test_what_it_copies_is_there_and_nothing_else_reaches_it() -> None:
    rules = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    kept = [rule for rule in rules if rule and not rule.startswith("#")]
    assert [name for name in copied() if not (ROOT / name).exists()] == []
    assert (kept[0], kept[1:-1], kept[-1]) == ("*", [f"!{name}" for name in copied()], "**/__pycache__")


def test_it_runs_commands_that_are_there_and_installs_files_by_their_hash() -> None:
    lines = [shlex.split(command) for line in said("RUN") for command in line.split(" && ")]
    assert {line[0] for line in lines} <= COMMANDS
    (install,) = [line[1:] for line in lines if line[0] == "pip"]
    assert install == ["install", "--require-hashes", "-r", "requirements-hashed.txt"]


def test_the_program_runs_as_a_user_who_may_write_the_home_alone() -> None:
    names = [name for name, _ in instructions()]
    (user,) = said("USER")
    assert user not in ("root", "0")
    assert any(f"useradd --create-home --uid 10001 {user}" in line for line in said("RUN"))
    assert names.index("USER") > max(index for index, name in enumerate(names) if name in ("COPY", "RUN"))
    assert Path(environment()["PALIMPSEST_HOME"]).parent.as_posix() in said("VOLUME")


def test_its_variables_are_settings_that_open_the_page_to_others() -> None:
    ours = {name: value for name, value in environment().items() if name.startswith("PALIMPSEST_")}
    known = {name for field in Settings.model_fields for name in variable_names(field)}
    settings = Settings(host=ours["PALIMPSEST_HOST"], port=int(ours["PALIMPSEST_PORT"]))
    assert ours.keys() <= known
    assert (settings.is_public, said("EXPOSE")) == (True, [ours["PALIMPSEST_PORT"]])


@pytest.mark.skipif(sys.platform == "win32", reason="the image is one of Linux")
def test_what_is_copied_serves_the_page_says_so_and_ends_when_it_is_stopped(tmp_path: Path) -> None:
    port = free_port()
    with running(tmp_path, port) as process:
        assert is_healthy(port)
        assert 'name="password"' in httpx.get(f"http://127.0.0.1:{port}/", trust_env=False).text
        process.send_signal(getattr(signal, said("STOPSIGNAL")[0]))
        assert process.wait(PATIENCE_SECONDS) == 0
    assert not is_healthy(port)


@contextmanager
def running(folder: Path, port: int) -> Generator[subprocess.Popen[str]]:
    """The program of the image, from what is copied into it and nothing else, once it has told its address."""
    for name in copied():
        source, target = ROOT / name, folder / "app" / name
        target.parent.mkdir(exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("PALIMPSEST_", "PYTHONPATH"))
    }
    variables |= environment() | {
        "PALIMPSEST_HOME": str(folder / "data" / "palimpsest"),
        "PALIMPSEST_PORT": str(port),
        "PALIMPSEST_USERS": f"ada:{hash_password('password one')}",
        "PALIMPSEST_PROVIDER": "offline",
        "PALIMPSEST_EMBEDDER": "none",
        "MEMORY_STORE_BACKEND": "local",
    }
    (command,) = said("CMD")
    arguments = [sys.executable, "-c", LISTENING, sys.executable, *json.loads(command)[1:]]
    with subprocess.Popen(
        arguments, cwd=folder / "app", env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert f":{port}/" in process.stdout.readline()
            yield process
        finally:
            process.kill()


def test_the_composition_gives_the_page_a_chroma_server_of_the_version_its_client_has() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
    page, chroma = services["palimpsest"], services["chroma"]
    pinned = re.search(r"^chromadb==(.*)$", (ROOT / "requirements.txt").read_text("utf-8"), re.MULTILINE)
    assert pinned is not None
    assert chroma["image"] == f"chromadb/chroma:{pinned[1]}"
    settings = Settings.model_validate(
        {
            "memory_store_backend": page["environment"]["MEMORY_STORE_BACKEND"],
            "memory_store_url": page["environment"]["MEMORY_STORE_URL"],
        }
    )
    assert (settings.memory_store_backend, page["depends_on"]) == ("chroma-server", ["chroma"])
    assert page["environment"]["MEMORY_STORE_URL"] == "http://chroma:8000"


def test_the_composition_lets_nobody_in_who_has_no_password_and_keeps_the_home() -> None:
    composition = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    page = composition["services"]["palimpsest"]
    # An empty name ends the start of the composition.
    assert page["environment"]["PALIMPSEST_USERS"].startswith("${PALIMPSEST_USERS:?")
    assert page["ports"] == ["127.0.0.1:7860:7860"]
    assert page["volumes"] == [f"home:{said('VOLUME')[0]}"]
    assert set(composition["volumes"]) == {"home", "vectors"}

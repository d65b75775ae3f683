"""Keys leave the environment of the process once they were read; the settings are read with them as before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from assistant.config.variables import names_a_key

STARTED = """
import os, subprocess, sys
from assistant.config.settings import hide_keys, load_settings, variables_of
hide_keys()
settings = load_settings()
print(settings.api_key.get_secret_value(), settings.provider, len(settings.accounts))
print(variables_of(settings.home)["GITHUB_TOKEN"])
print(sorted(name for name in os.environ if "KEY" in name or "TOKEN" in name or "USERS" in name))
block = open("/proc/self/environ", "rb").read() if sys.platform == "linux" else b""
print(b"plain-4711" in block, b"plain-0815" in block)
print(subprocess.run([sys.executable, "-c", "import os; print('plain' in str(os.environ))"],
                     capture_output=True, text=True).stdout.strip())
"""


def test_no_key_is_left_for_a_program_that_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PALIMPSEST_API_KEY", "plain-4711")
    monkeypatch.setenv("PALIMPSEST_PROVIDER", "offline")
    monkeypatch.setenv("PALIMPSEST_USERS", f"ada:scrypt.16384.8.5.{'0' * 32}.{'1' * 64}")
    monkeypatch.setenv("GITHUB_TOKEN", "plain-0815")
    said = subprocess.run([sys.executable, "-c", STARTED], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines() == ["plain-4711 offline 1", "plain-0815", "[]", "False False", "False"]


@pytest.mark.parametrize(
    ("name", "is_key"),
    [
        ("PALIMPSEST_API_KEY", True),
        ("DASHSCOPE_API_KEY", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("GITHUB_TOKEN", True),
        ("DB_PASSWORD", True),
        ("PGPASSWORD", True),
        ("my_secret_2", True),
        ("AZURE_CREDENTIALS", True),
        ("SSH_AUTH_SOCK", False),
        ("XAUTHORITY", False),
        ("GOOGLE_APPLICATION_CREDENTIALS_FILE", False),
        ("TOKENIZERS_PARALLELISM", False),
        ("KEYBOARD_LAYOUT", False),
        ("PATH", False),
        ("AUTH_MODE", False),
    ],
)
def test_a_name_says_whether_a_variable_holds_a_key(name: str, is_key: bool) -> None:
    assert names_a_key(name) is is_key

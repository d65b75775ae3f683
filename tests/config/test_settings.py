"""Settings come from the environment, then the home's `.env`, then the defaults; a bad one is one clear line."""

from __future__ import annotations

import ast
import os
from itertools import pairwise
from pathlib import Path

import pytest
from pydantic import SecretStr

from assistant.config.settings import Settings, default_home, load_settings, set_language, variable_names
from assistant.config.words import speak
from assistant.errors import SettingsError

KEY = "sk-0123456789abcdef"
KEY_FIELDS = [
    name for name, field in Settings.model_fields.items() if field.annotation is SecretStr and name.endswith("_key")
]
KEY_VARIABLES = [variable for field in KEY_FIELDS for variable in variable_names(field)]


def write_env_file(home: Path, *lines: str) -> None:
    """Put a `.env` into the home."""
    home.mkdir(parents=True, exist_ok=True)
    (home / ".env").write_text("\n".join(lines), encoding="utf-8")


def test_without_anything_set_the_defaults_stand(home: Path) -> None:
    settings = load_settings()
    chosen = settings.model_dump(
        include={"home", "provider", "model", "policy", "tools", "max_steps", "language", "port"}
    )
    assert chosen == {
        "home": home,
        "provider": "auto",
        "model": "",
        "policy": "copaw",
        "tools": "ask",
        "max_steps": 200,
        "language": "auto",
        "port": None,
    }


def test_a_home_given_by_flag_wins_over_the_variable(home: Path, tmp_path: Path) -> None:
    assert load_settings().home == home
    assert load_settings(tmp_path / "other").home == tmp_path / "other"


def test_a_relative_home_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings(Path("here")).home == tmp_path / "here"


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_env_file(home, "PALIMPSEST_MODEL=from-file", "PALIMPSEST_MAX_STEPS=7")
    monkeypatch.setenv("PALIMPSEST_MODEL", "from-environment")
    settings = load_settings()
    assert (settings.model, settings.max_steps, settings.recent_n) == ("from-environment", 7, None)


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_MAX_STEPS", "")
    monkeypatch.setenv("PALIMPSEST_BASE_URL", "")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1234/v1")
    settings = load_settings()
    assert (settings.max_steps, settings.base_url) == (200, "http://127.0.0.1:1234/v1")


def test_our_own_name_wins_over_the_foreign_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("PALIMPSEST_BASE_URL", "http://127.0.0.1:2/v1/")
    assert load_settings().base_url == "http://127.0.0.1:2/v1"


@pytest.mark.parametrize(
    ("variable", "value", "line"),
    [
        (
            "PALIMPSEST_PROVIDER",
            "gpt",
            "PALIMPSEST_PROVIDER: 'gpt' is not possible: Input should be 'auto', 'dashscope', 'openai', 'anthropic', "
            "'ollama', 'gemini', 'deepseek', 'moonshot', 'responses', 'local' or 'offline'.",
        ),
        (
            "PALIMPSEST_TIMEZONE",
            "Mars/Base",
            "PALIMPSEST_TIMEZONE: 'Mars/Base' is not possible: not an IANA time zone such as Europe/Berlin.",
        ),
        (
            "MEMORY_STORE_BACKEND",
            "other",
            "MEMORY_STORE_BACKEND: 'other' is not possible: "
            "Input should be 'auto', 'chroma', 'chroma-server', 'elasticsearch', 'local', 'pgvector' or 'qdrant'.",
        ),
        (
            "PALIMPSEST_MEMORY_COMPACT_RATIO",
            "1.5",
            "PALIMPSEST_MEMORY_COMPACT_RATIO: '1.5' is not possible: Input should be less than or equal to 0.95.",
        ),
        (
            "OPENAI_BASE_URL",
            "localhost:11434",
            "OPENAI_BASE_URL: 'localhost:11434' is not possible: not an address such as http://127.0.0.1:11434/v1.",
        ),
        ("PALIMPSEST_MODLE", "x", "PALIMPSEST_MODLE: is not a setting. Did you mean PALIMPSEST_MODEL?"),
        ("PALIMPSEST_QQQQ", "x", "PALIMPSEST_QQQQ: is not a setting. docs/settings.md lists them all."),
    ],
    ids=["choice", "time zone", "foreign name", "number", "address", "misspelt", "unknown"],
)
@pytest.mark.parametrize("is_in_file", [False, True], ids=["environment", "file"])
def test_a_bad_value_is_one_line_that_names_the_variable(
    variable: str, value: str, line: str, is_in_file: bool, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_in_file:
        write_env_file(home, f"{variable}={value}")
    else:
        monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert str(caught.value) == line
    assert caught.value.variable == variable


def test_a_file_that_cannot_be_read_is_named(home: Path) -> None:
    home.mkdir()
    (home / ".env").write_bytes(b"PALIMPSEST_MODEL=\xff\xfe")
    with pytest.raises(SettingsError, match=r"\.env: cannot be read"):
        load_settings()


@pytest.mark.parametrize("variable", KEY_VARIABLES)
def test_a_secret_shows_in_no_text_made_of_the_settings(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, KEY)
    settings = load_settings()
    assert KEY not in f"{settings!r} {settings} {settings.model_dump()}"


def test_a_password_in_an_address_is_refused_and_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_BASE_URL", f"https://me:{KEY}@example.org/v1")
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert KEY not in str(caught.value)


def test_a_store_on_a_server_has_its_address_and_hides_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_STORE_BACKEND", "pgvector")
    monkeypatch.setenv("MEMORY_STORE_URL", f"postgresql://me:{KEY}@127.0.0.1:5432/memory")
    settings = load_settings()
    assert settings.memory_store_url.get_secret_value() == f"postgresql://me:{KEY}@127.0.0.1:5432/memory"
    assert KEY not in f"{settings!r} {settings} {settings.model_dump()}"


@pytest.mark.parametrize(
    ("address", "shown", "reason"),
    [
        ("", "''", "MEMORY_STORE_BACKEND=pgvector needs an address"),
        (f"http://me:{KEY}@127.0.0.1:5432/memory", "(hidden)", "not an address for MEMORY_STORE_BACKEND=pgvector"),
        (
            f"postgresql://127.0.0.1:x/memory?password={KEY}",
            "(hidden)",
            "not an address for MEMORY_STORE_BACKEND=pgvector",
        ),
        (f"postgresql://me:{KEY} @127.0.0.1/memory", "(hidden)", "not an address for MEMORY_STORE_BACKEND=pgvector"),
    ],
    ids=["none", "of another kind", "port", "blank"],
)
def test_an_address_that_does_not_fit_the_store_is_told_with_an_example(
    address: str, shown: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_STORE_BACKEND", "pgvector")
    monkeypatch.setenv("MEMORY_STORE_URL", address)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    example = "such as postgresql://name:password@127.0.0.1:5432/database"
    assert str(caught.value) == f"MEMORY_STORE_URL: {shown} is not possible: {reason}, {example}."


def test_a_space_is_told_by_its_id(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not load_settings().is_space
    monkeypatch.setenv("SPACE_ID", "owner/name")
    assert load_settings().is_space


def test_the_default_home_is_in_the_persons_folder() -> None:
    assert default_home() == Path.home() / ".palimpsest"


def test_every_setting_is_documented_where_it_stands() -> None:
    tree = ast.parse(Path(load_settings.__code__.co_filename).read_text(encoding="utf-8"))
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef)).body
    documented = {
        field.target.id
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr)
    }
    assert documented == set(Settings.model_fields)


def test_the_names_of_a_setting_are_told_the_winner_first() -> None:
    assert variable_names("max_steps") == ("PALIMPSEST_MAX_STEPS",)
    assert variable_names("memory_store_url") == ("MEMORY_STORE_URL",)
    assert variable_names("base_url") == ("PALIMPSEST_BASE_URL", "OPENAI_BASE_URL")


def test_people_who_may_sign_in_are_read_in_order_and_their_hashes_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    password_hash = "scrypt.2.1.1." + "00" * 16 + "." + "11" * 32
    monkeypatch.setenv("PALIMPSEST_USERS", f"ada:{password_hash},ben:{password_hash}")
    settings = load_settings()
    assert [account.name for account in settings.accounts] == ["ada", "ben"]
    assert password_hash not in f"{settings!r} {settings} {settings.model_dump()}"


def test_a_wrong_pair_is_told_without_its_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_USERS", f"ada:{KEY}")
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert str(caught.value) == (
        "PALIMPSEST_USERS: (hidden) is not possible: what stands after 'ada' is no hash; "
        "`python -m assistant hash-password` makes one."
    )


@pytest.mark.parametrize(
    ("host", "users", "expected"),
    [("", "", False), ("0.0.0.0", "", True), ("0.0.0.0", "ada:scrypt.2.1.1." + "00" * 16 + "." + "11" * 32, False)],
    ids=["loopback", "reachable", "signed in"],
)
def test_only_a_page_that_others_reach_without_signing_in_has_guests(host: str, users: str, expected: bool) -> None:
    assert Settings(host=host, users=SecretStr(users)).has_guests is expected


@pytest.mark.parametrize(
    "written",
    [
        "k-abc",
        "k-abc\n",
        "k-abc\r\n",
        "  k-abc\t",
        "\ufeffk-abc",
        "\u200bk-abc\u200b",
        "\u00a0k-abc",
        '"k-abc"',
        "\u201ck-abc\u201d",
        "Bearer k-abc",
        "bearer  k-abc\n",
    ],
)
@pytest.mark.parametrize("variable", KEY_VARIABLES)
def test_what_was_copied_with_a_key_is_left_out(variable: str, written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, written)
    settings = load_settings()
    keys = tuple(getattr(settings, field) for field in KEY_FIELDS)
    assert [key.get_secret_value() for key in keys if key.get_secret_value()] == ["k-abc"]


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("k-ab cd", "character 5 is one that no key has (space)"),
        ("k-ab\ncd", "character 5 is one that no key has (u+000a)"),
        ("k-\u0430bc", "character 3 is one that no key has (cyrillic small letter a)"),
        ("k\u2013abc", "character 2 is one that no key has (en dash)"),
        ("\u4f60\u597d", "character 1 is one that no key has (cjk unified ideograph-4f60)"),
    ],
)
def test_a_character_that_no_key_has_is_named_and_the_key_is_not(
    written: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALIMPSEST_API_KEY", written)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert str(caught.value) == f"PALIMPSEST_API_KEY: (hidden) is not possible: {fault}; copy the key again."


@pytest.mark.parametrize(
    "written",
    [
        "http://127.0.0.1:1234/v1",
        " http://127.0.0.1:1234/v1\n",
        "http://127.0.0.1:1234/v1/",
        "'http://127.0.0.1:1234/v1'",
        "http://127.0.0.1:1234/v1/chat/completions",
        "http://127.0.0.1:1234/v1/chat/completions/",
    ],
)
def test_an_address_is_read_as_it_was_meant(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_BASE_URL", written)
    assert load_settings().base_url == "http://127.0.0.1:1234/v1"


@pytest.mark.parametrize(
    "written",
    ["127.0.0.1:1234", "http://", "http:/127.0.0.1", "http://127.0.0.1 :1234", "http://a b/v1", "http://h:port/v1", "ws://h",
     "http://[::1/v1"],
)  # fmt: skip
def test_what_is_no_address_is_named(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_BASE_URL", written)
    with pytest.raises(SettingsError, match="PALIMPSEST_BASE_URL: .* is not possible: .*http://127.0.0.1:11434/v1"):
        load_settings()


def test_blanks_around_any_value_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_PROVIDER", " openai\n")
    monkeypatch.setenv("PALIMPSEST_MODEL", " qwen3:8b ")
    monkeypatch.setenv("PALIMPSEST_MAX_STEPS", " 7 ")
    settings = load_settings()
    assert (settings.provider, settings.model, settings.max_steps) == ("openai", "qwen3:8b", 7)


@pytest.mark.skipif(os.name == "nt", reason="a user of Windows has a folder")
def test_a_user_without_a_home_folder_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PALIMPSEST_HOME", raising=False)
    monkeypatch.setenv("HOME", "~")
    monkeypatch.setattr("pathlib.Path.home", _no_home)
    with pytest.raises(SettingsError, match="PALIMPSEST_HOME: .*Set it to a folder"):
        load_settings()


def _no_home() -> Path:
    raise RuntimeError("Could not determine home directory.")


def test_a_fault_is_told_in_the_language_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_LANGUAGE", "zh")
    monkeypatch.setenv("PALIMPSEST_TOOLS", "some")
    speak(set_language())
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert str(caught.value) == (
        "PALIMPSEST_TOOLS: 'some' 不可用：应当是其中之一：'ask'、'read-only'、'memory'、'off'。"
    )

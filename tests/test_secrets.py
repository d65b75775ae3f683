"""What of a secret comes where: 40 shapes and a known key, each looked for in eight places of a home."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from assistant.assembly.assistant import open_assistant
from assistant.memory.notes import OWNER_WRITER
from assistant.models.chat_model import connect_model
from assistant.storage.export import export_lines
from tests.fakes.home import home_settings, say
from tests.fakes.players import SequencePlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import Reply
from tests.source_files import ROOT


@dataclass(frozen=True, slots=True)
class Shape:
    """A secret as a person pastes it; `told_as` is how SECURITY.md names one that is not masked."""

    secret: str
    text: str
    told_as: str = ""


def shape(text: str, secret: str, told_as: str = "") -> Shape:
    """`{}` in the text is where the secret is."""
    return Shape(secret, text.replace("{}", secret), told_as)


# Put together here, so that no file of the project holds anything that looks like a key.
SHAPES = [
    shape("aws {}", "AKIA" + "Q7X2M4N8P1R5T9V3"),
    shape("it is {}", "wJalrXUtnFEMI/K7MDEN" + "aB3+Zq9xK2Lm7Pw4Rt6Y"),
    shape("azure AccountKey={}", "a1B2c3D4e5F6a7B8" * 5 + "a1B2c3" + "=="),
    shape("push with {}", "ghp_" + "a1B2" * 9),
    shape("push with {} please", "github_pat_" + "a1B2c3D4e5" * 7),
    shape("lab {}", "glpat-" + "a1B2c3D4e5F6a7B8c9D0"),
    shape("hub {}", "hf_" + "a1B2c3D4e5" * 3 + "a1B2"),
    shape("openai {}", "sk-" + "proj-" + "Ab1_" * 10),
    shape("ds {}", "sk-" + "0123456789abcdef" * 2),
    shape("google {}", "AIza" + "Sy" + "a1B2c3D4e5F" * 3),
    shape("groq {}", "gsk_" + "a1B2c3D4e5" * 5 + "a1"),
    shape("xai {}", "xai-" + "a1B2c3D4e5" * 8),
    shape("aliyun {}", "LTAI" + "a1B2c3D4e5F6a7B8c9D0"),
    shape("tencent {}", "AKID" + "a1B2c3D4" * 4),
    shape("slack {}", "xoxb-" + "123456789012-" + "abcdefGHIJ12"),
    shape("app {}", "xapp-" + "1-A0B1C2D3E4-" + "0123456789-abcdef0123"),
    shape("stripe {}", "sk_live_" + "a1B2c3D4" * 3),
    shape("stripe {}", "rk_test_" + "a1B2c3D4" * 3),
    shape("mail {}", "SG." + "a1B2c3D4e5F6a7B8c9D0e1" + "." + "a1B2c3D4e5F6" * 3 + "a1B2c3D"),
    shape("npm {}", "npm_" + "a1B2c3" * 6),
    shape("bot {}", "123456789" + ":AA" + "a1B2c3D4e5F" * 3),
    shape("jwt {}", "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxIn0" + ".c2lnbmF0dXJl"),
    shape("Authorization: Bearer {}", "abc123" * 5),
    shape("Authorization: Basic {}", "YWRhOmh1bnRlcjIy"),
    shape("Cookie: session={}", "9f8e7d6c5b4a39281706"),
    shape("psql db://bob:{}@host/base", "s3cr3t!x"),
    shape("{}", "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow\nabc=\n-----END RSA " + "PRIVATE KEY-----"),
    shape('password = "{}"', "letmein"),
    shape("DB_PASSWORD={}", "hunter2x"),
    shape("my password is {}, keep it", "hunter22"),
    shape("the password is {}", "correct-horse-battery"),
    shape("我的密码是{}吧", "abc123def"),
    shape("seed phrase: {}", " ".join(["abandon"] * 11) + " about"),
    shape("card {}, please", "4111 1111 1111 1111"),
    shape("transfer to {}", "DE89 3704 0044 0532 0130 00", "bank account"),
    shape("her number is {}", "078-05-1120", "social security"),
    shape("the door opens with {}", "4711", "PIN"),
    shape("it is {} as ever", "sunflower under the gate", "plain words"),
    shape("use {} there", "3f786850e387550fdab836ed7e6dc881de23001b", "nothing but hexadecimal digits"),
    shape("the app shows {}", "JBSWY3DPEHPK3PXP", "one-time codes"),
]
KNOWN_KEY = "plain-known-value-4711"
KEEPS_WHAT_WAS_TYPED = ("journal", "session", "request")
PLACES = ("title", "journal", "session", "memory", "log", "index", "export", "request")


async def test_a_secret_comes_only_where_it_is_said_to(home: Path) -> None:
    home.mkdir(parents=True)
    (home / ".env").write_text(f"WEATHER_API_KEY={KNOWN_KEY}\n", encoding="utf-8")
    shapes = [*SHAPES, shape("the weather needs {}", KNOWN_KEY)]
    found: dict[str, set[str]] = {}
    with StrictProvider(SequencePlayer(*[Reply("Noted.") for _ in shapes]), window_tokens=64_000) as provider:
        settings = home_settings(home, provider="openai", base_url=provider.base_url, model="strict-7b")
        async with open_assistant(settings, connect=connect_model) as assistant:
            for one in shapes:
                await say(assistant, assistant.conversations.create(), one.text)
                assistant.notes.add_lines("MEMORY.md", "## Facts", one.text.split("\n"), OWNER_WRITER)
            store = assistant.store
            ids = [summary.session_id for summary in store.sessions.list()]
            titles = " ".join(f"{summary.title}\n" for summary in store.sessions.list())
            exported = "\n".join(
                export_lines(store.sessions, store.journal, store.artifacts, ids, store.clock.now(), store.known)
            )
            await assistant.index.search("anything", patience_seconds=30.0)
        texts = {
            "title": titles,
            "journal": read_all(home / "dialog"),
            "session": read_all(home / "sessions"),
            "memory": (home / "MEMORY.md").read_text(encoding="utf-8"),
            "log": (home / "memory_log.jsonl").read_text(encoding="utf-8"),
            "index": read_all(home / "index"),
            "export": exported,
            "request": json.dumps([entry.body["messages"] for entry in provider.log], ensure_ascii=False),
        }
    for one in shapes:
        written = json.dumps(one.secret, ensure_ascii=False)[1:-1]
        found[one.secret] = {name for name, text in texts.items() if one.secret in text or written in text}
    assert len(SHAPES) == 40
    expected = {one.secret: set(PLACES if one.told_as else KEEPS_WHAT_WAS_TYPED) for one in SHAPES}
    assert found == {**expected, KNOWN_KEY: set()}


def test_what_is_not_masked_is_named() -> None:
    said = " ".join((ROOT / "SECURITY.md").read_text(encoding="utf-8").split())
    assert [one.told_as for one in SHAPES if one.told_as and one.told_as not in said] == []


def read_all(folder: Path) -> str:
    """Every file under the folder, as one text."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in files)

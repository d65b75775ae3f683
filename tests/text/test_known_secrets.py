"""A known key is taken out of any text by its value; one that is in texts by chance is left."""

from __future__ import annotations

import json

import pytest

from assistant.text.known_secrets import KNOWN_SECRET_MARK, KnownSecrets, is_secret_value
from assistant.text.redaction import MaskedText


def known(*values: str) -> KnownSecrets:
    frozen = frozenset(values)
    return KnownSecrets(lambda: frozen)


def test_every_value_is_replaced_and_the_longest_first() -> None:
    masked = known("correct-horse", "correct-horse-battery", "short").mask(
        "a correct-horse-battery, a correct-horse, a short"
    )
    assert masked == f"a {KNOWN_SECRET_MARK}, a {KNOWN_SECRET_MARK}, a short"


@pytest.mark.parametrize("value", ['pass"word\\1', "schlüssel-4711", "plain-value-0815"])
def test_a_value_is_found_as_json_writes_it(value: str) -> None:
    inner = json.dumps({"key": value})
    written = json.dumps({"arguments": inner}, ensure_ascii=False)
    masked = known(value).mask(written)
    assert json.loads(json.loads(masked)["arguments"]) == {"key": KNOWN_SECRET_MARK}
    assert known(value).mask_bytes(written.encode()) == masked.encode()


def test_values_that_change_are_known_from_the_next_text_on() -> None:
    values = [frozenset({"first-key-4711"}), frozenset({"second-key-0815"})]
    secrets = KnownSecrets(lambda: values[0])
    assert secrets.mask("first-key-4711 second-key-0815") == f"{KNOWN_SECRET_MARK} second-key-0815"
    del values[0]
    assert secrets.mask("first-key-4711 second-key-0815") == f"first-key-4711 {KNOWN_SECRET_MARK}"


def test_shapes_are_masked_beside_known_values_and_the_kinds_are_told() -> None:
    masked = known("plain-value-0815").mask_all("plain-value-0815, my password is hunter22")
    text = f"{KNOWN_SECRET_MARK}, my password is ⟦masked: secret⟧"
    assert masked == MaskedText(text, ("known key", "secret"))
    assert known("plain-value-0815").mask_all("nothing") == MaskedText("nothing", ())


@pytest.mark.parametrize(
    ("value", "is_secret"),
    [
        ("a1B2c3D4", True),
        ("correct-horse", True),
        ("swordfishswordfish", True),
        ("short12", False),
        ("disabled", False),
        ("READONLY", False),
        ("lm-studio", False),
        ("not-needed", False),
        ("sk-no-key-required", False),
        ("/run/user/1000/agent.sock", False),
        ("C:\\Users\\ada\\key.pem", False),
        ("https://example.org/a/path", False),
        ("********", False),
        ("00000000", False),
    ],
)
def test_what_stands_in_ordinary_texts_is_no_secret(value: str, is_secret: bool) -> None:
    assert is_secret_value(value) is is_secret

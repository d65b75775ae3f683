"""A known key is taken out of any text by its value; a short one is left, for it would stand there by chance."""

from __future__ import annotations

from assistant.text.known_secrets import KNOWN_SECRET_MARK, KnownSecrets


def test_every_value_is_replaced_and_the_longest_first() -> None:
    known = KnownSecrets(["correct-horse", "correct-horse-battery", "short"])
    masked = known.mask("a correct-horse-battery, a correct-horse, a short")
    assert masked == f"a {KNOWN_SECRET_MARK}, a {KNOWN_SECRET_MARK}, a short"


def test_a_value_is_found_as_json_writes_it() -> None:
    assert KnownSecrets(['pass"word\\1']).mask('{"key": "pass\\"word\\\\1"}') == f'{{"key": "{KNOWN_SECRET_MARK}"}}'

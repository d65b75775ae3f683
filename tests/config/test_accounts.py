"""Who may sign in: hashes and names."""

from __future__ import annotations

import pytest

from assistant.config.accounts import (
    Account,
    hash_password,
    is_password,
    read_accounts,
)

# The form of a hash; it fits no password.
ONE = "scrypt.2.1.1.000102030405060708090a0b0c0d0e0f.3b2d7cc09e06b5f7bb3c7ef15ab2ec7fe9b1a6ad0cbeabdd1e5b0ee7a0a5a11e"


def test_a_hash_fits_its_password_alone() -> None:
    made = hash_password("correct horse")
    assert (is_password("correct horse", made), is_password("Correct horse", made)) == (True, False)


def test_the_same_password_never_has_the_same_hash() -> None:
    assert hash_password("correct horse") != hash_password("correct horse")


def test_a_hash_has_nothing_a_shell_or_a_settings_file_would_read_into() -> None:
    assert set(hash_password("correct horse")) <= set("scrypt.0123456789abcdef")


def test_a_password_typed_in_another_form_of_the_same_letters_fits() -> None:
    assert is_password("cafe\u0301 123", hash_password("caf\u00e9 123"))


def test_a_short_password_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 8 characters"):
        hash_password("short")


def test_pairs_are_read_in_order_the_owner_first() -> None:
    assert read_accounts(f"ada:{ONE}, 小明:{ONE},") == (Account("ada", ONE), Account("小明", ONE))


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ("ada", "no colon"),
        (f":{ONE}", "cannot be a name"),
        (f"../up:{ONE}", "cannot be a name"),
        ("ada:secret", "no hash; `python -m assistant hash-password` makes one"),
        ("ada:scrypt.3.1.1." + "00" * 16 + "." + "00" * 32, "no hash"),
        ("ada:scrypt.1048576.8.1." + "00" * 16 + "." + "00" * 32, "no hash"),
        (f"ada:{ONE},ADA:{ONE}", "twice"),
    ],
    ids=["no colon", "no name", "a path", "a bare password", "odd cost", "huge cost", "capitals"],
)
def test_a_pair_that_cannot_be_is_refused_with_the_reason(pairs: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as raised:
        read_accounts(pairs)
    assert "0001020304" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "folder"),
    [("Ada", "ada"), ("con", "1143da2bc54c495c"), ("小明", "df3ea25a4369305a"), ("a.b", "2e7336dc8eba87ef")],
)
def test_each_person_has_a_folder_every_disk_can_hold(name: str, folder: str) -> None:
    assert Account(name, ONE).folder == folder

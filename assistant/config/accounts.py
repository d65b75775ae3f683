"""Who may sign in: names with hashes of passwords, as PALIMPSEST_USERS holds them."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import unicodedata
from dataclasses import dataclass

from assistant.config.words import say

MIN_PASSWORD_CHARS = 8
# One of the settings OWASP's password storage sheet gives for scrypt: 16 MiB and some 50 ms a try.
_COST, _BLOCK_SIZE, _PARALLELISM = 2**14, 8, 5
# What a hash may ask of the machine: a mistyped cost would stop every sign-in.
_MAX_COST, _MAX_FACTOR = 2**18, 16
_HASH = re.compile(r"scrypt\.(\d{1,7})\.(\d{1,2})\.(\d{1,2})\.([0-9a-f]{16,128})\.([0-9a-f]{32,128})\Z")
_NAME = re.compile(r"\w[\w .@+-]{0,63}\Z")
_FOLDER = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}\Z")
# Windows keeps these names for itself.
_RESERVED = re.compile(r"(?:con|nul|aux|prn|com\d|lpt\d)\Z")


@dataclass(frozen=True, slots=True)
class Account:
    """One person who may sign in; the first of all is the owner."""

    name: str
    password_hash: str

    @property
    def folder(self) -> str:
        """The name of this person's folder under `users/`: safe on every disk, and the same at every start."""
        plain = self.name.casefold()
        if _FOLDER.match(plain) and not _RESERVED.match(plain):
            return plain
        return hashlib.sha256(plain.encode()).hexdigest()[:16]


def read_accounts(pairs: str) -> tuple[Account, ...]:
    """The accounts of `name:hash` pairs with commas between them, the owner first.

    Raises `ValueError` that says what is wrong with which name; a hash is never in the text.
    """
    accounts: list[Account] = []
    for pair in filter(None, (part.strip() for part in pairs.split(","))):
        name, colon, password_hash = (part.strip() for part in pair.rpartition(":"))
        name = unicodedata.normalize("NFC", name)
        if not colon:
            raise ValueError(say("settings", "pair_without_colon"))
        if not _NAME.match(name):
            raise ValueError(say("settings", "no_account_name", name=name))
        if not _is_possible(password_hash):
            raise ValueError(say("settings", "no_account_hash", name=name))
        accounts.append(Account(name, password_hash))
    folders = [account.folder for account in accounts]
    if twice := next((account for account in accounts if folders.count(account.folder) > 1), None):
        raise ValueError(say("settings", "account_twice", name=twice.name))
    return tuple(accounts)


def hash_password(password: str) -> str:
    """A salted hash of a password, as it follows a name. Raises `ValueError` for one that is too short."""
    if len(password) < MIN_PASSWORD_CHARS:
        raise ValueError(say("settings", "password_too_short", chars=MIN_PASSWORD_CHARS))
    salt = secrets.token_bytes(16)
    key = _derive(password, salt, _COST, _BLOCK_SIZE, _PARALLELISM, 32)
    return f"scrypt.{_COST}.{_BLOCK_SIZE}.{_PARALLELISM}.{salt.hex()}.{key.hex()}"


def is_password(password: str, password_hash: str) -> bool:
    """Whether a hash was made of this password."""
    match = _HASH.match(password_hash)
    if match is None:
        return False
    cost, block_size, parallelism = (int(part) for part in match.group(1, 2, 3))
    salt, key = (bytes.fromhex(part) for part in match.group(4, 5))
    return hmac.compare_digest(_derive(password, salt, cost, block_size, parallelism, len(key)), key)


def _is_possible(password_hash: str) -> bool:
    match = _HASH.match(password_hash)
    if match is None or len(match[4]) % 2 or len(match[5]) % 2:
        return False
    cost, block_size, parallelism = (int(part) for part in match.group(1, 2, 3))
    is_power = cost > 1 and not cost & (cost - 1)
    return is_power and cost <= _MAX_COST and 1 <= block_size <= _MAX_FACTOR and 1 <= parallelism <= _MAX_FACTOR


def _derive(password: str, salt: bytes, cost: int, block_size: int, parallelism: int, length: int) -> bytes:
    # The same letters may be typed in two forms.
    typed = unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
    memory_bytes = 256 * cost * block_size + 256 * block_size * parallelism
    return hashlib.scrypt(typed, salt=salt, n=cost, r=block_size, p=parallelism, maxmem=memory_bytes, dklen=length)

"""Attempts to sign in: few guesses for an attacker, and no flood of them keeps a person out."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from assistant.config.accounts import Account, is_password

MAX_FAILURES = 5
"""Wrong passwords in a row for one name from one place, after which that place waits."""
WAIT_SECONDS = 60.0
"""How long it waits after the newest of them."""
ANSWER_SECONDS = 1.0
"""When a wrong attempt is answered: always then, so that the time tells nothing of the name."""
_MAX_PLACES = 10_000


@dataclass(frozen=True, slots=True)
class Attempt:
    """A name and a password, the address they come from, and what that browser was given at an earlier sign-in."""

    name: str
    password: str
    address: str
    device: str = ""


@dataclass(slots=True)
class _Failures:
    count: int
    until_seconds: float


class Attempts:
    """Counts wrong passwords by name and place; a place is a browser that was signed in before, else an address.

    So nobody is kept out by what others guess elsewhere. Hashes are made in three lanes of one at a time: for known
    browsers, for places that made no mistake yet, and for all others. An attempt that gets no turn in time fails.
    """

    def __init__(self, accounts: Sequence[Account], now_seconds: Callable[[], float], answer_seconds: float) -> None:
        self._accounts = {account.name: account for account in accounts}
        self._now_seconds = now_seconds
        self._answer_seconds = answer_seconds
        self._failures: OrderedDict[tuple[str, str], _Failures] = OrderedDict()
        self._being_checked: set[tuple[str, str]] = set()
        self._lanes = {name: asyncio.Lock() for name in ("known", "fresh", "failed")}
        self._hashing = ThreadPoolExecutor(len(self._lanes), thread_name_prefix="sign-in")

    async def check(self, attempt: Attempt) -> Account | None:
        """The account of who may come in; None a while later for whoever may not, whatever the reason."""
        answer_at = asyncio.get_running_loop().time() + self._answer_seconds
        # A name that may be written in two forms has one count of wrong passwords.
        account = self._accounts.get(unicodedata.normalize("NFC", attempt.name))
        if account and await self._is_right(account, attempt, answer_at):
            return account
        await asyncio.sleep(answer_at - asyncio.get_running_loop().time())
        return None

    async def _is_right(self, account: Account, attempt: Attempt, answer_at: float) -> bool:
        is_known = is_device(account, attempt.device)
        place = (account.name, attempt.device if is_known else attempt.address)
        failures = self._failures_of(place)
        # One guess at a time: more of them at once would gain on the count.
        if failures >= MAX_FAILURES or place in self._being_checked:
            return False
        self._being_checked.add(place)
        try:
            is_right = await self._hashed(
                "known" if is_known else "failed" if failures else "fresh", account, attempt, answer_at
            )
        finally:
            self._being_checked.discard(place)
        if is_right is False:
            self._count(place, failures)
        elif is_right:
            self._failures.pop(place, None)
        return bool(is_right)

    async def _hashed(self, lane: str, account: Account, attempt: Attempt, answer_at: float) -> bool | None:
        """Whether the password is the account's; None where the lane was busy for too long."""
        try:
            async with asyncio.timeout_at(answer_at):
                await self._lanes[lane].acquire()
        except TimeoutError:
            return None
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._hashing, is_password, attempt.password, account.password_hash)
        finally:
            self._lanes[lane].release()

    def _failures_of(self, place: tuple[str, str]) -> int:
        failures = self._failures.get(place)
        return failures.count if failures and self._now_seconds() < failures.until_seconds else 0

    def _count(self, place: tuple[str, str], failures: int) -> None:
        self._failures[place] = _Failures(failures + 1, self._now_seconds() + WAIT_SECONDS)
        self._failures.move_to_end(place)
        while len(self._failures) > _MAX_PLACES:
            self._failures.popitem(last=False)


def new_device(account: Account) -> str:
    """What a browser is given to be known again at the next sign-in; a new password makes it worthless."""
    mark = secrets.token_urlsafe(12)
    return f"{mark}.{_device_signature(account, mark)}"


def is_device(account: Account, device: str) -> bool:
    """Whether a browser was given this for the account."""
    mark, _, signature = device.partition(".")
    return hmac.compare_digest(signature.encode(), _device_signature(account, mark).encode())


def _device_signature(account: Account, mark: str) -> str:
    key = account.password_hash.encode()
    return hmac.new(key, f"{account.name} {mark}".encode(), hashlib.sha256).hexdigest()

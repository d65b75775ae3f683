"""Guesses are few, a flood of them keeps nobody out, and the time of an answer tells nothing."""

from __future__ import annotations

import asyncio
import time

import pytest

from assistant.config.accounts import Account, hash_password
from assistant.ui.server.attempts import MAX_FAILURES, WAIT_SECONDS, Attempt, Attempts, is_device, new_device

# A hash of "password one" that costs nothing to try: what follows a try is the same at every cost.
CHEAP = "scrypt.2.1.1.000102030405060708090a0b0c0d0e0f.05c85de15edc801bc493693ee7d49cba32d269cc94a967ce83a356ddc245f1b8"
ADA = Account("ada", CHEAP)
HERE, ELSEWHERE = "192.0.2.1", "198.51.100.1"
ANSWER_SECONDS = 0.1


class TestAttempts:
    """With a clock that is set by hand."""

    def setup_method(self) -> None:
        self.now = 1_000.0
        self.attempts = Attempts([ADA], lambda: self.now, ANSWER_SECONDS)

    async def enters(self, password: str = "password one", address: str = HERE, device: str = "") -> bool:
        """Whether somebody comes in as ada."""
        return await self.attempts.check(Attempt("ada", password, address, device)) is ADA

    async def fail(self, address: str = HERE, device: str = "") -> None:
        """Guess wrong as often as one may."""
        for number in range(MAX_FAILURES):
            assert not await self.enters(f"guess {number}", address, device)

    async def test_only_the_right_password_of_a_name_comes_in(self) -> None:
        tries = [("ada", "password one"), ("ada", "password two"), ("ben", "password one"), ("ada", "")]
        answers = [await self.attempts.check(Attempt(*one, HERE)) for one in tries]
        assert answers == [ADA, None, None, None]

    async def test_a_name_waits_after_too_many_wrong_passwords_where_they_came_from(self) -> None:
        await self.fail()
        during = await self.enters()
        self.now += WAIT_SECONDS + 1
        assert (during, await self.enters()) == (False, True)

    async def test_wrong_passwords_from_elsewhere_keep_nobody_out(self) -> None:
        await self.fail(ELSEWHERE)
        assert (await self.enters(), await self.enters(address=ELSEWHERE)) == (True, False)

    async def test_a_known_browser_is_not_kept_out_by_what_others_guess_at_its_own_address(self) -> None:
        await self.fail()
        assert await self.enters(device=new_device(ADA))

    async def test_a_known_browser_has_no_more_guesses_than_others(self) -> None:
        device = new_device(ADA)
        await self.fail(device=device)
        assert not await self.enters(device=device)

    async def test_a_browser_that_was_never_given_a_name_counts_as_its_address(self) -> None:
        await self.fail(device="forged.0")
        assert not await self.enters(device="other.1")

    async def test_a_right_password_forgives_the_wrong_ones(self) -> None:
        for _ in range(2):
            for number in range(MAX_FAILURES - 1):
                assert not await self.enters(f"guess {number}")
            assert await self.enters()

    async def test_many_guesses_at_once_count_no_less(self) -> None:
        guesses = [self.enters(f"guess {number}") for number in range(50)]
        assert not any(await asyncio.gather(*guesses))
        began = time.monotonic()
        assert await self.enters()
        assert time.monotonic() - began < ANSWER_SECONDS * 100

    async def test_a_name_in_two_forms_of_the_same_letters_has_one_count(self) -> None:
        attempts = Attempts([Account("jos\u00e9", CHEAP)], lambda: self.now, ANSWER_SECONDS)
        for number in range(MAX_FAILURES):
            await attempts.check(Attempt(("jos\u00e9", "jose\u0301")[number % 2], "guess", HERE))
        assert await attempts.check(Attempt("jos\u00e9", "password one", HERE)) is None

    @pytest.mark.parametrize("name", ["ada", "eve"], ids=["known", "unknown"])
    async def test_a_wrong_attempt_is_answered_after_the_same_time_whatever_is_wrong(self, name: str) -> None:
        began = time.monotonic()
        await self.attempts.check(Attempt(name, "guess", HERE))
        assert time.monotonic() - began >= ANSWER_SECONDS * 0.9


async def test_a_flood_of_sign_ins_keeps_no_person_out() -> None:
    account = Account("ada", hash_password("password one"))
    # So long that no guess is answered while the two persons come in.
    attempts = Attempts([account], time.monotonic, 600.0)
    names = [f"name {number}" for number in range(300)] + ["ada"] * 300
    flood = [
        asyncio.create_task(attempts.check(Attempt(name, "guess", ELSEWHERE if name == "ada" else HERE)))
        for name in names
    ]
    await asyncio.sleep(0)
    answers = [
        await attempts.check(Attempt("ada", "password one", HERE)),
        await attempts.check(Attempt("ada", "password one", ELSEWHERE, new_device(account))),
    ]
    assert (answers, any(task.done() for task in flood)) == ([account, account], False)
    for task in flood:
        task.cancel()
    assert all(isinstance(end, asyncio.CancelledError) for end in await asyncio.gather(*flood, return_exceptions=True))


def test_a_browser_is_known_to_the_account_and_the_password_it_was_known_with() -> None:
    other, changed = Account("ben", CHEAP), Account("ada", hash_password("password two"))
    device = new_device(ADA)
    assert [is_device(one, device) for one in (ADA, other, changed)] == [True, False, False]
    assert not any(is_device(ADA, forged) for forged in ("", ".", "a.b", device[:-1], device + "é"))

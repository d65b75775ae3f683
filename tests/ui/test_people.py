"""Each person gets the assistant that is theirs: their own home, and no more than they may do."""

from __future__ import annotations

from pathlib import Path

from assistant.ui.people import open_guest, open_member
from tests.fakes.home import home_settings, say

PASSWORD_HASH = "scrypt.2.1.1." + "00" * 16 + "." + "11" * 32


async def test_a_guest_has_a_home_that_is_thrown_away_and_nothing_of_the_owner(home: Path) -> None:
    async with open_guest(home_settings(home, host="0.0.0.0", provider="auto", api_key="key", tools="ask")) as guest:
        root = guest.workspace.root
        await say(guest, guest.conversations.create(), "Hello")
        await guest.reconnect_model()
        kept = (guest.model.is_language_model, guest.has_file_tools, guest.workspace.root == root)

    assert (kept, root.exists(), home.exists()) == ((False, False, True), False, False)


async def test_a_member_has_a_home_of_their_own_and_no_tools_also_with_the_settings_read_anew(home: Path) -> None:
    pairs = ",".join(f"{name}:{PASSWORD_HASH}" for name in ("ada", "Ben"))
    settings = home_settings(home, users=pairs, tools="ask")
    home.mkdir()
    (home / ".env").write_text(f"PALIMPSEST_USERS={pairs}\nPALIMPSEST_PROVIDER=offline\n")
    async with open_member(settings, settings.accounts[1]) as member:
        (member.workspace.root / ".env").write_text("PALIMPSEST_TOOLS=ask\n")
        before = (member.workspace.root, member.has_file_tools)
        await member.reconnect_model()
        after = (member.settings.home, member.has_file_tools)

    assert before == after == (home / "users" / "ben", False)

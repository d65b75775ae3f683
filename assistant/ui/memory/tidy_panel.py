"""The card of *Tidy*: each line that could go as a diff with its reason, accepted by ticks; nothing goes by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from markupsafe import Markup

from assistant.config.words import say
from assistant.ui.cards import card

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.memory.needless_lines import TidyProposal
    from assistant.memory.tidy import Tidied, Tidying

MAX_PROPOSALS = 100


def tidying_html(name: str, tidying: Tidying, problem: str = "") -> Markup:
    """What could go from a file; the notice says why there is nothing, and whether a model was asked."""
    return card(
        "tidy",
        name=name,
        proposals=tidying.proposals[:MAX_PROPOSALS],
        hidden=max(0, len(tidying.proposals) - MAX_PROPOSALS),
        notice=tidying.notice or say("page", "tidy_has_room", name=name),
        mark=mark_of(tidying),
        problem=problem,
    )


def tidied_text(name: str, tidied: Tidied) -> str:
    """What went, and what did not."""
    lines = say("page", "one_line_is" if tidied.removed == 1 else "lines_are", count=tidied.removed)
    left = ""
    if tidied.left:
        stayed = say("page", "one_line_stays" if tidied.left == 1 else "lines_stay", count=tidied.left)
        left = say("page", "tidy_stayed", stayed=stayed)
    return say("page", "tidy_gone", lines=lines, name=name, left=left)


def ticked_proposals(tidying: Tidying, ticks: Iterable[str]) -> list[TidyProposal]:
    """The proposals that were ticked of those that are shown."""
    chosen = frozenset(ticks)
    return [proposal for number, proposal in enumerate(tidying.proposals[:MAX_PROPOSALS]) if str(number) in chosen]


def mark_of(tidying: Tidying) -> str:
    """Names what is shown, so that ticks on a card that is no longer there remove nothing else."""
    shown = "\n".join(f"{proposal.name} {proposal.line} {proposal.text}" for proposal in tidying.proposals)
    return hashlib.sha256(shown.encode("utf-8", "replace")).hexdigest()[:16]

"""What is in the conversation: nodes under keys, oldest first, each made of blocks of HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["person", "own"]


@dataclass(frozen=True, slots=True)
class Node:
    """One place of the conversation: who speaks in it, its blocks, and whether more of it comes."""

    key: str
    role: Role
    blocks: tuple[str, ...]
    is_growing: bool = False


def card_node(key: str, html: str, role: Role = "own") -> Node:
    """A node that is one card of ours."""
    return Node(key, role, (html,))

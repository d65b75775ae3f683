"""The workspace's texts with their caps, in one system prompt (pure but for the templates)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assistant.config.prompts import render
from assistant.config.words import Language
from assistant.messages.events import Part
from assistant.storage.workspace import FILE_MAX_CHARS, MEMORY_MAX_CHARS

ToolScope = Literal["all", "memory", "none"]
"""What the model can call: everything, its own memory alone, or nothing."""
HEAD_SHARE = 0.7
TAIL_SHARE = 0.2
_PARTS: Mapping[str, Part] = {"AGENTS.md": "system", "SOUL.md": "soul", "USER.md": "user", "MEMORY.md": "memory"}


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """The prompt, the tokens of each part of it, and the files that did not fit whole."""

    text: str
    part_tokens: Mapping[Part, int]
    shortened: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PromptTexts:
    """The owner's files as they are, by name, and the guidance of the first conversation (empty once it is over)."""

    files: Mapping[str, str]
    bootstrap: str


def compose_system_prompt(
    texts: PromptTexts,
    *,
    language: Language,
    today: str,
    home: Path,
    files_folder: Path,
    tools: ToolScope,
    skills: str,
    max_tokens: int,
    count: Callable[[str], int],
) -> SystemPrompt:
    """The system prompt; the owner's files take at most `max_tokens` of it. `today` is `YYYY-MM-DD`.

    `skills` is what is said of them; empty where there are none. What changes most stands last.
    """
    capped = cap_together(texts.files, language, max_tokens, count)
    shortened = tuple(name for name, text in texts.files.items() if capped[name] != text.strip())
    text = render(
        "system",
        language,
        agents=capped.get("AGENTS.md", ""),
        soul=capped.get("SOUL.md", ""),
        user=capped.get("USER.md", ""),
        memory=capped.get("MEMORY.md", ""),
        bootstrap=texts.bootstrap.strip(),
        today=today,
        home=str(home),
        files_folder=str(files_folder),
        tools=tools,
        skills=skills,
    )
    tokens: dict[Part, int] = {part: count(capped[name]) for name, part in _PARTS.items() if capped.get(name)}
    tokens["system"] = max(0, count(text) - sum(size for part, size in tokens.items() if part != "system"))
    return SystemPrompt(text, tokens, shortened)


def cap_file(name: str, text: str, max_chars: int, language: Language) -> str:
    """The text when it fits, else 70 % of `max_chars` from its start, 20 % from its end, and a marker between."""
    text = text.strip()
    if len(text) <= max_chars:
        return text
    head, tail = int(max_chars * HEAD_SHARE), int(max_chars * TAIL_SHARE)
    marker = render("shortened_file", language, name=name, head=head, tail=tail, total=len(text))
    return f"{text[:head]}\n{marker}\n{text[len(text) - tail :]}"


def cap_together(
    files: Mapping[str, str], language: Language, max_tokens: int, count: Callable[[str], int]
) -> dict[str, str]:
    """The texts by name, each within its cap, all together within `max_tokens`."""
    caps = dict.fromkeys(files, FILE_MAX_CHARS)
    remembered = [name for name in files if name != "AGENTS.md"]
    lengths = {name: min(len(text.strip()), FILE_MAX_CHARS) for name, text in files.items()}
    if (together := sum(lengths[name] for name in remembered)) > MEMORY_MAX_CHARS:
        for name in remembered:
            caps[name] = lengths[name] * MEMORY_MAX_CHARS // together
    capped = {name: cap_file(name, text, caps[name], language) for name, text in files.items()}
    # A dense text may hold more tokens than its characters suggest, so the cap is approached, never overshot.
    while (used := sum(count(text) for text in capped.values())) > max_tokens and max(map(len, capped.values())) > 400:
        caps = {name: len(text) * max_tokens * 9 // (used * 10) for name, text in capped.items()}
        capped = {name: cap_file(name, text, caps[name], language) for name, text in files.items()}
    return capped

"""What the offline assistant does with memory: saves what it is told, quotes what answers, keeps names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import assert_never

from assistant.config.words import Language
from assistant.models.offline.offline_quotes import (
    read_answers,
    read_facts,
    read_names,
    read_notices,
    write_list,
    write_quotes,
)
from assistant.models.offline.offline_requests import (
    AskAboutPerson,
    AskMemory,
    AskName,
    Introduce,
    MemoryRequest,
    OfflineRequest,
    Remember,
    TellName,
    Whose,
)
from assistant.models.offline.offline_tools import OfferedTool, PlannedCall, ToolOutcome
from assistant.models.offline.texts import OfflineTexts

MAX_FACTS = 20
_FILES: dict[Whose, str] = {"person": "USER.md", "assistant": "SOUL.md"}
_ABOUT_THE_PERSON = re.compile(r"\b(?:I|my|mine|me|I'm)\b|我", re.IGNORECASE)
_ABOUT_CONDUCT = re.compile(r"\b(?:you|your|yourself)\b|你", re.IGNORECASE)


def memory_call(
    request: MemoryRequest, outcomes: Sequence[ToolOutcome], tools: Sequence[OfferedTool], language: Language
) -> PlannedCall | None:
    """The next call for the request; None when all is looked up or saved."""
    if outcomes:
        # What is known of a person is in two files.
        is_first = isinstance(request, AskAboutPerson) and len(outcomes) == 1
        return PlannedCall("memory_get", {"path": "MEMORY.md"}) if is_first else None
    match request:
        case Remember(text):
            return _save(text, _whose(text), tools)
        case TellName():
            return _save(_name_line(request, language), request.whose, tools)
        case AskName(whose):
            return PlannedCall("memory_get", {"path": _FILES[whose]})
        case AskAboutPerson():
            return PlannedCall("memory_get", {"path": _FILES["person"]})
        case AskMemory(question):
            return PlannedCall("memory_search", {"query": question})
        case _:
            assert_never(request)


def memory_reply(request: MemoryRequest, outcomes: Sequence[ToolOutcome], texts: OfflineTexts) -> str:
    """What is said once the calls have brought their results."""
    match request:
        case Remember(text):
            return texts.saved.format(text=text.replace("\n", "\n> "), detail=outcomes[-1].shown).strip()
        case TellName(whose, name):
            told = texts.named_person if whose == "person" else texts.named_assistant
            return told.format(name=name, detail=outcomes[-1].shown).strip()
        case AskName(whose):
            return _tell_name(whose, outcomes[-1].text, texts)
        case AskAboutPerson():
            facts = [fact for outcome in outcomes for fact in read_facts(outcome.text)][:MAX_FACTS]
            return texts.known_of_person.format(result=write_list(facts)) if facts else texts.nothing_of_person
        case AskMemory():
            return _answer(outcomes[-1].text, texts)
        case _:
            assert_never(request)


def ask_name(request: OfflineRequest, nameless: frozenset[Whose], texts: OfflineTexts) -> str:
    """In a first conversation the next name that is missing is asked for, in passing; else empty."""
    if not isinstance(request, Introduce | TellName | Remember):
        return ""
    missing = nameless - ({request.whose} if isinstance(request, TellName) else set[Whose]())
    if "person" in missing:
        return texts.ask_name_of_person
    return texts.ask_name_of_assistant if missing else ""


def _save(content: str, whose: Whose | None, tools: Sequence[OfferedTool]) -> PlannedCall:
    """Under the category that fits best among those the tool offers."""
    match whose:
        case "person":
            wanted = ("about_person", "user", "preference", "profile")
        case "assistant":
            wanted = ("about_assistant", "soul", "persona", "conduct")
        case None:
            wanted = ("memory", "fact")
    offered = next((tool.choices.get("category", ()) for tool in tools if tool.name == "memory_save"), ()) or ("fact",)
    category = next((value for value in offered if value.lower().startswith(wanted)), offered[0])
    return PlannedCall("memory_save", {"content": content, "category": category})


def _whose(text: str) -> Whose | None:
    """Whom a sentence is about: the person, the assistant's conduct, or neither."""
    if _ABOUT_THE_PERSON.search(text):
        return "person"
    return "assistant" if _ABOUT_CONDUCT.search(text) else None


def _name_line(request: TellName, language: Language) -> str:
    if request.is_form_of_address:
        return f"称呼：{request.name}" if language == "zh" else f"To be called: {request.name}"
    return f"名字：{request.name}" if language == "zh" else f"Name: {request.name}"


def _answer(result: str, texts: OfflineTexts) -> str:
    if answers := read_answers(result):
        return texts.from_memory.format(result=write_quotes(answers, texts))
    # Why it may have been missed belongs to a no.
    return "\n\n".join([texts.nothing_in_memory, *read_notices(result)])


def _tell_name(whose: Whose, result: str, texts: OfflineTexts) -> str:
    names = read_names(result)
    if not names:
        return texts.no_name_of_person if whose == "person" else texts.no_name_of_assistant
    told = texts.name_of_person if whose == "person" else texts.name_of_assistant
    return told.format(name=names[0].text, place=names[0].place)

"""What the offline assistant says, in English and Chinese; the sentences are in `offline.toml`."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import cache

from assistant.config.words import Language, read_table


@dataclass(frozen=True, slots=True)
class OfflineTexts:
    """One sentence for each situation; `{…}` marks what is put in."""

    introduction: str
    unclear: str
    courtesy: str
    setup: str
    talk: str
    forget: str
    today: str
    saved: str
    cannot_save: str
    from_memory: str
    cite_note: str
    cite_person: str
    cite_answer: str
    nothing_in_memory: str
    known_of_person: str
    nothing_of_person: str
    named_person: str
    named_assistant: str
    name_of_person: str
    name_of_assistant: str
    no_name_of_person: str
    no_name_of_assistant: str
    ask_name_of_person: str
    ask_name_of_assistant: str
    no_memory_search: str
    tools_off: str
    files: str
    no_files: str
    empty_folder: str
    no_such_file: str
    several_files: str
    file: str
    file_start: str
    empty_file: str
    hits: str
    no_hits: str
    command: str
    silent_command: str
    more: str
    denied: str
    failed: str
    failed_silently: str
    interrupted: str
    one_file: str
    several_files_counted: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(str(value) for value in astuple(self))


@cache
def offline_texts(language: Language) -> OfflineTexts:
    """The sentences in a language; raises `TypeError` when the table lacks one or has one that nobody says."""
    return OfflineTexts(**{name: str(text) for name, text in read_table("offline", language).items()})


def count_files(count: int, language: Language) -> str:
    """`1 file`, `3 files`, `3 个文件`."""
    texts = offline_texts(language)
    return (texts.one_file if count == 1 else texts.several_files_counted).format(count=count)

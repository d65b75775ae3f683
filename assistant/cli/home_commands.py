"""What the command line does with a home and no model: sessions, index, search, forget, export, import."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from assistant.assembly.home import Store, end_nothing, make_forgetter, make_trash, open_home, open_store, stop_nothing
from assistant.cli.terminal import printable
from assistant.config.plain_reasons import plain_reason
from assistant.config.settings import Settings
from assistant.config.words import say
from assistant.errors import PalimpsestError, WrongUseError
from assistant.index.memory_index import IndexStatus, MemoryIndex, SearchAnswer
from assistant.memory.forget.forgetter import ForgetItem, ForgetPreview, chosen_items, preview_lines, receipt_text
from assistant.storage.atomic_io import read_plain_file, replace_file
from assistant.storage.export import export_lines
from assistant.storage.ownership import HomeOwnership
from assistant.storage.portable import download_of, import_portable, read_portable
from assistant.storage.sessions.session_head import SessionSummary
from assistant.text.encoding import encode

_SNIPPET_CHARS = 160
_SHOWN_ITEMS = 200
_PATIENCE_SECONDS = 30.0
"""How long a search waits for its vectors on a busy machine; the same question finds the same, alone or among many."""
_PROGRESS_SECONDS = 1.0


def run_sessions(settings: Settings, options: argparse.Namespace) -> int:
    """List the conversations, or rename, pin, trash or restore one, or empty the trash."""
    if options.action == "empty-trash":
        return asyncio.run(_empty_trash(settings, options.yes))
    store = open_store(settings)
    if options.action is None:
        for summary in store.sessions.trashed() if options.trash else store.sessions.list():
            print(_summary_json(summary) if options.json else _summary_text(summary))
        return 0
    with HomeOwnership(store.workspace), store.sessions.open_lock(options.session):
        match options.action:
            case "rename":
                if not options.title.strip():
                    raise WrongUseError(say("cli", "title_needed"))
                store.sessions.rename(options.session, options.title)
            case "pin" | "unpin":
                store.sessions.put_on_top(options.session, options.action == "pin")
            case "trash":
                store.sessions.trash(options.session)
            case _:
                store.sessions.restore(options.session)
    return 0


def run_index(settings: Settings, options: argparse.Namespace) -> int:
    """Bring the index in step with the files, or make it again, and print what it holds."""
    return asyncio.run(_index(settings, options.rebuild, options.json))


def run_search(settings: Settings, options: argparse.Namespace) -> int:
    """Print the hits of one query, or of each line of a file."""
    if (options.query is None) == (options.batch is None):
        raise WrongUseError(say("cli", "one_query"))
    queries = [options.query] if options.batch is None else _lines_of(options.batch)
    return asyncio.run(_search(settings, queries, options.k, options.json, is_batch=options.batch is not None))


def run_forget(settings: Settings, options: argparse.Namespace) -> int:
    """Show what can be forgotten, ask, forget, print the receipt."""
    return asyncio.run(_forget(settings, options.text, options.yes, options.json))


def run_export(settings: Settings, options: argparse.Namespace) -> int:
    """Write conversations to a file or to standard output."""
    if options.all == (options.session is not None):
        raise WrongUseError(say("cli", "say_which"))
    store = open_store(settings)
    ids = [options.session] if options.session else [summary.session_id for summary in store.sessions.list()]
    if options.markdown:
        return _export_markdown(store, options)
    lines = export_lines(store.sessions, store.journal, store.artifacts, ids, store.clock.now(), store.known)
    if options.out is None:
        for line in lines:
            sys.stdout.buffer.write(encode(line) + b"\n")
        return 0
    try:
        replace_file(options.out, b"".join(encode(line) + b"\n" for line in lines))
    except OSError as error:
        raise PalimpsestError(say("cli", "not_writable", path=options.out, reason=plain_reason(error))) from None
    print(say("cli", "exported", count=len(ids), path=options.out))
    return 0


def _export_markdown(store: Store, options: argparse.Namespace) -> int:
    """One conversation as Markdown, or as an archive with the files that are attached in it."""
    if options.session is None or options.out is None:
        raise WrongUseError(say("cli", "markdown_which"))
    download = download_of(store.portable, options.session, "markdown", store.clock.now())
    path = options.out.with_suffix(Path(download.name).suffix)
    try:
        replace_file(path, download.content)
    except OSError as error:
        raise PalimpsestError(say("cli", "not_writable", path=path, reason=plain_reason(error))) from None
    print(say("cli", "exported", count=1, path=path))
    return 0


def run_import(settings: Settings, options: argparse.Namespace) -> int:
    """Read conversations from an exported file into the home."""
    try:
        portable = read_portable(read_plain_file(options.file))
    except OSError as error:
        raise PalimpsestError(say("cli", "not_readable", path=options.file, reason=plain_reason(error))) from None
    store = open_store(settings)
    with HomeOwnership(store.workspace):
        imported = import_portable(store.portable, portable)
    known = say("cli", "known_already", count=len(imported.known)) if imported.known else ""
    print(say("cli", "imported", count=len(imported.added), known=known))
    return 0


async def _empty_trash(settings: Settings, is_sure: bool) -> int:
    async with open_home(settings) as home:
        trash = make_trash(home.store, home.index, stop_nothing)
        if trash.question and not is_sure and not await _is_confirmed(trash.question):
            print(say("cli", "nothing_deleted"))
            return 0
        emptied = await trash.empty()
    print(emptied.text)
    return 0


async def _is_confirmed(question: str) -> bool:
    try:
        answer = await asyncio.to_thread(input, f"{question} [y/N] ")
    except EOFError:
        return False
    return answer.strip().lower() in {"y", "yes", "是"}


def _summary_json(summary: SessionSummary) -> str:
    return json.dumps(summary._asdict(), ensure_ascii=False)


def _summary_text(summary: SessionSummary) -> str:
    return printable(f"{summary.session_id}  {summary.updated_at[:16]}  {summary.title}")


async def _index(settings: Settings, is_rebuild: bool, as_json: bool) -> int:
    async with open_home(settings, may_be_owned=not is_rebuild) as home:
        await _with_progress(home.index, is_rebuild)
        status = home.index.status()
    print(json.dumps(asdict(status), ensure_ascii=False) if as_json else _status_text(status))
    return 0


async def _with_progress(index: MemoryIndex, is_rebuild: bool) -> None:
    task = asyncio.create_task(index.rebuild() if is_rebuild else index.sync())
    while not (await asyncio.wait({task}, timeout=_PROGRESS_SECONDS))[0]:
        if sys.stderr.isatty():
            print(f"\r{index.status().progress:4.0%}", end="", file=sys.stderr, flush=True)
    await task


async def _search(settings: Settings, queries: Iterable[str], count: int, as_json: bool, *, is_batch: bool) -> int:
    async with open_home(settings, may_be_owned=True) as home:
        if is_batch:
            # Many questions are worth waiting for all of the index; one is answered from what is there in time.
            await home.index.sync()
        for query in queries:
            answer = await home.index.search(query, count, patience_seconds=_PATIENCE_SECONDS)
            print(_answer_json(query, answer) if as_json else "\n".join(_answer_lines(answer)), flush=True)
    return 0


async def _forget(settings: Settings, text: str, is_sure: bool, as_json: bool) -> int:
    async with open_home(settings) as home:
        forgetter = make_forgetter(home.store, home.index, end_nothing)
        preview = await forgetter.find(text)
        if as_json and not is_sure:
            print(json.dumps({"items": [asdict(item) for item in preview.items]}, ensure_ascii=False))
            return 0
        chosen = list(preview.exact) if is_sure else await _ask(preview)
        if not chosen:
            print(
                json.dumps({"passages": 0, "gone": [], "notices": []}) if as_json else say("cli", "nothing_forgotten")
            )
            return 0
        receipt = await forgetter.forget(chosen)
    print(json.dumps(asdict(receipt), ensure_ascii=False) if as_json else receipt_text(receipt))
    return 0


async def _ask(preview: ForgetPreview) -> list[ForgetItem]:
    if not preview.items:
        return []
    print(printable("\n".join(preview_lines(preview, _SHOWN_ITEMS))))
    try:
        answer = await asyncio.to_thread(input, say("cli", "forget_which"))
    except EOFError:
        return []
    return chosen_items(preview, answer, _SHOWN_ITEMS)


def _answer_lines(answer: SearchAnswer) -> Iterator[str]:
    for hit in answer.hits:
        snippet = " ".join(hit.snippet.split())
        yield printable(f"{hit.path}:{hit.line}  {hit.relevance:.2f}  {snippet[:_SNIPPET_CHARS]}")
    if not answer.hits:
        yield say("cli", "nothing_found")
    yield from (f"({notice})" for notice in answer.notices)


def _answer_json(query: str, answer: SearchAnswer) -> str:
    return json.dumps({"query": query, **asdict(answer)}, ensure_ascii=False)


def _status_text(status: IndexStatus) -> str:
    head = say(
        "cli", "index_status", files=status.files, chunks=status.chunks, pending=status.pending, mode=status.mode
    )
    return "\n".join([head, *(f"({notice})" for notice in status.notices)])


def _lines_of(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise PalimpsestError(say("cli", "not_readable", path=path, reason=plain_reason(error))) from None
    return [line for line in text.splitlines() if line.strip()]

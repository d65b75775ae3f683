"""Takes the files that a tab attaches: streamed to disk, of limited size, in a folder that ends with the page."""

from __future__ import annotations

import asyncio
import uuid
from http import HTTPStatus
from pathlib import Path

import gradio as gr
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from assistant.agent.attachments.file_reading import GivenFile
from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import AttachmentError, PalimpsestError
from assistant.messages.attached import IMAGE_TOKENS
from assistant.storage.attachments import Attachments, picture_type, safe_name
from assistant.ui.chat.staged_files import remove_temporary
from assistant.ui.server.loading import Loaded
from assistant.ui.server.user_sessions import UserSession, UserSessions

MAX_READERS = 3
"""Files that are read at once, of all people together; each may take a gigabyte of memory for half a minute."""
_NO_STORE = {"cache-control": "no-store"}
# A name is never given to another picture. It is shown as one and as nothing else.
_PICTURE_HEADERS = {
    "cache-control": "private, max-age=31536000, immutable",
    "content-security-policy": "default-src 'none'; sandbox",
}


class AttachRoute:
    """Where a tab gives a file, and where it takes one back. What is refused is said in the answer, in plain words."""

    def __init__(self, users: UserSessions, folder: Path, max_bytes: int) -> None:
        """`folder` holds what came in and was not sent; no file may be larger than `max_bytes`."""
        self._users = users
        self._folder = folder
        self._max_bytes = max_bytes
        self._reading = asyncio.Semaphore(MAX_READERS)

    def routes(self) -> list[Route]:
        """Both of them, and where a picture is shown; the guard has seen that a request names a tab of its person."""
        return [
            Route("/attach", self._attach, methods=["POST"]),
            Route("/detach", self._detach, methods=["POST"]),
            Route("/pictures/{name}", self._show, methods=["GET"]),
        ]

    async def _attach(self, request: Request) -> Response:
        tab_hash = request.query_params.get("session_hash", "")
        name = safe_name(request.query_params.get("name", ""))
        user = self._users.enter(gr.Request(request=request, session_hash=tab_hash))
        # The tab's own name, where nobody looks for another file.
        path = self._folder / uuid.uuid4().hex / name
        try:
            loaded = await user.loading.ready()
            user.chat.staged.refuse_more(tab_hash)
            await self._receive(request, name, path)
            async with self._reading:
                file = await loaded.assistant.read_attached(name, path)
            if await request.is_disconnected():
                # Its tab was left meanwhile, and nobody would send it or take it back.
                raise ClientDisconnect
            return JSONResponse(_staged(user, tab_hash, file, loaded), headers=_NO_STORE)
        except ClientDisconnect:
            remove_temporary(path)
            return Response(status_code=HTTPStatus.NO_CONTENT)
        except (PalimpsestError, OSError) as error:
            remove_temporary(path)
            said = str(error) if isinstance(error, PalimpsestError) else _disk_words(name, error)
            return JSONResponse({"error": said}, headers=_NO_STORE)

    async def _receive(self, request: Request, name: str, path: Path) -> None:
        path.parent.mkdir(parents=True, mode=0o700)
        size = 0
        with path.open("xb") as file:
            async for piece in request.stream():
                size += len(piece)
                if size > self._max_bytes:
                    raise AttachmentError(
                        say("attachments", "too_large", name=name, limit=self._max_bytes // 1_000_000)
                    )
                file.write(piece)

    async def _detach(self, request: Request) -> Response:
        said = await request.json()
        tab_hash, file_id = str(said["session_hash"]), str(said.get("id", ""))
        if user := self._users.entered(gr.Request(request=request, session_hash=tab_hash)):
            user.chat.staged.remove(tab_hash, [file_id])
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def _show(self, request: Request) -> Response:
        tab_hash, name = request.query_params.get("session_hash", ""), request.path_params["name"]
        user = self._users.entered(gr.Request(request=request, session_hash=tab_hash))
        loaded = user.loading.loaded if user else None
        if user is None or loaded is None:
            return Response(status_code=HTTPStatus.NOT_FOUND)
        home = loaded.of(user.chat.session_of(tab_hash)).assistant.workspace
        content = await asyncio.to_thread(Attachments(home).picture, name)
        if content is None:
            return Response(status_code=HTTPStatus.NOT_FOUND)
        return Response(content, media_type=picture_type(name), headers=_PICTURE_HEADERS)


def _staged(user: UserSession, tab_hash: str, file: GivenFile, loaded: Loaded) -> dict[str, object]:
    is_picture = file.picture is not None
    tokens = IMAGE_TOKENS if is_picture else loaded.count_tokens(file.text)
    # With room for the prompt and an answer beside it.
    may_be_words = tokens < loaded.assistant.policy.max_input_length // 2
    opened = loaded.assistant.conversations.opened(user.chat.session_of(tab_hash))
    model = opened.model if opened else loaded.assistant.model
    note = say("attachments", "not_seen", model=model.name) if is_picture and not model.sees_pictures else ""
    file_id = user.chat.staged.add(tab_hash, file)
    return {
        "id": file_id,
        "name": file.name,
        "size": file.size_bytes,
        "tokens": tokens,
        "may_be_words": may_be_words,
        "note": note,
    }


def _disk_words(name: str, error: OSError) -> str:
    return say("attachments", "not_stored", name=name, reason=plain_reason(error))

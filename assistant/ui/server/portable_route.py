"""Gives a conversation to its person as a file to take away, and takes such files in."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

import gradio as gr
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import PalimpsestError
from assistant.storage.export import Imported
from assistant.storage.portable import ExportForm, PortableHome, download_of, import_portable, read_portable
from assistant.ui.server.loading import Loaded
from assistant.ui.server.user_sessions import UserSessions

_NO_STORE = {"cache-control": "no-store"}


class PortableRoute:
    """Both ways of a conversation through the page. What cannot be done is said in the answer, in plain words."""

    def __init__(self, users: UserSessions, max_bytes: int) -> None:
        """No file that comes in may be larger than `max_bytes`."""
        self._users = users
        self._max_bytes = max_bytes

    def routes(self) -> list[Route]:
        """The guard has seen that a request names a tab of its person."""
        return [
            Route("/export/{form}", self._export, methods=["GET"]),
            Route("/import", self._import, methods=["POST"]),
        ]

    async def _export(self, request: Request) -> Response:
        form: ExportForm = "markdown" if request.path_params["form"] == "markdown" else "json"
        session_id = request.query_params.get("c", "")
        try:
            loaded = await self._loaded(request)
            store = loaded.assistant.store
            download = await asyncio.to_thread(download_of, store.portable, session_id, form, store.clock.now())
        except (PalimpsestError, OSError) as error:
            return _refused(error)
        # It is never shown by the browser, whatever was said in it.
        headers = {
            **_NO_STORE,
            "content-disposition": f"attachment; filename*=UTF-8''{quote(download.name)}",
            "content-security-policy": "default-src 'none'; sandbox",
        }
        return Response(download.content, media_type=download.media_type, headers=headers)

    async def _import(self, request: Request) -> Response:
        try:
            loaded = await self._loaded(request)
            content = bytearray()
            async for piece in request.stream():
                content += piece
                if len(content) > self._max_bytes:
                    raise PalimpsestError(say("page", "import_too_large", limit=self._max_bytes // 1_000_000))
            imported = await asyncio.to_thread(_take_in, loaded.assistant.store.portable, bytes(content))
        except ClientDisconnect:
            return Response(status_code=204)
        except (PalimpsestError, OSError) as error:
            return _refused(error)
        opened = [*imported.added, *imported.known][0]
        told = say("page", "imported" if imported.added else "imported_before")
        return JSONResponse({"opened": opened, "told": told}, headers=_NO_STORE)

    async def _loaded(self, request: Request) -> Loaded:
        tab_hash = request.query_params.get("session_hash", "")
        return await self._users.enter(gr.Request(request=request, session_hash=tab_hash)).loading.ready()


def _take_in(home: PortableHome, content: bytes) -> Imported:
    imported = import_portable(home, read_portable(content))
    if not (imported.added or imported.known):
        raise PalimpsestError(say("storage", "export_empty"))
    return imported


def _refused(error: PalimpsestError | OSError) -> Response:
    said = str(error) if isinstance(error, PalimpsestError) else say("page", "disk_refused", reason=plain_reason(error))
    return JSONResponse({"error": said}, headers=_NO_STORE)

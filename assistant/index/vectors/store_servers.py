"""What stores on a server have in common: addresses with a password, and which failures pass by themselves."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx

from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import IndexingError, StoreAwayError

ANSWER_SECONDS = 30
"""How long any answer of a server is waited for."""

# A refused key, a server that is busy, or a gateway in front of one that is down: what the store holds is as it was.
_STATUSES_WHILE_AWAY = frozenset({401, 403, 407, 408, 429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a server is, and who asks; a password without a name is a key."""

    url: str
    name: str = ""
    password: str = field(default="", repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """What a request carries besides, for a server behind a gateway that asks for a name and a password."""
        if not self.name:
            return {"Authorization": f"Bearer {self.password}"} if self.password else {}
        both = f"{self.name}:{self.password}".encode()
        return {"Authorization": f"Basic {base64.b64encode(both).decode()}"}


def read_address(url: str) -> ServerAddress:
    """The address without its name and password, and these."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    return ServerAddress(
        urlunsplit(parts._replace(netloc=place)), unquote(parts.username or ""), unquote(parts.password or "")
    )


def store_failure(error: Exception) -> IndexingError:
    """What to raise for a failure of a client that speaks HTTP: `StoreAwayError` where it passes by itself."""
    reason = plain_reason(error)
    if _is_away(error):
        return StoreAwayError(say("index", "store_away", reason=reason))
    return IndexingError(say("index", "store_unusable", reason=reason))


def _is_away(error: BaseException) -> bool:
    seen: BaseException | None = error
    while seen is not None:
        status = getattr(seen, "status_code", None)
        if isinstance(seen, httpx.TransportError | ConnectionError | TimeoutError) or status in _STATUSES_WHILE_AWAY:
            return True
        seen = seen.__cause__ or seen.__context__
    return False

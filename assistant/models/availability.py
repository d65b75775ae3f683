"""Whether a model can be had now, found out without asking it anything: is its server there, does it take the key?"""

from __future__ import annotations

import httpx
import openai

from assistant.models.failures import ProviderFailure, as_model_error
from assistant.models.http_client import CONNECT_SECONDS

_ANSWER_SECONDS = 2.0
LOOK_TIMEOUT = httpx.Timeout(_ANSWER_SECONDS, connect=CONNECT_SECONDS)
"""For a connection as long as a turn waits for it, for the answer less."""
TELLING_STATUS = (401, 403, 502, 503, 504)
"""A key that is refused; a server that is away behind its gateway, or still loads its model."""


async def why_unavailable(client: openai.AsyncOpenAI, address: str, key: str) -> str:
    """In plain words why a turn would fail now; empty where nothing speaks against it.

    The list of models is asked for, over the connection that a turn takes. Many servers have no such list, or one that
    not every key may see: then a chat request without a message is tried. A server that is slow counts as there.
    """
    # The client was given one of httpx, and its types name the other library that it can use.
    options: openai.RequestOptions = {"timeout": LOOK_TIMEOUT}  # type: ignore[typeddict-item]
    try:
        try:
            await client.get("/models", cast_to=httpx.Response, options=options)
        except openai.APIStatusError:
            await client.post("/chat/completions", cast_to=httpx.Response, body={"messages": []}, options=options)
    except openai.APITimeoutError as error:
        return str(as_model_error(error, address, key)) if isinstance(error.__cause__, httpx.ConnectTimeout) else ""
    except openai.APIStatusError as error:
        return str(as_model_error(error, address, key)) if error.status_code in TELLING_STATUS else ""
    except ProviderFailure as error:
        return str(as_model_error(error, address, key))
    return ""

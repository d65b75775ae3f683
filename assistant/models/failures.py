"""What went wrong with a model: told in plain words without secrets, and whether the request was too long."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import openai

from assistant.errors import ContextOverflowError, ModelError, ModelUnreachableError, PalimpsestError
from assistant.models.connection_failures import explain_connection_error

ProviderFailure = (openai.OpenAIError, httpx.HTTPError)
"""What the provider classes raise when no answer comes."""

_QUOTE_CHARS = 300
_SECRET = re.compile(r"\b(?:sk|pk|key|gsk|xai)[-_][\w*.-]{6,}|(?<=Bearer )\S+", re.IGNORECASE)
# The words of OpenAI, DashScope, vLLM, SGLang, llama.cpp, Ollama, LM Studio, and of others that speak the same API.
_OVERFLOW = re.compile(
    r"context_length_exceeded|exceed_context_size|context[ _]window[ _]exceeded"
    r"|maximum (?:context|prompt|model) length|max(?:imum)? context length"
    r"|(?:exceeds?|exceeding|greater than|larger than|longer than) (?:the |this |its )?"
    r"(?:model'?s? |available |configured |maximum |allowed |context |token |input )*(?:length|size|window|limit)"
    r"|range of input length should be|prompt (?:is )?too long|input is too long for"
    r"|when (?:the )?context (?:the )?overflows|tokens to keep from the initial prompt is greater"
    r"|context shift is disabled|reached context length|cannot truncate prompt"
    r"|exceeded model token limit|input token count .* exceeds"
    r"|reduce the length of (?:the|your) (?:messages|input|prompt)",
    re.IGNORECASE,
)
_WINDOW_FIGURES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:maximum|max) (?:context|prompt|model) length (?:of |is |\()*(\d[\d,]*)",
        r"available context size \((\d[\d,]*)",
        r"input length should be \[\d+, ?(\d[\d,]*)\]",
        r"context length of (?:only )?(\d[\d,]*)",
        r"n_ctx\W+(\d[\d,]*)",
        r"maximum allowed length \((\d[\d,]*)",
        r"limit of (\d[\d,]*)",
    )
)


def is_context_overflow(error: BaseException) -> bool:
    """True when the provider refused the request because it is over the model's window."""
    return any(isinstance(link, ContextOverflowError) or _speaks_of_overflow(link) for link in _chain(error))


def window_told_by(error: BaseException) -> int | None:
    """The window in tokens that an overflow error names, or None."""
    for link in _chain(error):
        for figure in _WINDOW_FIGURES:
            if found := figure.search(str(link)):
                return int(found[1].replace(",", ""))
    return None


def explain_model_error(error: BaseException) -> str:
    """The failure in a sentence or two for the person, with what to do next and without secrets."""
    if isinstance(error, PalimpsestError):
        return str(error)
    return str(as_model_error(error))


def as_model_error(error: BaseException, address: str = "", secret: str = "", *, has_begun: bool = False) -> ModelError:
    """The failure as one of ours; `has_begun` when part of the answer had come.

    Raise it `from None`: providers quote the key in their own text.
    """
    if isinstance(error, ModelError):
        return error
    where = address or _address_of(error)
    quote = _quote(error, secret)
    if is_context_overflow(error):
        return ContextOverflowError(f"The request is longer than the model's window: {quote}")
    match error:
        case openai.APITimeoutError() | httpx.TimeoutException():
            return ModelUnreachableError(f"The model at {where} did not answer in time.")
        case openai.APIConnectionError() | httpx.HTTPError() if has_begun:
            return ModelError(f"The connection to {where} broke off in the middle of the answer.")
        case openai.APIConnectionError() | httpx.HTTPError():
            return ModelUnreachableError(explain_connection_error(error, where))
        case openai.APIStatusError():
            return ModelError(_explain_status(error, where, quote))
        case openai.APIError():
            return ModelError(f"The model at {where} stopped with an error: {quote}")
        case _:
            return ModelError(f"The model gave no answer: {quote}")


def _speaks_of_overflow(error: BaseException) -> bool:
    # A rate limit speaks of tokens too ("request too large … tokens per minute"), but shrinking does not help it.
    if not isinstance(error, openai.APIError) or isinstance(error, openai.RateLimitError | openai.AuthenticationError):
        return False
    return error.code == "context_length_exceeded" or bool(_OVERFLOW.search(f"{error.message} {error.body or ''}"))


def _explain_status(error: openai.APIStatusError, where: str, quote: str) -> str:
    match error.status_code:
        case 401:
            return f"{where} refused the key. Check the key and that it belongs to this provider."
        case 402:
            return f"{where} wants to be paid first: {quote}"
        case 403:
            return f"{where} does not allow this key to use the model: {quote}"
        case 404:
            return f"{where} does not know the model, or the address is wrong (it usually ends in /v1): {quote}"
        case 429:
            return f"{where} limits how much may be asked at the moment. Wait a little and try again: {quote}"
        case status if status >= 500:
            return f"{where} has a problem of its own (HTTP {status}). Try again: {quote}"
        case status:
            return f"{where} refused the request (HTTP {status}): {quote}"


def _quote(error: BaseException, secret: str) -> str:
    text = error.message if isinstance(error, openai.APIError) else str(error)
    body = error.body if isinstance(error, openai.APIError) else None
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        text = body["message"]
    if secret:
        text = text.replace(secret, "…")
    text = " ".join(_SECRET.sub("…", text).split())
    return text if len(text) <= _QUOTE_CHARS else f"{text[:_QUOTE_CHARS]}…"


def _address_of(error: BaseException) -> str:
    if isinstance(error, openai.APIError):
        url = error.request.url
        return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}"
    return "the provider"


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__

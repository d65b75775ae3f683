"""What went wrong with a model: in plain words without secrets, and whether the request was too long."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import httpx2
import openai

from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import ContextOverflowError, ModelError, ModelUnreachableError, PalimpsestError
from assistant.models.connection_failures import explain_connection_error
from assistant.models.proxies import proxy_of
from assistant.text.json_values import is_object

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
_NO_MONEY = re.compile(
    r"insufficient[_ ]quota|insufficient[_ ](?:account )?balance|credit balance|billing_error|exceeded_current_quota"
    r"|arrearage|out of credits|credits are depleted",
    re.IGNORECASE,
)
_NO_SHARE = re.compile(r"reached your \w+ usage limit", re.IGNORECASE)
"""Ollama's words: hours or days pass until more may be asked."""
_NO_MODEL = re.compile(r"model not exist", re.IGNORECASE)
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
        r"model token limit: (\d[\d,]*)",
        r"tokens > (\d[\d,]*) maximum",
        r"number of tokens allowed \((\d[\d,]*)",
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


def is_quota_used_up(error: openai.APIError) -> bool:
    """True where asking again soon helps only who pays first."""
    told = f"{error.code} {error.message} {error.body or ''}"
    return bool(_NO_MONEY.search(told) or _NO_SHARE.search(told))


def status_failure(status: int, message: str, address: str, *, code: str = "", wait: str = "") -> openai.APIStatusError:
    """The refusal of a provider with a client of its own, as the client for the others would raise it.

    `wait` is how many seconds the provider asks to wait, as its header says it.
    """
    kinds = {401: openai.AuthenticationError, 429: openai.RateLimitError}
    kind = kinds.get(status, openai.InternalServerError if status >= 500 else openai.APIStatusError)
    headers = {"Retry-After": wait} if wait else {}
    response = httpx2.Response(status, headers=headers, request=httpx2.Request("POST", address))
    return kind(message, response=response, body={"message": message, "code": code or None})


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
        return ContextOverflowError(say("models", "too_long", quote=quote))
    match error:
        case openai.APITimeoutError() | httpx.TimeoutException():
            return ModelUnreachableError(say("models", "too_slow", where=where))
        case openai.APIConnectionError() | httpx.HTTPError() if has_begun:
            return ModelError(say("models", "broke_off", where=where))
        case openai.APIConnectionError() | httpx.HTTPError():
            return ModelUnreachableError(explain_connection_error(error, where, proxy_of(address) if address else ""))
        case openai.APIStatusError():
            return ModelError(_explain_status(error, where, quote))
        case openai.APIError():
            return ModelError(say("models", "stopped", where=where, quote=quote))
        case _:
            return ModelError(say("models", "no_answer", reason=plain_reason(error)))


def _speaks_of_overflow(error: BaseException) -> bool:
    # A rate limit speaks of tokens too ("request too large … tokens per minute"), but shrinking does not help it.
    if not isinstance(error, openai.APIError) or isinstance(error, openai.RateLimitError | openai.AuthenticationError):
        return False
    return error.code == "context_length_exceeded" or bool(_OVERFLOW.search(f"{error.message} {error.body or ''}"))


def _explain_status(error: openai.APIStatusError, where: str, quote: str) -> str:
    if is_quota_used_up(error) and not _NO_SHARE.search(error.message):
        return say("models", "wants_money", where=where, quote=quote)
    match error.status_code:
        case 401:
            return say("models", "key_refused", where=where)
        case 402:
            return say("models", "wants_money", where=where, quote=quote)
        case 403:
            return say("models", "key_not_allowed", where=where, quote=quote)
        case 404:
            return say("models", "unknown_model", where=where, quote=quote)
        case 400 if _NO_MODEL.search(error.message):
            return say("models", "unknown_model", where=where, quote=quote)
        case 429:
            return say("models", "too_often", where=where, quote=quote)
        case status if status >= 500:
            return say("models", "own_problem", where=where, status=status, quote=quote)
        case status:
            return say("models", "refused", where=where, status=status, quote=quote)


def _quote(error: BaseException, secret: str) -> str:
    text = error.message if isinstance(error, openai.APIError) else str(error)
    body = error.body if isinstance(error, openai.APIError) else None
    said = body.get("message") if is_object(body) else None
    if isinstance(said, str):
        text = said
    if secret:
        text = text.replace(secret, "…")
    text = " ".join(_SECRET.sub("…", text).split())
    return text if len(text) <= _QUOTE_CHARS else f"{text[:_QUOTE_CHARS]}…"


def _address_of(error: BaseException) -> str:
    if isinstance(error, openai.APIError):
        url = error.request.url
        return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}"
    return say("models", "provider")


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__

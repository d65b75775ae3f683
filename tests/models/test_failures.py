"""Failures of models: in plain words, without secrets, and told apart from a request that was too long."""

from __future__ import annotations

import httpx
import openai
import pytest

from assistant.errors import ContextOverflowError, ModelError, ModelUnreachableError, SettingsError
from assistant.models.failures import as_model_error, explain_model_error, is_context_overflow, window_told_by

REQUEST = httpx.Request("POST", "http://127.0.0.1:8080/v1/chat/completions")


def refusal(status: int, message: str, code: str | None = None) -> openai.APIStatusError:
    kinds = {401: openai.AuthenticationError, 404: openai.NotFoundError, 429: openai.RateLimitError}
    kind = kinds.get(status, openai.InternalServerError if status >= 500 else openai.BadRequestError)
    body = {"message": message, "code": code, "type": "invalid_request_error"}
    return kind(f"Error code: {status} - {body}", response=httpx.Response(status, request=REQUEST), body=body)


@pytest.mark.parametrize(
    ("message", "window"),
    [
        ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.", 8192),
        ("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in …).", 4096),
        ("This endpoint's maximum context length is 128000 tokens.", 128000),
        ("Your input exceeds the context window of this model. Please adjust your input and try again.", None),
        ("Input tokens exceed the configured limit of 272000 tokens.", 272000),
        ("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]", 129024),
        ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 4096),
        ("Input length (5000) exceeds model's maximum context length (4096).", 4096),
        ("Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).", 59862),
        ("the request exceeds the available context size. try increasing the context size", None),
        ("request (66202 tokens) exceeds the available context size (65536 tokens), try increasing it", 65536),
        ("context shift is disabled", None),
        ("prompt too long; exceeded max context length by 812 tokens", None),
        ("the input length exceeds the context length", None),
        (
            "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with "
            "context length of only 4096 tokens, which is not enough.",
            4096,
        ),
        (
            "The number of tokens to keep from the initial prompt is greater than the context length "
            "(n_keep: 13055>= n_ctx: 4096).",
            4096,
        ),
        ("Reached context length of 4096 tokens with this model", 4096),
        ("This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131072),
        ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", None),
        ("Invalid request: Your request exceeded model token limit: 8192", 8192),
        ("prompt is too long: 208310 tokens > 200000 maximum", 200000),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1048576),
    ],
)
def test_an_overflow_is_known_by_the_words_of_each_provider_and_names_the_window(message: str, window: int | None):
    error = refusal(400, message)

    assert is_context_overflow(error)
    assert window_told_by(error) == window
    assert isinstance(as_model_error(error), ContextOverflowError)


def test_an_overflow_is_known_by_its_code_and_through_a_cause():
    assert is_context_overflow(refusal(400, "No.", "context_length_exceeded"))
    wrapped = RuntimeError("the turn failed")
    wrapped.__cause__ = ContextOverflowError("too long")
    assert is_context_overflow(wrapped)


@pytest.mark.parametrize(
    "error",
    [
        refusal(
            429, "Request too large on tokens per min (TPM): Limit 30000. Please reduce the length of the messages."
        ),
        refusal(400, "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."),
        refusal(400, "'max_tokens' must be greater than 0"),
        refusal(401, "Incorrect API key provided"),
        refusal(500, "The server had an error"),
        ValueError("the file exceeds the size limit"),
    ],
    ids=["rate limit", "pairs", "parameter", "key", "server", "not a provider's"],
)
def test_other_failures_are_no_overflow(error: Exception):
    assert not is_context_overflow(error)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            openai.APIConnectionError(request=REQUEST),
            "Nothing answers at http://127.0.0.1:8080. Is the server running, and is the address right?",
        ),
        (openai.APITimeoutError(request=REQUEST), "The model at http://127.0.0.1:8080 did not answer in time."),
        (
            refusal(401, "Incorrect API key provided: sk-abcdef123456."),
            "http://127.0.0.1:8080 refused the key. Check the key and that it belongs to this provider.",
        ),
        (
            refusal(404, "The model `qwen` does not exist"),
            "http://127.0.0.1:8080 does not know the model, or the address is wrong (it usually ends in /v1): "
            "The model `qwen` does not exist",
        ),
        (
            refusal(429, "Slow down"),
            "http://127.0.0.1:8080 limits how much may be asked at the moment. Wait a little and try again: Slow down",
        ),
        (
            refusal(503, "Overloaded"),
            "http://127.0.0.1:8080 has a problem of its own (HTTP 503). Try again: Overloaded",
        ),
        (refusal(400, "Bad\n  thing"), "http://127.0.0.1:8080 refused the request (HTTP 400): Bad thing"),
        (SettingsError("PALIMPSEST_MODEL", "is not set."), "PALIMPSEST_MODEL: is not set."),
        (ModelError("as it is"), "as it is"),
    ],
)
def test_a_failure_is_told_in_plain_words(error: Exception, text: str):
    assert explain_model_error(error) == text


def test_a_failure_after_the_answer_began_is_a_connection_that_broke_off():
    error = as_model_error(httpx.ReadError("reset", request=REQUEST), "http://127.0.0.1:8080/v1", has_begun=True)

    assert str(error) == "The connection to http://127.0.0.1:8080/v1 broke off in the middle of the answer."
    assert not isinstance(error, ModelUnreachableError)


def test_secrets_are_taken_out_of_what_is_quoted():
    error = refusal(403, "Key sk-abcdef123456 and my.own.key and Bearer abc.def may not do this")

    assert str(as_model_error(error, "here", "my.own.key")) == (
        "here does not allow this key to use the model: Key … and … and Bearer … may not do this"
    )


def test_a_long_quotation_is_cut():
    assert len(str(as_model_error(refusal(400, "x" * 5_000)))) < 400

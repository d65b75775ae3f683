"""The error in a JSON value, by every name that servers use for it (pure)."""

from __future__ import annotations

import json
from collections.abc import Mapping

from assistant.models.wire.pieces import ServerFailure
from assistant.text.json_values import is_list, is_object

BROKEN_ENDS = frozenset(
    {
        "error",
        "network_error",
        "insufficient_system_resource",
        "abort",
        "aborted",
        "server_error",
        "failed",
        "malformed_function_call",
    }
)
"""Reasons for the end of an answer that say it is none."""
_ERROR_FIELDS = ("error", "errors", "errormsg", "error_info")
_ENVELOPES = ("response", "responsemetadata", "base_resp", "header", "status")
_MESSAGE_FIELDS = ("message", "detail", "msg", "error_msg", "error_message", "status_msg", "error", "reason", "errmsg")
_STATUS_FIELDS = ("code", "status", "status_code", "http_status", "httpstatus")
_CODE_FIELDS = ("code", "type", "error_code", "__type")
_ANSWER_FIELDS = (
    "choices",
    "message",
    "response",
    "usage",
    "result",
    "data",
    "output",
    "candidates",
    "content",
    "delta",
)


def failure_in(value: Mapping[str, object]) -> ServerFailure | None:
    """The error in the value; None where the value has an answer."""
    # Clouds write the same names with capitals.
    lowered = {str(name).lower(): item for name, item in value.items()}
    if failure := _own_failure(lowered):
        return failure
    if any(lowered.get(name) for name in ("choices", "candidates")):
        return None
    for name in _ENVELOPES:
        inner = lowered.get(name)
        if is_object(inner) and (failure := _in_envelope(inner)):
            return failure
    return None


def failure_in_choice(choice: Mapping[str, object]) -> ServerFailure | None:
    """The error in place of one answer, or the reason for its end that says it broke off."""
    error = choice.get("error")
    if (is_object(error) or isinstance(error, str)) and error:
        return failure_in({"error": error})
    reason = choice.get("finish_reason") or choice.get("finishReason")
    if isinstance(reason, str) and reason.lower() in BROKEN_ENDS:
        return ServerFailure(reason)
    return None


def _own_failure(value: Mapping[str, object]) -> ServerFailure | None:
    error = next((value[name] for name in _ERROR_FIELDS if value.get(name)), None)
    if is_list(error):
        error = error[0] if error else None
    status = _status(value)
    if isinstance(error, str):
        return ServerFailure(_longer(error, value), status)
    if is_object(error):
        error = {str(name).lower(): item for name, item in error.items()}
        message = _text(error) or json.dumps(error, ensure_ascii=False)
        return ServerFailure(message, _status(error) or status, _code(error))
    has_answer = any(value.get(name) for name in ("choices", "message", "response", "usage"))
    says_error = value.get("object") == "error" or value.get("type") == "error"
    if says_error or (not has_answer and ("detail" in value or _is_error_code(value))):
        return ServerFailure(_text(value) or json.dumps(value, ensure_ascii=False), status, _code(value))
    is_only_told = not any(value.get(name) for name in _ANSWER_FIELDS if name != "message")
    if isinstance(value.get("message"), str) and "choices" not in value and is_only_told:
        return ServerFailure(str(value["message"]), status, _code(value))
    return None


def _in_envelope(inner: Mapping[str, object]) -> ServerFailure | None:
    """An error that is wrapped, or a status of its own beside its words that is not the one of success."""
    lowered = {str(name).lower(): item for name, item in inner.items()}
    if any(lowered.get(name) for name in _ERROR_FIELDS):
        return _own_failure(lowered)
    code = next((lowered[name] for name in ("status_code", "code") if name in lowered), None)
    is_failed = code not in (None, 0, "0", 200, "200", "", "ok", "OK")
    message = _text(lowered)
    return ServerFailure(message, _status(lowered), str(code)) if is_failed and message else None


def _longer(error: str, value: Mapping[str, object]) -> str:
    """The plain error, with the sentence beside it where there is one."""
    message = value.get("message")
    return f"{error}: {message}" if isinstance(message, str) and message != error else error


def _text(error: Mapping[str, object]) -> str:
    for name in _MESSAGE_FIELDS:
        value = error.get(name)
        if isinstance(value, str) and value:
            return value
        if is_object(value) and (text := _text(value)):
            return text
        if is_list(value) and value:
            return json.dumps(value, ensure_ascii=False)
    return ""


def _code(error: Mapping[str, object]) -> str:
    code = next((error[name] for name in _CODE_FIELDS if error.get(name)), "")
    return code if isinstance(code, str) else ""


def _status(error: Mapping[str, object]) -> int:
    for name in _STATUS_FIELDS:
        value = error.get(name)
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        if isinstance(value, int) and 400 <= value < 600:
            return value
    return 0


def _is_error_code(value: Mapping[str, object]) -> bool:
    return bool(_status(value)) or bool(value.get("error_code")) or bool(value.get("error_msg"))

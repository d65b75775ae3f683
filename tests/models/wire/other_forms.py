"""More forms of answers, each as the bytes of a response: what gateways, older servers and other protocols send."""

from __future__ import annotations

import json

from tests.models.wire.readings import Reading, chunk, said, sse

TEXT = Reading("Hello there.")
THINKING = Reading("Hello there.", "Let me see.")
CALL = Reading(calls=(("memory_get", {"path": "USER.md"}),))
MESSAGE = {"role": "assistant", "content": "Hello there."}
ARGUMENTS = '{"path": "USER.md"}'
UNFINISHED = sse(chunk({"content": "Hello"}), done=False)


def typed(*events: object, name: str = "") -> bytes:
    """Events under their own names, as protocols with named events send them."""
    rows: list[str] = []
    for event in events:
        kind = name or (str(event.get("type")) if isinstance(event, dict) else "")
        rows.append(f"event: {kind}\ndata: {event if isinstance(event, str) else json.dumps(event)}\n\n")
    return "".join(rows).encode()


def body(value: object) -> bytes:
    """One JSON value as the whole response."""
    return json.dumps(value).encode()


def called(name: str = "memory_get", arguments: object = ARGUMENTS, **more: object) -> bytes:
    """A stream with one call; parts of it in `more`."""
    function = {"name": name, "arguments": arguments}
    call: dict[str, object] = {"index": 0, "id": "call_abcdefghi1", "type": "function", "function": function}
    return sse(chunk({"tool_calls": [call | more]}), chunk({}, "tool_calls"))


PART: dict[str, object] = {"id": "call_abcdefghi1", "function": {"name": "memory_get", "arguments": ARGUMENTS}}
SIGNATURE = {"extra_content": {"google": {"thought_signature": "AA"}}}
MARKED = {"extra_content": {"google": {"thought": True}}}

ANSWERS: dict[str, tuple[bytes, Reading]] = {
    "Azure's filter beside the answer": (
        sse(
            {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
            chunk({"content": "Hello there."}),
            {"choices": [{"index": 0, "finish_reason": None, "content_filter_offsets": {"check_offset": 4}}]},
            chunk({}, "stop"),
        ),
        TEXT,
    ),
    "comments while it waits": (b": OPENROUTER PROCESSING\n\n" * 3 + sse(*said("Hello there.")), TEXT),
    "words that keep it alive": (b"data: keep-alive\n\n" + sse(*said("Hello there.")) + b"data: heartbeat\n\n", TEXT),
    "pings with a type": (typed({"type": "ping"}) + sse(*said("Hello there.")), TEXT),
    "the whole message behind its pieces": (
        sse(
            *said("Hello ", "there.")[:2],
            {"choices": [{"index": 0, "finish_reason": "stop", "message": MESSAGE}]},
        ),
        TEXT,
    ),
    "the whole message beside an empty delta": (
        sse(
            *said("Hello ", "there.")[:2],
            {"choices": [{"index": 0, "finish_reason": "stop", "delta": {"content": ""}, "message": MESSAGE}]},
        ),
        TEXT,
    ),
    "two values on one line": (
        f"data: {json.dumps(chunk({'content': 'Hello '}))}{json.dumps(chunk({'content': 'there.'}))}\n\n".encode()
        + sse(chunk({}, "stop")),
        TEXT,
    ),
    "two events on one line": (
        f"data: {json.dumps(chunk({'content': 'Hello '}))}data: {json.dumps(chunk({'content': 'there.'}))}\n\n".encode()
        + sse(chunk({}, "stop")),
        TEXT,
    ),
    "data twice": (sse(*said("Hello there.")).replace(b"data: ", b"data: data: "), TEXT),
    "blanks before data": (sse(*said("Hello there.")).replace(b"data:", b" data:"), TEXT),
    "a capital letter in data": (sse(*said("Hello there.")).replace(b"data:", b"Data:"), TEXT),
    "a byte order mark before each event": (
        b"".join(b"\xef\xbb\xbf" + event + b"\n\n" for event in sse(*said("Hello there.")).split(b"\n\n") if event),
        TEXT,
    ),
    "done in quotes": (sse(chunk({"content": "Hello there."}), '"[DONE]"', done=False), TEXT),
    "done in small letters": (sse(chunk({"content": "Hello there."}), "[done]", done=False), TEXT),
    "done without brackets": (sse(chunk({"content": "Hello there."}), "DONE", done=False), TEXT),
    "done without data": (sse(chunk({"content": "Hello there."}), done=False) + b"[DONE]\n", TEXT),
    "values as Python writes them": (sse(repr(chunk({"content": "Hello there."})), repr(chunk({}, "stop"))), TEXT),
    "numbers that JSON lacks": (
        sse(
            {
                "choices": [
                    {"index": 0, "delta": {"content": "Hello there."}, "logprobs": {"a": float("-inf")}},
                ]
            },
            chunk({}, "stop"),
        ),
        TEXT,
    ),
    "an index that is text": (
        sse({"choices": [{"index": "0", "delta": {"content": "Hello there."}, "finish_reason": "stop"}]}),
        TEXT,
    ),
    "an index that begins with 1": (
        sse({"choices": [{"index": 1, "delta": {"content": "Hello there."}, "finish_reason": "stop"}]}),
        TEXT,
    ),
    "answers under their numbers": (
        sse({"choices": {"0": {"delta": {"content": "Hello there."}, "finish_reason": "stop"}}}),
        TEXT,
    ),
    "a delta that is text": (sse({"choices": [{"index": 0, "delta": "Hello there."}]}, chunk({}, "stop")), TEXT),
    "text beside a delta": (
        sse({"choices": [{"text": "Hello there.", "delta": {"content": "Hello there."}}]}, chunk({}, "stop")),
        TEXT,
    ),
    "a message beside a delta": (
        sse({"choices": [{"message": MESSAGE, "delta": {"content": "Hello there."}}]}, chunk({}, "stop")),
        TEXT,
    ),
    "an answer in an envelope": (
        body(
            {"code": 0, "msg": "ok", "data": {"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]}}
        ),
        TEXT,
    ),
    "chunks in an envelope": (
        sse(*({"code": 200, "success": True, "result": row} for row in said("Hello there."))),
        TEXT,
    ),
    "success told in each chunk": (
        sse(*({"code": 0, "message": "Success", "sid": "x", **row} for row in said("Hello there."))),
        TEXT,
    ),
    "MiniMax's status of success": (
        sse(*({**row, "base_resp": {"status_code": 0, "status_msg": "success"}} for row in said("Hello there."))),
        TEXT,
    ),
    "DashScope's own": (
        sse({"output": {"choices": [{"message": MESSAGE, "finish_reason": "stop"}]}, "request_id": "x"}, done=False),
        TEXT,
    ),
    "DashScope's older one": (sse({"output": {"text": "Hello there.", "finish_reason": "stop"}}, done=False), TEXT),
    "Cloudflare's own stream": (sse({"response": "Hello "}, {"response": "there."}), TEXT),
    "Cloudflare's own answer": (body({"result": {"response": "Hello there."}, "success": True, "errors": []}), TEXT),
    "Anthropic's events": (
        typed(
            {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 3}}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello there."}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        ),
        TEXT,
    ),
    "Anthropic's thinking": (
        typed(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Let me see."}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "AA"}},
            {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Hello there."}},
            {"type": "message_stop"},
        ),
        THINKING,
    ),
    "events of the Responses protocol": (
        typed(
            {"type": "response.created", "response": {"status": "in_progress", "output": []}},
            {"type": "response.output_text.delta", "delta": "Hello "},
            {"type": "response.output_text.delta", "delta": "there."},
            {"type": "response.output_text.done", "text": "Hello there."},
            {"type": "response.completed", "response": {"status": "completed", "output": [{"type": "message"}]}},
        ),
        TEXT,
    ),
    "an answer of the Responses protocol": (
        body(
            {
                "object": "response",
                "status": "completed",
                "output": [
                    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Let me see."}]},
                    {"type": "message", "content": [{"type": "output_text", "text": "Hello there."}]},
                ],
            }
        ),
        THINKING,
    ),
    "Gemini's own stream": (
        sse(
            {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hello "}]}}]},
            {"candidates": [{"content": {"parts": [{"text": "there."}]}, "finishReason": "STOP"}]},
            done=False,
        ),
        TEXT,
    ),
    "chunks in one list": (body(said("Hello ", "there.")), TEXT),
    "Bedrock's own": (
        body({"output": {"message": {"role": "assistant", "content": [{"text": "Hello there."}]}}, "stopReason": "x"}),
        TEXT,
    ),
    "llama.cpp's own": (
        sse({"content": "Hello ", "stop": False}, {"content": "there.", "stop": False}, {"content": "", "stop": True}),
        TEXT,
    ),
    "tokens of TGI": (
        sse(
            {"token": {"id": 1, "text": "Hello ", "special": False}, "generated_text": None},
            {"token": {"id": 2, "text": "there."}, "generated_text": "Hello there."},
            done=False,
        ),
        TEXT,
    ),
    "tokens that are text": (
        typed({"token": "Hello "}, {"token": "there.", "finish_reason": "stop"}, name="message"),
        TEXT,
    ),
    "all that was generated": (body([{"generated_text": "Hello there."}]), TEXT),
    "Cohere's own": (
        typed(
            {"type": "content-delta", "delta": {"message": {"content": {"text": "Hello there."}}}},
            {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
        ),
        TEXT,
    ),
    "Llama's own": (
        sse(
            {"event": {"event_type": "progress", "delta": {"type": "text", "text": "Hello there."}}},
            {"event": {"event_type": "complete", "delta": {"type": "text", "text": ""}, "stop_reason": "stop"}},
        ),
        TEXT,
    ),
    "thinking that is an object": (
        sse(chunk({"reasoning": {"content": "Let me see."}}), *said("Hello there.")),
        THINKING,
    ),
    "thinking that is a list": (
        sse(chunk({"reasoning_content": [{"type": "text", "text": "Let me see."}]}), *said("Hello there.")),
        THINKING,
    ),
    "thinking beside the delta": (
        sse({"choices": [{"reasoning_content": "Let me see.", "delta": {"content": ""}}]}, *said("Hello there.")),
        THINKING,
    ),
    "thinking that Google marks": (sse(chunk({"content": "Let me see.", **MARKED}), *said("Hello there.")), THINKING),
    "thinking that Google marks twice": (
        sse(chunk({"content": "<thought>Let me see.", **MARKED}), *said("</thought>Hello there.")),
        THINKING,
    ),
    "thinking said again at the end": (
        sse(
            chunk({"reasoning_content": "Let me see."}),
            *said("Hello there.")[:1],
            {
                "choices": [
                    {"finish_reason": "stop", "message": {**MESSAGE, "reasoning_content": "Let me see."}},
                ]
            },
        ),
        THINKING,
    ),
}

CALLS: dict[str, bytes] = {
    "null for what comes later": sse(
        *(
            chunk({"tool_calls": [{"index": 0, "id": call_id, "function": {"name": name, "arguments": piece}}]})
            for call_id, name, piece in (
                ("c1", "memory_get", None),
                (None, None, ARGUMENTS[:5]),
                (None, None, ARGUMENTS[5:]),
            )
        ),
        chunk({}, "tool_calls"),
    ),
    "the end in the same chunk": sse(chunk({"tool_calls": [PART]}, "tool_calls")),
    "empty lists around it": sse(
        chunk({"content": "", "tool_calls": []}), chunk({"tool_calls": [PART]}), chunk({"tool_calls": None}, "stop")
    ),
    "an index from 1": called(index=1),
    "an index of -1": called(index=-1),
    "calls under their numbers": sse(chunk({"tool_calls": {"0": PART}}), chunk({}, "tool_calls")),
    "calls beside the delta": sse(
        {"choices": [{"index": 0, "delta": {}, "tool_calls": [PART], "finish_reason": "tool_calls"}]}
    ),
    "the whole message behind the call": sse(
        chunk({"tool_calls": [PART]}),
        {"choices": [{"message": {"content": None, "tool_calls": [{**PART, "id": "other"}]}, "finish_reason": "stop"}]},
    ),
    "a signature in a part of its own": sse(
        chunk({"tool_calls": [PART]}), chunk({"tool_calls": [SIGNATURE]}), chunk({}, "tool_calls")
    ),
    "a function that is text": sse(
        chunk({"tool_calls": [{"id": "c1", "function": json.dumps(PART["function"])}]}), chunk({}, "tool_calls")
    ),
    "a custom tool": sse(
        chunk({"tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "memory_get", "input": ARGUMENTS}}]}),
        chunk({}, "tool_calls"),
    ),
    "arguments in a fence": called(arguments=f"```json\n{ARGUMENTS}\n```"),
    "arguments with a tag behind": called(arguments=f"{ARGUMENTS}</tool_call>"),
    "arguments with a mark behind": called(arguments=f"{ARGUMENTS}<|im_end|>"),
    "arguments with a comma too many": called(arguments='{"path": "USER.md",}'),
    "arguments with a bracket too many": called(arguments=f"{ARGUMENTS}}}"),
    "arguments within arguments": called(arguments='{"arguments": {"path": "USER.md"}}'),
    "a call within the arguments": called(arguments='{"name": "memory_get", "arguments": {"path": "USER.md"}}'),
    "arguments within input, as text": called(arguments='{"input": "{\\"path\\": \\"USER.md\\"}"}'),
    "an empty object and the real one at once": called(arguments="{}" + ARGUMENTS),
    "a name behind functions": called("functions.memory_get"),
    "a name behind default_api": called("default_api.memory_get"),
    "a name behind a colon": called("default_api:memory_get"),
    "a name with a number": called("functions.memory_get:0"),
    "a name with a channel": called("memory_get<|channel|>commentary"),
    "a name with blanks": called(" memory_get\n"),
    "a name with brackets": called("memory_get()"),
    "a name in other letters": called("Memory_Get"),
    "a name with a dash": called("memory-get"),
    "Anthropic's tool use": typed(
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "toolu_1", "name": "memory_get", "input": {}},
        },
        *(
            {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": piece}}
            for piece in (ARGUMENTS[:6], ARGUMENTS[6:])
        ),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    ),
    "a call of the Responses protocol": typed(
        {
            "type": "response.output_item.done",
            "item": {
                "type": "function_call",
                "id": "f1",
                "call_id": "c1",
                "name": "memory_get",
                "arguments": ARGUMENTS,
            },
        },
        {"type": "response.completed", "response": {"status": "completed"}},
    ),
    "Gemini's own call": sse(
        {
            "candidates": [
                {
                    "content": {"parts": [{"functionCall": {"name": "memory_get", "args": {"path": "USER.md"}}}]},
                    "finishReason": "STOP",
                }
            ]
        },
        done=False,
    ),
}

FAILURES: dict[str, tuple[bytes, str]] = {
    "an error in place of one answer": (
        sse({"choices": [{"delta": {}, "error": {"code": 502, "message": "Idle timeout"}, "finish_reason": "error"}]}),
        "Idle timeout",
    ),
    "an error beside an answer": (
        sse({"choices": [{"delta": {"content": ""}, "finish_reason": "error"}], "error": {"message": "Disconnected"}}),
        "Disconnected",
    ),
    "an error event": (typed({"message": "The model has crashed"}, name="error"), "The model has crashed"),
    "an error event in plain words": (typed("The model has crashed", name="error"), "The model has crashed"),
    "an error event behind words": (UNFINISHED + typed("out of memory", name="error"), "out of memory"),
    "TGI's error": (
        sse({"error": "Request failed during generation", "error_type": "generation"}, done=False),
        "Request failed during generation",
    ),
    "Ollama's error": (b'{"error":"model runner has stopped"}\n', "model runner has stopped"),
    "Cloudflare's error": (
        body({"result": None, "success": False, "errors": [{"code": 7009, "message": "Upstream is away"}]}),
        "Upstream is away",
    ),
    "Gemini's error in a list": (body([{"error": {"code": 400, "message": "API key not valid"}}]), "API key not valid"),
    "MiniMax's status": (
        body({"choices": None, "base_resp": {"status_code": 1004, "status_msg": "login fail"}}),
        "login fail",
    ),
    "Tencent's error": (body({"Response": {"Error": {"Code": "A", "Message": "No such key"}}}), "No such key"),
    "Hunyuan's error": (
        sse({"ErrorMsg": {"Msg": "content is sensitive", "Code": 4001}}, done=False),
        "content is sensitive",
    ),
    "Volcengine's error": (body({"ResponseMetadata": {"Error": {"Message": "No such endpoint"}}}), "No such endpoint"),
    "AWS's message": (body({"Message": "User is not authorized", "__type": "AccessDenied"}), "User is not authorized"),
    "a status of error": (body({"status": "error", "message": "Try again"}), "Try again"),
    "no success": (body({"success": False, "message": "Key expired"}), "Key expired"),
    "plain words": (b"Rate limit exceeded, come back tomorrow\n", "Rate limit exceeded, come back tomorrow"),
    "plain words as an event": (b"data: upstream connect error\n\n", "upstream connect error"),
    "an end by a network error": (UNFINISHED + sse(chunk({}, "network_error")), "network_error"),
    "an end for want of machines": (
        UNFINISHED + sse(chunk({}, "insufficient_system_resource")),
        "insufficient_system_resource",
    ),
    "an end by an error": (UNFINISHED + sse(chunk({}, "error")), "error"),
    "a failed answer of the Responses protocol": (
        typed({"type": "response.failed", "response": {"error": {"code": "x", "message": "It fell over"}}}),
        "It fell over",
    ),
}

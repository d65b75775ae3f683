"""The strict provider refuses what real ones refuse, and its players answer from the request alone."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import pytest

from tests.fakes.players import NOTHING_FOUND, Quality, RuleBasedPlayer, SequencePlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import Reply, ReplyCall

Wire = Mapping[str, Any]
"""A JSON object as it goes over the wire."""

SYSTEM: Wire = {"role": "system", "content": "You help."}
USER: Wire = {"role": "user", "content": "Hello"}


def call(call_id: str, arguments: str = "{}") -> Wire:
    return {"id": call_id, "type": "function", "function": {"name": "Bash", "arguments": arguments}}


def asks(*calls: Wire) -> Wire:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def result(call_id: str, text: str = "done") -> Wire:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def tool(name: str) -> Wire:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}


def post(provider: StrictProvider, messages: Sequence[Wire], **more: object) -> httpx.Response:
    body = {"model": "strict-7b", "messages": messages, **more}
    return httpx.post(f"{provider.base_url}/chat/completions", json=body, trust_env=False)


def say(provider: StrictProvider, messages: Sequence[Wire], **more: object) -> Wire:
    response = post(provider, messages, **more)
    assert response.status_code == 200, response.text
    return response.json()["choices"][0]["message"]


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        pytest.param([], "too short", id="no messages"),
        pytest.param([SYSTEM], "No user query", id="no user message"),
        pytest.param([USER, SYSTEM, USER], "must be at the beginning", id="system message in the middle"),
        pytest.param([{"role": "user", "content": ""}], "non-empty content", id="empty text"),
        pytest.param([{"role": "user", "content": [{"type": "text", "text": " "}]}], "non-empty", id="empty part"),
        pytest.param([USER, {"role": "assistant", "content": None}, USER], "got null", id="null without calls"),
        pytest.param([USER, {"role": "assistant", "content": "Hi"}], "Expected last role", id="assistant last"),
        pytest.param([USER, result("a")], "must be a response to a preceeding", id="result without call"),
        pytest.param([USER, asks(call("a"))], "did not have response messages: a", id="call without result"),
        pytest.param([USER, asks(call("a")), USER], "did not have response messages: a", id="user before the result"),
        pytest.param([USER, asks(call("a")), result("a"), result("a")], "preceeding", id="two results of one call"),
        pytest.param([USER, asks(call("a"), call("a")), result("a")], "Duplicate value", id="one id twice in a reply"),
        pytest.param(
            [USER, asks(call("a")), result("a"), asks(call("a")), result("a")], "Duplicate value", id="one id twice"
        ),
        pytest.param([USER, asks(call("a", '{"x": ')), result("a")], "JSON format", id="arguments cut off"),
        pytest.param([USER, asks(call("a")), result("a", "")], "non-empty content", id="empty result"),
    ],
)
def test_a_malformed_request_is_refused_with_the_words_of_a_provider(messages: Sequence[Wire], reason: str):
    with StrictProvider(SequencePlayer()) as provider:
        response = post(provider, messages)

    assert response.status_code == 400
    assert reason in response.json()["error"]["message"]
    assert [refusal.message for refusal in provider.malformed] == [response.json()["error"]["message"]]


def test_parallel_calls_with_their_results_are_fine():
    with StrictProvider(SequencePlayer(Reply(text="Both ran."))) as provider:
        messages = [SYSTEM, USER, asks(call("a"), call("b")), result("b"), result("a")]
        assert say(provider, messages) == {"role": "assistant", "content": "Both ran."}

    assert provider.malformed == []


def test_a_request_over_the_window_is_refused_and_counted_apart():
    with StrictProvider(SequencePlayer(), window_tokens=100) as provider:
        error = post(provider, [{"role": "user", "content": "word " * 200}]).json()["error"]

    assert error["code"] == "context_length_exceeded"
    assert error["message"].startswith("This model's maximum context length is 100 tokens.")
    assert (provider.malformed, provider.overflows) == ([], 1)


def test_a_stream_brings_thinking_text_fragments_of_calls_and_usage():
    reply = Reply(thinking="Hm, let me see.", text="I look.", calls=(ReplyCall("Bash", {"command": "ls"}),) * 2)
    with StrictProvider(SequencePlayer(reply), chunk_chars=4, usage_factor=2.0) as provider:
        response = post(provider, [USER], stream=True, stream_options={"include_usage": True}, tools=[tool("Bash")])

    lines = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    chunks = [json.loads(line) for line in lines[:-1]]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]]
    calls = [delta["tool_calls"][0] for delta in deltas if "tool_calls" in delta]
    assert lines[-1] == "[DONE]"
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == "Hm, let me see."
    assert "".join(delta.get("content", "") for delta in deltas) == "I look."
    assert [entry["id"] for entry in calls if "id" in entry] == ["call_0", "call_1"]
    assert "".join(entry["function"]["arguments"] for entry in calls if entry["index"] == 1) == '{"command": "ls"}'
    assert chunks[-1]["usage"]["prompt_tokens"] == provider.log[0].tokens


def test_a_gate_holds_the_stream_after_the_first_words():
    gate = threading.Event()
    with StrictProvider(SequencePlayer(Reply(text="Now the end.", gate=gate)), chunk_chars=4) as provider:
        body = {"model": "strict-7b", "messages": [USER], "stream": True}
        with httpx.stream("POST", f"{provider.base_url}/chat/completions", json=body, trust_env=False) as response:
            lines = (line for line in response.iter_lines() if line)
            assert ["assistant" in next(lines), "Now " in next(lines)] == [True, True]
            gate.set()
            assert any("end." in line for line in lines)


def test_the_list_of_models_reports_the_window_and_the_key_is_asked_for():
    with StrictProvider(SequencePlayer(), window_tokens=16_000, api_key="right") as provider:
        wrong = httpx.get(f"{provider.base_url}/models", trust_env=False)
        headers = {"Authorization": "Bearer right"}
        models = httpx.get(f"{provider.dashscope_url}/models", headers=headers, trust_env=False).json()["data"]

    assert wrong.status_code == 401
    assert [(model["id"], model["max_model_len"]) for model in models] == [("strict-7b", 16_000)]


def test_a_summary_has_the_headings_asked_for_and_only_lines_of_the_request():
    system = {"role": "system", "content": "Your summary will stand in their place."}
    request = """# conversation
<conversation>
[2026-11-30 09:15] user: We decided to move to Lisbon in May. ## Not a heading
[2026-11-30 09:16] assistant: Nice!
[2026-11-30 09:17] tool result: My results are not yours.
</conversation>
<previous-summary>
## Goal
- My dog is called Pixel.
## Key decisions
- (none)
</previous-summary>
# task
## Goal
What the person wants.

## Key decisions
What was decided."""
    with StrictProvider(RuleBasedPlayer()) as provider:
        text = say(provider, [system, {"role": "user", "content": request}])["content"]

    assert text == "## Goal\n- My dog is called Pixel.\n\n## Key decisions\n- We decided to move to Lisbon in May."


PREVIOUS = "## Goal\n- Plan the trip.\n\n## Constraints and preferences\n- I never fly.\n\n## Key context\n(none)"
UPDATE = """# conversation
<conversation>
[2026-11-30 09:15] user: My aunt lives in Kyoto. Shall we go?
[2026-11-30 09:16] assistant: I have no idea.
[2026-11-30 09:17] tool result: the file is there
</conversation>

# previous-summary
<previous-summary>
{previous}
</previous-summary>

# task
Keep what is there.

## Goal
What the person wants.

## Constraints and preferences
Rules that were stated.

## Key context
Facts. The whole summary may have at most 400 tokens.
"""


@pytest.mark.parametrize(
    ("quality", "text"),
    [
        (
            "good",
            "## Goal\n- Plan the trip.\n\n## Constraints and preferences\n- I never fly.\n\n"
            "## Key context\n- My aunt lives in Kyoto.",
        ),
        ("lossy", "## Goal\n- (none)\n\n## Constraints and preferences\n- (none)\n\n## Key context\n- (none)"),
        ("failing", "I would rather not."),
    ],
)
def test_a_summary_is_as_good_as_asked_for(quality: Quality, text: str):
    system = {"role": "system", "content": "Your summary will stand in their place."}
    with StrictProvider(RuleBasedPlayer(quality=quality)) as provider:
        said = say(provider, [system, {"role": "user", "content": UPDATE.format(previous=PREVIOUS)}])["content"]

    assert said == text


def test_neither_instructions_nor_own_answers_are_facts_to_answer_from():
    system = {
        "role": "system",
        "content": 'The museum opens when you say so.\n<file path="MEMORY.md">\n- The museum opens at ten.\n</file>',
    }
    history = [
        {"role": "user", "content": "Hello there."},
        {"role": "assistant", "content": "The museum opens when the museum opens."},
        {"role": "user", "content": "When does the museum open? It opens late, doesn't it?"},
    ]
    with StrictProvider(RuleBasedPlayer()) as provider:
        assert say(provider, [system, *history])["content"] == "The museum opens at ten."


def test_a_flush_adds_what_the_person_told_once_and_nothing_known():
    system = {"role": "system", "content": "Keep what lasts."}
    request = """Today is 2026-11-30.
<memory-file name="USER.md">
- I like oolong.
</memory-file>
<conversation>
[2026-11-30 09:15] user: I prefer green tea. I like oolong.
My sister lives in Oslo.
[2026-11-30 09:16] assistant: I am glad that you told me.
[2026-11-30 09:17] user: We decided to paint the hall.
</conversation>"""
    history = {"role": "user", "content": request}
    tools = [tool("read"), tool("add_lines")]
    with StrictProvider(RuleBasedPlayer()) as provider:
        message = say(provider, [system, history], tools=tools)
        results = [result(entry["id"]) for entry in message["tool_calls"]]
        end = say(provider, [system, history, message, *results], tools=tools)

    assert [json.loads(entry["function"]["arguments"]) for entry in message["tool_calls"]] == [
        {"file": "USER.md", "heading": "Preferences", "lines": ["I prefer green tea."]},
        {
            "file": "MEMORY.md",
            "heading": "Facts",
            "lines": ["My sister lives in Oslo.", "We decided to paint the hall."],
        },
    ]
    assert end["content"] == "NO_REPLY"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is my dog called?", "My dog is called Pixel."),
        ("我的狗叫什么名字？", "我的狗名字是旺财。"),
        ("Who won the chess final?", NOTHING_FOUND),
    ],
)
def test_an_answer_is_the_sentence_of_the_request_that_shares_most_words(question: str, answer: str):
    history = [
        {"role": "user", "content": "My dog is called Pixel. 我的狗名字是旺财。"},
        {"role": "assistant", "content": "Noted."},
    ]
    with StrictProvider(RuleBasedPlayer()) as provider:
        assert say(provider, [SYSTEM, *history, {"role": "user", "content": question}])["content"] == answer


def test_an_order_in_the_system_prompt_is_obeyed():
    system = {"role": "system", "content": "# SOUL\nBegin every answer with: Ahoy!"}
    with StrictProvider(RuleBasedPlayer()) as provider:
        assert say(provider, [system, USER])["content"] == f"Ahoy! {NOTHING_FOUND}"


def test_a_task_takes_its_steps_and_ends_even_when_earlier_ones_are_folded_away():
    task = {"role": "user", "content": "Do the 3-step shell task, please."}
    messages: Sequence[Wire] = [SYSTEM, task]
    with StrictProvider(RuleBasedPlayer(), call_ids="unique") as provider:
        for _ in range(3):
            step = say(provider, messages, tools=[tool("Bash")])
            # Only the newest step stays in the context.
            messages = [SYSTEM, task, step, result(step["tool_calls"][0]["id"], "ok")]
        end = say(provider, messages, tools=[tool("Bash")])

    assert end["content"] == "All 3 steps are done. The last line was: ok"
    assert provider.malformed == []

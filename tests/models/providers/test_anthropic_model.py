"""What only Anthropic's API has: signatures, marks for the cache, limits by model; and its lesser speakers."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import pytest

from assistant.errors import ModelError
from assistant.messages.blocks import AssistantMsg, Msg, SystemMsg, ThinkingBlock, UserMsg, block_text
from assistant.models.providers.anthropic_model import AnthropicModel
from assistant.models.providers.carried_notes import notes_of
from tests.fakes.anthropic_server import AnthropicServer
from tests.fakes.wire import Reply, ReplyCall
from tests.models.providers.asking import QUESTION, SCHEMA, all_chunks, ask_it_and_another, shown


def model_at(server: AnthropicServer, name: str = AnthropicServer.MODEL, key: str | None = None) -> AnthropicModel:
    """The model of a server."""
    return AnthropicModel(name, server.address, server.key if key is None else key, server.window_tokens, 16_000)


async def ask(server: AnthropicServer, *messages: Msg) -> list[tuple[str, str]]:
    """What is shown of one answer."""
    model = model_at(server)
    chunks = await all_chunks(model, list(messages or (QUESTION,)))
    await model.close()
    return shown(list(chunks[-1].content))


async def test_the_prompt_and_what_was_said_before_are_read_from_the_cache() -> None:
    messages: list[Msg] = [SystemMsg("system", "Rules. " * 400), UserMsg("user", "First question. " * 50)]
    with AnthropicServer(Reply(text="One."), Reply(text="Two."), Reply(text="Three.")) as server:
        model = model_at(server)
        counted: list[tuple[int, int]] = []
        for number in ("second", "third", "fourth"):
            usage = (await all_chunks(model, messages, [SCHEMA]))[-1].usage
            assert usage is not None
            counted.append((usage.input_tokens, usage.cache_input_tokens))
            messages += [AssistantMsg("palimpsest", "So it is."), UserMsg("user", f"The {number} question. " * 50)]
        await model.close()

    whole = [tokens for tokens, _ in counted]
    assert [read for _, read in counted] == [0, whole[0], whole[1]]
    assert whole[0] > 900


async def test_a_thought_goes_back_with_its_signature_to_the_model_it_came_from_alone() -> None:
    step = Reply(thinking="A sum.", calls=(ReplyCall("add", {"first": 1, "second": 2}),))
    with AnthropicServer(step, Reply(text="Fine."), Reply(text="Fine.")) as server:
        await ask_it_and_another(model_at(server), model_at(server))

    assert server.malformed == []
    sent = [json.dumps(entry.body["messages"]) for entry in server.log[1:]]
    assert ["A sum." in text and "signature" in text for text in sent] == [True, False]


async def test_a_thought_that_the_mask_changes_or_the_server_refuses_is_left_out() -> None:
    thought = ThinkingBlock.model_validate({"thinking": "The word is sesame.", "signature": "stale"})
    with AnthropicServer(Reply(text="Fine."), Reply(text="Fine.")) as server:
        model = model_at(server)
        setattr(thought, "origin", model._line.origin)  # noqa: B010 - a field of ours beside those of the class
        history = [QUESTION, AssistantMsg("palimpsest", [thought, *AssistantMsg("a", "Hm.").content]), QUESTION]
        chunks = await all_chunks(model, list(history))
        model.hide(lambda content: content.replace(b"sesame", b"(masked)"))
        model._refused_thoughts.clear()
        await all_chunks(model, list(history))
        await model.close()

    assert shown(list(chunks[-1].content)) == [("text", "Fine.")]
    assert len(server.malformed) == 1 and "Invalid `signature`" in server.malformed[0]
    assert "sesame" not in json.dumps(server.log[-1].body)


async def test_a_model_without_adaptive_thinking_and_with_a_lower_limit_is_asked_as_it_takes_it() -> None:
    with AnthropicServer(Reply(text="Hello."), takes_adaptive=False, max_output_tokens=9_000) as server:
        assert await ask(server) == [("text", "Hello.")]

    assert len(server.log) == 3
    assert "thinking" not in server.log[-1].body
    assert server.log[-1].body["max_tokens"] == 9_000


@pytest.mark.parametrize("split_bytes", [0, 1])
async def test_events_without_their_names_are_read(split_bytes: int) -> None:
    with AnthropicServer(Reply(thinking="Hm.", text="你好。"), sends_names=False, split_bytes=split_bytes) as server:
        assert await ask(server) == [("thinking", "Hm."), ("text", "你好。")]


class Overloaded(AnthropicServer):
    """A server that is overloaded behind the first `after` events of its first answer."""

    after = 2

    def events(self, reply: Reply, body: dict[str, object]) -> Iterator[bytes]:
        """The answer, the first time with an error in its place."""
        whole = super().events(reply, body)
        if len(self.log) > 1:
            return whole
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        return iter([*itertools.islice(whole, self.after), self._event(error)])


async def test_an_overload_before_any_word_is_asked_again() -> None:
    with Overloaded(Reply(text="Lost."), Reply(text="Hello.")) as server:
        assert await ask(server) == [("text", "Hello.")]


async def test_an_overload_in_the_middle_of_an_answer_is_told() -> None:
    with Overloaded(Reply(text="Hello there, you.")) as server:
        server.after = 4
        with pytest.raises(ModelError, match=r"has a problem of its own \(HTTP 529\)\. Try again: Overloaded"):
            await ask(server)


async def test_a_refusal_to_answer_is_told() -> None:
    with AnthropicServer(Reply(text="I ca", error_code="refusal")) as server:
        model = model_at(server)
        chunks = await all_chunks(model, [QUESTION])
        await model.close()

    assert any(notes_of(chunk).is_filtered for chunk in chunks)


async def test_a_server_of_this_machine_needs_no_key() -> None:
    with AnthropicServer(Reply(text="Hello.")) as server:
        server.key = "none"
        model = model_at(server, key="")
        assert await model.why_unavailable() == ""
        assert block_text((await all_chunks(model, [QUESTION]))[-1].content[0]) == "Hello."
        await model.close()


async def test_a_limit_that_wants_too_long_a_wait_is_told_at_once() -> None:
    with AnthropicServer(Reply(status=429, text="This request would exceed your rate limit.")) as server:
        server.wait_seconds = 90
        model = model_at(server)
        with pytest.raises(ModelError, match="limits how much may be asked at the moment"):
            await model([QUESTION])
        await model.close()

    assert len(server.log) == 1

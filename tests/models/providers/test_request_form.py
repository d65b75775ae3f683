"""Whatever a conversation holds, it is sent in a form that the strictest provider takes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assistant.messages.blocks import (
    AssistantMsg,
    HintBlock,
    Msg,
    SystemMsg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from assistant.models.providers.call_ids import fresh_call_id
from assistant.models.providers.request_form import (
    TidyDashScopeFormatter,
    TidyOpenAIFormatter,
    tidy_messages,
    with_messages,
)
from assistant.models.wire.request_parts import merge_roles
from tests.fakes.strictness import refuse_malformed

TEXTS = st.sampled_from(["", " ", "\n", "word", "多么好", '{"a": 1}', "two\nlines"])
ARGUMENTS = st.sampled_from(["{}", '{"a": 1}', "", '{"a": ', "[]", "null", '"text"'])
AnyBlock = TextBlock | ThinkingBlock | HintBlock | ToolCallBlock | ToolResultBlock


@st.composite
def steps(draw: st.DrawFn) -> list[AnyBlock]:
    """The blocks of one step: thinking, text, calls with all their results."""
    blocks: list[AnyBlock] = []
    if draw(st.booleans()):
        blocks.append(ThinkingBlock(thinking=draw(TEXTS)))
    if draw(st.booleans()):
        blocks.append(TextBlock(text=draw(TEXTS)))
    calls = [
        ToolCallBlock(id=fresh_call_id(), name="Bash", input=arguments)
        for arguments in draw(st.lists(ARGUMENTS, max_size=3))
    ]
    results = [
        ToolResultBlock(id=call.id, name="Bash", output=draw(TEXTS), state=ToolResultState.SUCCESS) for call in calls
    ]
    return [*blocks, *calls, *results]


@st.composite
def conversations(draw: st.DrawFn) -> list[Msg]:
    """A system prompt, then turns of which some are cut short."""
    messages: list[Msg] = [SystemMsg("system", "You help.")]
    for _ in range(draw(st.integers(1, 4))):
        messages.append(UserMsg("a person", draw(TEXTS) + "?"))
        blocks = [block for step in draw(st.lists(steps(), max_size=3)) for block in step]
        messages.append(AssistantMsg("palimpsest", blocks))
    return messages


@given(conversations())
async def test_every_conversation_is_sent_in_a_form_that_is_accepted(messages: list[Msg]):
    for formatter in (TidyOpenAIFormatter(), TidyDashScopeFormatter()):
        wire = await formatter.format(messages)
        assert refuse_malformed({"model": "m", "messages": wire}) is None
        assert tidy_messages(wire) == wire


@given(conversations())
async def test_merged_roles_lose_no_word_and_stay_acceptable(messages: list[Msg]):
    wire = await TidyOpenAIFormatter().format(messages)
    merged = merge_roles(wire)

    assert refuse_malformed({"model": "m", "messages": merged}) is None
    assert "\n\n".join(str(row["content"]) for row in merged) == "\n\n".join(str(row["content"]) for row in wire)
    assert merge_roles(merged) == merged


async def test_a_hint_goes_as_a_message_of_the_user():
    messages = [
        UserMsg("user", "Which tea?"),
        AssistantMsg("palimpsest", [HintBlock(hint="<recalled>oolong</recalled>")]),
    ]

    assert await TidyOpenAIFormatter().format(messages) == [
        {"role": "user", "content": "Which tea?"},
        {"role": "user", "content": "<recalled>oolong</recalled>"},
    ]


def test_a_picture_stays_a_part_beside_its_text():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    content = [{"type": "text", "text": "Look"}, {"type": "text", "text": " "}, picture]

    assert tidy_messages([{"role": "user", "name": "a person", "content": content}]) == [
        {"role": "user", "content": [{"type": "text", "text": "Look"}, picture]}
    ]


def test_messages_go_in_the_extra_body_beside_what_else_stands_there():
    wire: list[dict[str, object]] = [{"role": "user", "content": "Hello"}]

    assert with_messages({}, wire) == {"extra_body": {"messages": wire}}
    assert with_messages({"top_p": 0.5, "extra_body": {"top_k": 3}}, wire) == {
        "top_p": 0.5,
        "extra_body": {"top_k": 3, "messages": wire},
    }

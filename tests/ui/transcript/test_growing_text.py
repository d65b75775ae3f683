"""A text that grows is drawn block by block, and ends as it would have been drawn whole."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.ui.transcript.growing_text import GrowingText, grown, whole

ANSWER = r"""# Title

Intro **bold** and `code` and $x^2$ and [docs](https://x.org/a_(b)).
More [later][1].

1. Make the file:
   ```html
   <div class="a">
   ```
2. Then run ``a ` b``.

```python
def f(x):
    return "a"

# done
```

| a | b |
|---|--:|
| 1 | 2 |

$$
a

+ b
$$

> A quote
> with **two** lines

- [ ] to do
- [x] done, well

[1]: https://y.org
"""
PIECES = st.sampled_from(
    [*"a|$`*é𝒳", "\n", "\n\n", "b c", "**", "```", "```py\n", "$$", "- ", "1. ", "> ", "|-|", "[x](", "](", ")", "  "]
    + ["    ", "# ", "\\(", "\\)", "~~", "~~~\n", "http://x.org", "[1]: http://y.org\n", "<b>"]
)


def states_of(text: str, step: int = 1) -> list[GrowingText]:
    """Each state of the text while it is written."""
    state, states = GrowingText(), list[GrowingText]()
    for length in range(step, len(text) + step, step):
        state = grown(state, text[:length])
        states.append(state)
    return states


def test_no_half_mark_is_ever_seen() -> None:
    for state in states_of(ANSWER):
        seen = html.unescape(re.sub(r"<code>.*?</code>|<[^>]*>", "", "".join(state.blocks), flags=re.DOTALL))
        assert not re.search(r"\*\*|`|~~|\](?=\()|\$\$|\\\(", seen), seen[-80:]


@pytest.mark.parametrize("step", [1, 7, 40])
def test_what_streamed_is_what_stays(step: int) -> None:
    ended = whole(ANSWER)
    last = states_of(ANSWER, step)[-1]
    assert len(last.blocks) == len(ended.blocks)
    differing = [new for old, new in zip(last.blocks, ended.blocks, strict=True) if old != new]
    # Only the link whose address came behind it.
    assert len(differing) == 1
    assert "https://y.org" in differing[0]


def test_a_settled_block_is_the_same_object_ever_after() -> None:
    states = states_of(ANSWER, 5)
    for before, after in zip(states, states[1:], strict=False):
        assert all(old is new for old, new in zip(before.settled, after.settled, strict=False))
        assert len(after.settled) >= len(before.settled)


def test_open_code_has_no_colours_and_gets_them_when_it_is_whole() -> None:
    opened = grown(GrowingText(), "```python\ndef f():\n    pas")
    assert opened.blocks == ('<figure data-language="python"><pre><code>def f():\n    pas</code></pre></figure>',)
    assert 'class="t-k"' in grown(opened, "```python\ndef f():\n    pass\n```\n\nnext\n").blocks[0]


def test_another_text_in_its_place_is_drawn_anew() -> None:
    first = grown(GrowingText(), "one\n\ntwo\n\nthree")
    assert grown(first, "other").blocks == ("<p>other</p>\n",)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_the_last_state_of_any_text_has_what_the_whole_has(text: str) -> None:
    for state in states_of(text, 3):
        assert isinstance(state.blocks, tuple)
    # Once everything before is settled, a definition that came late is the only thing that may differ.
    if "]: " not in text:
        settled = states_of(text, 3)[-1].settled if text else ()
        assert settled == whole(text).blocks[: len(settled)]

"""The allow-list."""

from __future__ import annotations

import pytest

from assistant.ui.transcript.cleaning import cleaned


@pytest.mark.parametrize(
    ("made", "left"),
    [
        ('<p class="p-card" id="x" style="color:red" onclick="y">a</p>', "<p>a</p>"),
        ("<button>a</button>", "a"),
        ('<form action="/x"><input name="y"><select><option>z</option></select></form>', "z"),
        ("<script>alert(1)</script><style>*{}</style>b", "b"),
        ('<img src="x" onerror="y">', ""),
        ('<a href="javascript:x">a</a>', '<a rel="noopener noreferrer">a</a>'),
        ('<span class="t-k p-card">a</span>', '<span class="t-k">a</span>'),
        ('<div class="m-table p-pane">a</div>', '<div class="m-table">a</div>'),
        ("<iframe src=x></iframe><svg><a>b</a></svg>c", "c"),
        ("<math><mtext><img src=x onerror=y></mtext></math>", "<math><mtext></mtext></math>"),
        ("<details open><summary>a</summary></details>", "a"),
        ("<!-- c -->d", "d"),
    ],
)
def test_what_is_not_on_the_list_goes(made: str, left: str) -> None:
    assert cleaned(made) == left

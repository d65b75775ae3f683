"""A text falls into sentences that are known by what they say, in both languages; marks leave the rest as it was."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assistant.text.passages import FORGOTTEN_MARK, Fit, PassageSet, Wanted, key_of, passages_of


def keys(text: str) -> list[str]:
    """What the sentences of a text say."""
    return [passage.key for passage in passages_of(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Zürich. My cat is Momo!  Are you there?", ["i live in zürich", "my cat is momo", "are you there"]),
        ("我住在苏黎世。电话是 555-0142！你好吗？好", ["我住在苏黎世", "电话是 555-0142", "你好吗", "好"]),
        ("我住在 Zürich.然后呢?好", ["我住在 zürich.然后呢", "好"]),
        ("- likes **tea**\n2. drinks  water\n> quoted", ["likes **tea", "drinks water", "quoted"]),
        ("+- added\n-- removed\n @@ -1 +1 @@", ["added", "removed", "@@ -1 +1"]),
        ("user: I see Dr. Weber on 3. May at St. Anna. Good.", ["i see dr. weber on 3. may at st. anna", "good"]),
        ("It costs 3.50 francs, e.g. at Migros.", ["it costs 3.50 francs, e.g. at migros"]),
        ("“Call me Ada.” she said", ["call me ada", "she said"]),
        ("C++ and C#\nI speak ＦＵＬＬ width", ["c++ and c#", "i speak full width"]),
        (f"- {FORGOTTEN_MARK} My cat is Momo.", ["my cat is momo"]),
        (" \n\n", []),
    ],
)
def test_a_text_falls_into_sentences(text: str, expected: list[str]) -> None:
    assert keys(text) == expected


@pytest.mark.parametrize(
    ("wanted", "text", "expected"),
    [
        ("zürich", "I live in Zürich.", "exact"),
        ("Ann", "Annual report", None),
        ("Ann", "Call Ann today", "exact"),
        ("苏黎世", "我住在苏黎世市中心", "exact"),
        ("Zürich", "我住在Zürich市", "exact"),
        ("phone of Anna", "Anna gave me the phone of hers", "words"),
        ("phone of Anna", "Anna called", None),
        ("I live in Zürich. My cat is Momo.", "My cat is Momo", "exact"),
        ("5", "He is 5 today", "exact"),
    ],
)
def test_what_a_person_types_fits_a_sentence(wanted: str, text: str, expected: Fit | None) -> None:
    assert Wanted(wanted).fit(key_of(text)) == expected
    assert expected is None or Wanted(wanted).touches(json.dumps(text, ensure_ascii=False))


def test_only_the_sentence_goes_and_the_rest_of_the_message_stays() -> None:
    message = "Hi there!\n\n- My phone is 555-0142. I like tea.\n我住在苏黎世。我喜欢茶。"
    marked = PassageSet({"my phone is 555-0142", "我住在苏黎世"}).mark(message)
    assert marked.text == "Hi there!\n\n- ⟦forgotten⟧ I like tea.\n⟦forgotten⟧我喜欢茶。"
    assert marked.count == 2


def test_a_line_that_held_nothing_else_leaves_the_file() -> None:
    text = (
        "## About\n\n- My phone is 555-0142.\n- My phone is 555-0142. I like tea.\n- I like tea. my PHONE is 555-0142\n"
    )
    removed = PassageSet({"my phone is 555-0142"}).remove(text)
    assert removed.text == "## About\n\n- I like tea.\n- I like tea. \n"
    assert removed.count == 3


def test_what_is_no_prose_any_more_is_marked_word_by_word() -> None:
    marked = PassageSet({"my phone is 555-0142", "my phone is 555-0142 at home"}).mark_raw(
        '{"a":"My  phone is 555-0142'
    )
    assert marked == type(marked)('{"a":"⟦forgotten⟧', 1)


@pytest.mark.parametrize("text", ["My phone is 555…", "…number is 555-0142 or so"])
def test_a_piece_that_a_cut_left_goes_too(text: str) -> None:
    held = PassageSet({"my phone is 555-0142", "the number is 555-0142 or so"})
    assert held.touches(text)
    assert held.mark(text).text == FORGOTTEN_MARK


def test_a_character_that_json_writes_as_a_number_is_looked_at() -> None:
    assert PassageSet({"我住在苏黎世"}).touches(json.dumps({"x": "我住在苏黎世。"}))


@pytest.mark.parametrize("written", ["My ｐｈｏｎｅ is ５５５-0142", "Zu\u0308rich ﬁnds phone is 555", "phone is 555"])
def test_a_letter_in_another_form_is_looked_at(written: str) -> None:
    assert Wanted("phone is 555").touches(written)
    assert PassageSet({"zürich"}).touches("Zu\u0308rich")
    assert not PassageSet({"zürich"}).touches("Bern，绿茶")


texts = st.lists(
    st.sampled_from(
        ["I like tea.", "我喜欢茶。", "My cat is Momo", "- ", "\n", " ", "…", "Dr. ", "user: ", "x=3.5", FORGOTTEN_MARK]
    ),
    max_size=14,
).map("".join)


@given(texts)
def test_sentences_stand_where_they_say_and_lose_no_word(text: str) -> None:
    passages = list(passages_of(text))
    assert [text[passage.start : passage.stop] for passage in passages] == [passage.text for passage in passages]
    assert all(a.stop <= b.start for a, b in zip(passages, passages[1:], strict=False))


@given(texts, texts)
def test_marking_leaves_all_else_and_a_second_time_changes_nothing(text: str, other: str) -> None:
    chosen = PassageSet(passage.key for passage in passages_of(other))
    marked = chosen.mark(text)
    assert marked.text.count("\n") == text.count("\n")
    assert chosen.mark(marked.text) == type(marked)(marked.text, 0)
    assert [passage.text for passage in passages_of(marked.text)] == [
        passage.text for passage in passages_of(text) if not chosen.holds(passage)
    ]


@given(texts, texts)
@example("I like tea. user: My cat is Momo. 我喜欢茶。", "I like tea.\nMy cat is Momo.")
@example("⟦forgotten⟧-  - ", "我喜欢茶。- - ")
def test_what_is_removed_is_found_no_more(text: str, other: str) -> None:
    chosen = PassageSet(passage.key for passage in passages_of(other))
    removed = chosen.remove(text)
    assert not any(chosen.holds(passage) for passage in passages_of(removed.text))
    assert chosen.remove(removed.text) == type(removed)(removed.text, 0)

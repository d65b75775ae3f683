"""Words as the full-text index sees them."""

from __future__ import annotations

from assistant.index.text.terms import cjk_share, content_terms, every_term, is_cjk, spaced


def test_cjk_runs_are_indexed_as_bigrams_and_words_as_they_stand() -> None:
    assert spaced("项目使用 Python").split() == ["项目", "目使", "使用", "Python"]


def test_a_single_character_between_other_text_is_itself() -> None:
    assert spaced("a 猫 b").split() == ["a", "猫", "b"]


def test_full_width_forms_are_the_same_words() -> None:
    assert every_term("ＰＹＴＨＯＮ　１２３") == ["python", "123"]


def test_a_question_loses_its_function_words() -> None:
    assert content_terms("What did she say about the green tea?") == ["say", "green", "tea"]
    assert content_terms("我们上次说的项目语言是什么") == ["上次", "次说", "项目", "目语", "语言", "言是"]


def test_a_particle_that_is_half_of_the_only_word_stays() -> None:
    assert content_terms("目的是什么") == ["目的"]


def test_terms_are_distinct_and_in_order() -> None:
    assert every_term("tea, Tea and 茶 tea") == ["tea", "and", "茶"]


def test_a_chinese_character_says_as_much_as_four_letters() -> None:
    assert (cjk_share("green tea"), cjk_share("绿茶"), cjk_share("绿茶 greentea")) == (0.0, 1.0, 0.5)
    assert (is_cjk("用 Python 写的"), is_cjk("the word 茶")) == (True, False)

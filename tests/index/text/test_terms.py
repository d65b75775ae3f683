"""Words as the full-text index sees them."""

from __future__ import annotations

import unicodedata

import pytest

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


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("مُحَمَّد", "محمد"),
        ("أحمد", "احمد"),
        ("إسلام", "اسلام"),
        ("آلة", "اله"),
        ("مصطفى", "مصطفي"),
        ("مدرسة", "مدرسه"),
        ("کتاب", "كتاب"),
        ("سـلام", "سلام"),
        ("می\u200cخواهم", "میخواهم"),
        ("٢٠٢٦", "2026"),
        ("İSTANBUL", "istanbul"),
        ("İstanbul", "ISTANBUL"),
        ("ılık", "ILIK"),
        ("שָׁלוֹם", "שלום"),
        ("בְּרֵאשִׁית", "בראשית"),
        ("Straße", "STRASSE"),
        ("ΟΔΥΣΣΕΥΣ", "Οδυσσεύς".replace("ύ", "υ")),
        ("ёлка", "елка"),
        ("हिन्दी", "हिन्दी"),
        ("cafe\u0301", "caf\u00e9"),
        ("مسؤول", "مسوول"),
        ("ئیران", "ایران".replace("ا", "ی", 1)),
        ("क\u093cलम", "कलम"),
        ("ज़मीन", "जमीन"),
        ("ＨＥＬＬＯ", "hello"),
        ("ﬁnance", "finance"),
        ("Ελλάδα", "ελλαδα"),
        ("Ὀδυσσεύς", "οδυσσευς"),
        ("ΣΊΣΥΦΟΣ", "σισυφος"),
        ("Łódź".replace("ó", "o").replace("ź", "z"), "lodz"),
        ("Đa", "da"),
        ("Ærø", "aero"),
        ("ѝ", "и"),
        ("за\u0301мок", "замок"),
        ("Հայաստան", "ՀԱՅԱՍՏԱՆ"),
        ("ʻOkina", "okina"),
        (unicodedata.normalize("NFD", "Tiếng Việt"), "Tiếng Việt"),
        (unicodedata.normalize("NFD", "한국어"), "한국어"),
        (unicodedata.normalize("NFD", "がくせい"), "がくせい"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("น้ำ", "น\u0e49\u0e4d\u0e32"),
        ("ไก่", "ไก่"),
        ("①", "1"),
        ("soft\u00adhyphen", "softhyphen"),
        ("👩\u200d💻", "👩💻"),
        ("👍🏽", "👍"),
        ("❤\ufe0f", "❤"),
        ("🇩🇪", "🇩🇪"),
    ],
)
def test_two_ways_to_write_a_word_are_one_term(written: str, asked: str) -> None:
    assert every_term(written) == every_term(asked) != []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("ฉันชอบดื่มชาเขียวทุกเช้า", "ชาเขียว"),
        ("ខ្ញុំចូលចិត្តតែបៃតង", "តែបៃតង"),
        ("ຂ້ອຍມັກຊາຂຽວ", "ຊາຂຽວ"),
        ("ကျွန်တော်လက်ဖက်ရည်ကြိုက်တယ်", "လက်ဖက်ရည်"),
        ("我喜欢绿茶", "绿茶"),
        ("We met 👩\u200d💻 there", "👩\u200d💻"),
        ("קניתי שָׁלוֹם", "שלום"),
    ],
    ids=["Thai", "Khmer", "Lao", "Burmese", "Chinese", "joined emoji", "Hebrew"],
)
def test_a_word_within_a_text_is_found_by_its_terms(text: str, word: str) -> None:
    assert set(every_term(word)) <= set(every_term(text))
    assert every_term(word) != []


def test_flags_are_told_apart() -> None:
    assert every_term("🇩🇪") != every_term("🇫🇷")

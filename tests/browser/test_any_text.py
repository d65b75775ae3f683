"""Whatever is written is shown, in every script, at any length and width, and nothing is said in the console."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import WAIT_MILLISECONDS, Chat
from tests.browser.test_transcript import answered

pytestmark = pytest.mark.browser

_WORDS = (
    "Afrikaans: dankie, Amharic: አመሰግናለሁ, Arabic: شكرا جزيلا, Armenian: շնորհակալություն, Assamese: ধন্যবাদ, "
    "Basque: eskerrik asko, Belarusian: дзякуй, Bengali: ধন্যবাদ, Bulgarian: благодаря, Burmese: ကျေးဇူးတင်ပါတယ်, "
    "Catalan: gràcies, Cherokee: ᏩᏙ, Chinese: 谢谢, Croatian: hvala, Czech: děkuji, Danish: tak, Dhivehi: ޝުކުރިއްޔާ, "
    "Dutch: dank je, Dzongkha: བཀའ་དྲིན་ཆེ, Estonian: aitäh, Finnish: kiitos, French: merci à vous, Georgian: მადლობა, "
    "German: danke schön, Greek: ευχαριστώ, Gujarati: આભાર, Hebrew: תודה רבה, Hindi: धन्यवाद, Hungarian: köszönöm, "
    "Icelandic: takk fyrir, Inuktitut: ᖁᔭᓐᓇᒦᒃ, Irish: go raibh maith agat, Italian: grazie, Japanese: ありがとう, "
    "Javanese: ꦩꦠꦸꦂꦤꦸꦮꦸꦤ꧀, Kannada: ಧನ್ಯವಾದ, Kazakh: рақмет, Khmer: អរគុណ, Korean: 고맙습니다, Kurdish: سوپاس, "
    "Lao: ຂອບໃຈ, Latvian: paldies, Lithuanian: ačiū, Malayalam: നന്ദി, Maltese: grazzi ħafna, Marathi: आभारी आहे, "
    "Mongolian: ᠪᠠᠶᠠᠷᠯᠠᠯᠠᠭ᠎ᠠ, Nepali: धन्यवाद छ, Odia: ଧନ୍ୟବାଦ, Pashto: مننه, Persian: سپاسگزارم, Polish: dziękuję, "
    "Punjabi: ਧੰਨਵਾਦ, Romanian: mulțumesc, Russian: спасибо, Sinhala: ස්තුතියි, Syriac: ܬܘܕܝ, Tamil: நன்றி, "
    "Telugu: ధన్యవాదాలు, Thai: ขอบคุณ, Tibetan: ཐུགས་རྗེ་ཆེ, Tifinagh: ⵜⴰⵏⵎⵉⵔⵜ, Turkish: teşekkürler, "
    "Ukrainian: дякую, Urdu: شکریہ, Vietnamese: cảm ơn, Yiddish: אַ דאַנק"
)
THANKS = re.split(", ", _WORDS)


def test_every_language_is_shown_as_it_was_written(chat: Chat) -> None:
    assert len(THANKS) >= 60
    answer = answered(chat, "\n".join(f"- {words}" for words in THANKS))
    assert answer.locator("li").all_inner_texts() == THANKS


@pytest.mark.parametrize(
    ("words", "side"),
    [("שלום לכולם", "right"), ("مرحبا بالعالم", "right"), ("hello everybody", "left"), ("1. שלום", "right")],
)
def test_words_begin_on_their_own_side(chat: Chat, words: str, side: str) -> None:
    answer = answered(chat, f"{words}\n\nAnd so on.")
    gap = answer.locator("p, li").first.evaluate("""(block) => {
        const range = document.createRange();
        range.selectNodeContents(block);
        const [words, whole] = [range.getBoundingClientRect(), block.getBoundingClientRect()];
        return words.left - whole.left > whole.right - words.right ? 'right' : 'left';
    }""")
    assert gap == side


def test_what_is_half_a_character_does_no_harm(chat: Chat) -> None:
    chat.page.evaluate("() => window.palimpsest.send('send', '1 answer before \\ud800 after \\udc00 and 𝒳 and 👩‍👩‍👧')")
    chat.page.locator("#chat .p-foot").wait_for()
    expect(chat.page.locator("#chat .m-own").first).to_contain_text("and 𝒳 and 👩‍👩‍👧")
    expect(chat.page.locator("#chat .m-person").first).to_contain_text("after")


def test_ten_thousand_lines_of_code_scroll_within_the_page(chat: Chat) -> None:
    code = "\n".join(f"line {number}" for number in range(10_000))
    answer = answered(chat, f"```py\n{code}\n```\n\nIt ends.", 3 * WAIT_MILLISECONDS)
    expect(answer).to_contain_text("It ends.")
    assert answer.locator("code").evaluate("code => code.textContent") == code
    assert answer.evaluate("node => node.clientHeight < 2 * window.innerHeight")


@pytest.mark.parametrize("width", [1440, 390])
def test_a_table_of_200_columns_scrolls_by_itself(chat: Chat, width: int) -> None:
    chat.page.set_viewport_size({"width": width, "height": 844})
    row = "|" + "|".join(f"c{number}" for number in range(200)) + "|"
    answer = answered(chat, f"{row}\n{'|-' * 200}|\n{row}\n\nIt ends.")
    expect(answer.locator("td")).to_have_count(200)
    assert answer.locator(".m-table").evaluate("box => box.scrollWidth > 2 * box.clientWidth")
    assert chat.page.evaluate("document.scrollingElement.scrollWidth") == width

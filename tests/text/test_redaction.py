"""Secrets are masked before they reach memory; hashes, ids, prose and code are left as they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.text.redaction import MaskedText, mask_secrets

# Put together here, so that no file of the project holds anything that looks like a key.
AWS_KEY = "AKIA" + "Q7X2M4N8P1R5T9V3"
AWS_SECRET = "wJalrXUtnFEMI/K7MDENG" + "/bPxRfiCYzzz1234567"
GITHUB = "ghp_" + "a1B2" * 9
OPENAI = "sk-" + "proj-" + "Ab1_" * 10
PLAIN_SK = "sk-" + "0123456789abcdef" * 2
SLACK = "xoxb-" + "123456789012-" + "abcdefGHIJ12"
STRIPE = "sk_live_" + "a1B2c3D4" * 3
GOOGLE = "AIza" + "Sy" + "a1B2c3D4e5F" * 3
TELEGRAM = "123456789" + ":AA" + "a1B2c3D4e5F" * 3
WEB_TOKEN = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxIn0" + ".c2lnbmF0dXJl"
PRIVATE_KEY = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow\nabc=\n-----END RSA " + "PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"key {AWS_KEY}.", "key ⟦masked: AWS key⟧."),
        (f'aws_secret_key = "{AWS_SECRET}"', 'aws_secret_key = "⟦masked: AWS key⟧"'),
        (f"用这个{GITHUB}吧", "用这个⟦masked: GitHub token⟧吧"),
        (f"OPENAI_API_KEY={OPENAI}", "OPENAI_API_KEY=⟦masked: API key⟧"),
        (f"我的 key 是{PLAIN_SK}，别外传", "我的 key 是⟦masked: API key⟧，别外传"),
        (f"{SLACK}\n{STRIPE}", "⟦masked: Slack token⟧\n⟦masked: Stripe key⟧"),
        (f"{GOOGLE} and {TELEGRAM}", "⟦masked: API key⟧ and ⟦masked: Telegram token⟧"),
        (f"cookie={WEB_TOKEN};", "cookie=⟦masked: token⟧;"),
        (f"Authorization: Bearer {'abc123' * 5}", "Authorization: Bearer ⟦masked: token⟧"),
        (f"before\n{PRIVATE_KEY}\nafter", "before\n⟦masked: private key⟧\nafter"),
        (PRIVATE_KEY[:32] + "MIIE0abc" * 8 + "\n\nThen some prose.", "⟦masked: private key⟧\n\nThen some prose."),
        ("db://bob:s3cr3t!x@host/base", "db://bob:⟦masked: password⟧@host/base"),
        ("Authorization: Basic YWRhOmh1bnRlcjIy", "Authorization: Basic ⟦masked: token⟧"),
        ("Cookie: session=9f8e7d6c5b4a39281706", "Cookie: ⟦masked: cookie⟧"),
        (f"it is {AWS_SECRET[:20]}aB3+Zq9xK2Lm7Pw4Rt6Y.", "it is ⟦masked: cloud secret⟧."),
        ("the password is correct-horse-battery", "the password is ⟦masked: secret⟧"),
        (f"seed phrase: {' '.join(['abandon'] * 11)} about", "seed phrase: ⟦masked: seed words⟧"),
        (f"助记词是：{' '.join(['abandon'] * 11)} about", "助记词是：⟦masked: seed words⟧"),
        ('password = "letmein"', 'password = "⟦masked: secret⟧"'),
        ("DB_PASSWORD=hunter2x", "DB_PASSWORD=⟦masked: secret⟧"),
        ('{"api_key": "abcdef12"}', '{"api_key": "⟦masked: secret⟧"}'),
        ("my password is hunter22, keep it", "my password is ⟦masked: secret⟧, keep it"),
        ("我的密码是 hunter22，记住", "我的密码是 ⟦masked: secret⟧，记住"),
        ("密码是abc123def吧", "密码是⟦masked: secret⟧吧"),
        ("export PGPASSWORD=abc123def", "export PGPASSWORD=⟦masked: secret⟧"),
        ('clientSecret: "abcdefgh"', 'clientSecret: "⟦masked: secret⟧"'),
        ("密码：20481024", "密码：⟦masked: secret⟧"),
        ("card 4111 1111 1111 1111, please", "card ⟦masked: card number⟧, please"),
        ("卡号5500-0000-0000-0004。", "卡号⟦masked: card number⟧。"),
        ("amex 3782 822463 10005", "amex ⟦masked: card number⟧"),
        ("银联6222020000000000000。", "银联⟦masked: card number⟧。"),
    ],
    ids=lambda text: text[:24],
)
def test_a_secret_is_masked_where_it_stands(text: str, masked: str) -> None:
    assert mask_secrets(text).text == masked


@pytest.mark.parametrize(
    "text",
    [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b fixes it",
        'sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"',
        "session 550e8400-e29b-41d4-a716-446655440000",
        '"id": "7c9e6679f6d54e3a8f1b0c2d3e4f5a6b"',
        "The password is required, the secret is out, and tokens: 123456 were used.",
        "max_tokens=128000, token: 15000",
        "密码是6到12位的数字和字母组合，令牌为32位abc。",
        "密码是什么？忘记密码怎么办？密码是必填项。",
        "password = os.environ['DB_PASSWORD']",
        "password=get_password(user)",
        "secret_key=hashlib.sha256(words).hexdigest()",
        'api_key="<your key>"',
        'api_key = "${API_KEY}"',
        '{"password": "string", "token": "required"}',
        "password: ********",
        "secret: see chapter 12",
        "The key is 2026-05-02.",
        "https://example.org/a:b?c=d@e",
        "The basic plan is Basic authentication for everyone",
        "A cookie: two eggs, sugar=100 g and butter.",
        "assistant/storage/sessions/stream_draft.py and /usr/lib/Python3/Site/Packages2",
        "The password is case-sensitive.",
        "mail bob@example.org at 10:30",
        "task-oriented-development-of-something-1",
        "ISBN 9783161484100, order 4111111111111112, time 1714650000000, π = 3.14159265358979323846",
        "BEGIN RSA " + "PRIVATE KEY is how such a file starts",
        "data:image/png;base64,AC" + "0123456789abcdef" * 4,
        "春眠不觉晓，处处闻啼鸟。",
        "",
    ],
    ids=lambda text: text[:24] or "empty",
)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert mask_secrets(text) == MaskedText(text, ())


def test_the_kinds_are_told_in_order_and_once() -> None:
    text = f"{GITHUB} {AWS_KEY} {GITHUB}"
    assert mask_secrets(text) == MaskedText(
        "⟦masked: GitHub token⟧ ⟦masked: AWS key⟧ ⟦masked: GitHub token⟧", ("GitHub token", "AWS key")
    )


def test_a_mark_is_never_masked_again() -> None:
    text = "password: ⟦masked: secret⟧ api_key=⟦masked: API key⟧"
    assert mask_secrets(text) == MaskedText(text, ())


pieces = st.lists(
    st.sampled_from(
        [
            AWS_KEY,
            GITHUB,
            OPENAI,
            WEB_TOKEN,
            PRIVATE_KEY,
            "4111 1111 1111 1111",
            "password: ",
            "hunter22",
            "db://a:",
            "@b",
        ]
        + ["⟦masked: x⟧", "⟦", "⟧", " ", "\n", '"', "密码是", "是", "=", "A", "1", "."]
    )
    | st.text(max_size=5),
    max_size=12,
).map("".join)


@given(pieces)
def test_masking_twice_is_masking_once(text: str) -> None:
    once = mask_secrets(text)
    assert mask_secrets(once.text) == MaskedText(once.text, ())


@given(pieces, st.sampled_from(["- green tea and rain\n", "the key to it is a token\n"]), st.integers(0, 60))
def test_a_secret_is_masked_however_far_from_the_start(text: str, line: str, lines: int) -> None:
    around = line * lines
    masked = mask_secrets(f"\n{text}\n")
    assert mask_secrets(f"{around}\n{text}\n{around}").text == f"{around}{masked.text}{around}"


@given(st.text(alphabet="abc是的 \n", max_size=20), st.text(alphabet="abc是的 \n", max_size=20))
def test_nothing_around_a_secret_is_lost(before: str, after: str) -> None:
    assert mask_secrets(f"{before}\n{AWS_KEY}\n{after}").text == f"{before}\n⟦masked: AWS key⟧\n{after}"


@pytest.mark.parametrize(
    "piece",
    [
        "eyJ",
        "password:",
        "db://a:",
        "4111 ",
        "sk-",
        "bearer ",
        "密码是",
        "recaptcha_",
        "-----BEGIN " + "PRIVATE KEY-----",
    ],
)
def test_a_text_made_to_be_slow_is_masked_in_time(piece: str) -> None:
    # Quadratic work on this would outlast the limit of a test.
    mask_secrets(piece * 60_000)

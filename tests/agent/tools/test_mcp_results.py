"""Results of tools from outside: every form becomes words or a picture, and nothing in them is opened."""

from __future__ import annotations

import base64

import pytest

from assistant.agent.tools.mcp_results import result_blocks
from assistant.messages.blocks import Base64Source, DataBlock, TextBlock

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nrest").decode()
JPEG = base64.b64encode(b"\xff\xd8\xffrest").decode()
WEBP = base64.b64encode(b"RIFF1234WEBPrest").decode()
SVG = base64.b64encode(b"<svg/>").decode()


def seen(result: dict[str, object]) -> list[str]:
    """The texts, and the type of each picture."""
    blocks = result_blocks(result, "en")
    return [block.text if isinstance(block, TextBlock) else block.source.media_type for block in blocks]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([{"type": "text", "text": "Sunny."}], ["Sunny."]),
        ("Sunny.", ["Sunny."]),
        (["Sunny.", "Warm."], ["Sunny.", "Warm."]),
        ({"type": "text", "text": "Sunny."}, ["Sunny."]),
        ([{"text": "Sunny."}], ["Sunny."]),
        ([{"type": "text", "text": {"sky": "blue"}}], ['{"sky": "blue"}']),
        ([{"type": "text", "text": "half \ud83d"}], ["half \ufffd"]),
        ([None, 7], ["7"]),
        ([], []),
        (None, []),
        ([{"type": "image", "data": PNG, "mimeType": "image/png"}], ["image/png"]),
        ([{"type": "image", "data": JPEG, "mimeType": "image/png"}], ["image/jpeg"]),
        ([{"type": "image", "data": WEBP, "mimeType": "image/webp"}], ["image/webp"]),
        ([{"type": "image", "data": f"data:image/png;base64,{PNG}"}], ["image/png"]),
        ([{"type": "image", "data": PNG[:8] + "\n" + PNG[8:].rstrip("="), "mimeType": "image/png"}], ["image/png"]),
        (
            [{"type": "image", "data": SVG, "mimeType": "image/svg+xml"}],
            ["[A picture came with the result that cannot be shown: image/svg+xml, 6 bytes]"],
        ),
        (
            [{"type": "image", "data": "not base64!!", "mimeType": "image/png"}],
            ["[A picture came with the result that cannot be shown: image/png, 0 bytes]"],
        ),
        (
            [{"type": "audio", "data": PNG, "mimeType": "audio/ogg"}],
            ["[A sound came with the result that cannot be played: audio/ogg, 12 bytes]"],
        ),
        (
            [{"type": "resource", "resource": {"uri": "file:///a.bin", "blob": PNG, "mimeType": "application/zip"}}],
            ["[A file came with the result and was not kept: file:///a.bin, application/zip, 12 bytes]"],
        ),
        ([{"type": "resource", "resource": {"uri": "a.png", "blob": PNG, "mimeType": "image/png"}}], ["image/png"]),
        ([{"type": "resource", "resource": {"uri": "note:1", "text": "Milk"}}], ["note:1:\nMilk"]),
        ([{"type": "resource", "resource": {"uri": "note:1"}}], ["[A link, which was not opened: note:1]"]),
        (
            [{"type": "resource_link", "uri": "file:///home/me/.env", "name": "env", "mimeType": "image/png"}],
            ["[A link, which was not opened: env, file:///home/me/.env]"],
        ),
        (
            [{"type": "resource_link", "uri": "http://10.0.0.1/secret", "name": "http://10.0.0.1/secret"}],
            ["[A link, which was not opened: http://10.0.0.1/secret]"],
        ),
        (
            [{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}],
            ["[A link, which was not opened: file:///etc/passwd]"],
        ),
        ([{"type": "image_url", "image_url": f"data:image/png;base64,{PNG}"}], ["image/png"]),
        ([{"type": "video", "uri": "file:///a.mp4"}], ["[A link, which was not opened: file:///a.mp4]"]),
        (
            [{"type": "video", "data": 1}],
            ['[A part of another kind came with the result: {"type": "video", "data": 1}]'],
        ),
    ],
)
def test_every_part_of_a_result_is_words_or_a_picture_that_came_with_it(content: object, expected: list[str]) -> None:
    assert seen({"content": content}) == expected


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"content": [], "structuredContent": {"temperature": 7}}, ['{"temperature": 7}']),
        ({"structuredContent": {"temperature": 7}}, ['{"temperature": 7}']),
        ({"content": [{"type": "text", "text": "7"}], "structuredContent": {"temperature": 7}}, ["7"]),
        ({"toolResult": "7"}, ['"7"']),
        ({}, []),
    ],
)
def test_structured_content_counts_where_there_are_no_words(result: dict[str, object], expected: list[str]) -> None:
    assert seen(result) == expected


def test_a_picture_stays_byte_for_byte() -> None:
    result = {"content": [{"type": "image", "data": PNG, "mimeType": "image/png"}]}
    (block,) = result_blocks(result, "en")
    assert isinstance(block, DataBlock)
    assert block.source == Base64Source(media_type="image/png", data=PNG)

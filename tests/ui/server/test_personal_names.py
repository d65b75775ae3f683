"""What buttons and styles are called on one person's page fits no other page."""

from __future__ import annotations

import pytest

from assistant.ui.cards import TOKEN
from assistant.ui.server.asgi import PERSON
from assistant.ui.server.personal_names import NamesInAnswers, PersonalNames

TEXT = f'<button class="{TOKEN} {TOKEN}-do--x">'.encode()


async def answered(answers: NamesInAnswers, person: str | None) -> bytes:
    """The body that a person gets."""
    sent: list[dict[str, object]] = []

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    await answers({"type": "http", PERSON: person}, None, send)  # type: ignore[arg-type]
    return b"".join(message["body"] for message in sent[1:])  # type: ignore[misc]


def serving(content_type: str, names: PersonalNames) -> NamesInAnswers:
    """An app that sends the same text twice."""

    async def app(scope: object, receive: object, send: object) -> None:
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-type", content_type.encode())]}
        )  # type: ignore[operator]
        for more in (True, False):
            await send({"type": "http.response.body", "body": TEXT, "more_body": more})  # type: ignore[operator]

    return NamesInAnswers(app, names)  # type: ignore[arg-type]


@pytest.mark.parametrize("content_type", ["text/html; charset=utf-8", "application/json", "text/event-stream"])
async def test_each_person_gets_names_of_their_own_of_one_length(content_type: str) -> None:
    names = PersonalNames()
    ada, ben, nobody = names.of("ada"), names.of("ben"), names.of("")
    assert len({ada, ben, TOKEN, nobody}) == 4
    assert {len(ada), len(ben)} == {len(TOKEN)}
    answers = serving(content_type, names)
    assert await answered(answers, "ada") == TEXT.replace(TOKEN.encode(), ada.encode()) * 2
    assert await answered(answers, None) == TEXT.replace(TOKEN.encode(), nobody.encode()) * 2


def test_another_process_has_other_names() -> None:
    assert PersonalNames().of("ada") != PersonalNames().of("ada")


async def test_what_is_no_text_of_the_page_is_left_as_it_is() -> None:
    assert await answered(serving("application/octet-stream", PersonalNames()), "ada") == TEXT * 2

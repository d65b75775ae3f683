"""Whatever watches over the server is told that it answers, whoever else may come in."""

from __future__ import annotations

from pydantic import SecretStr

from assistant.config.accounts import hash_password
from assistant.config.settings import Settings
from tests.ui.server.conftest import ServePage


def test_the_page_says_to_everybody_that_it_is_there_and_keeps_nobody(serve_page: ServePage) -> None:
    page = serve_page(Settings(host="0.0.0.0", users=SecretStr(f"ada:{hash_password('password one')}")))
    answer = page.get("/health")
    assert (answer.status_code, answer.text, dict(answer.cookies)) == (200, "ok", {})
    assert page.post("/health").status_code == 404

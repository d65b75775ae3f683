"""The servers that keep vectors, started once a session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.index.vectors.sites import Servers


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """All of them; none is started before a test needs it."""
    running = Servers()
    yield running
    running.close()

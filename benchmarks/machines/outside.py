"""The network around a strange machine: the same model at another address, behind a proxy, and with a certificate."""

from __future__ import annotations

import contextlib
import re
import shutil
import socket
import socketserver
import ssl
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Self

_ABSOLUTE = re.compile(rb"^([A-Z]+) http://[^/ ]+", re.DOTALL)
_BLOCK_BYTES = 65_536


class Outside:
    """Relays to a model on this machine, each at an address of its own."""

    def __init__(self, model_port: int) -> None:
        self.host = _own_host()
        self._model_port = model_port
        self._scratch = tempfile.TemporaryDirectory(prefix="palimpsest_certificate_")
        self.certificate = _make_certificate(Path(self._scratch.name))
        self._remote = _Relay(self.host, model_port, None)
        self._secured = _Relay("127.0.0.1", model_port, self.certificate)

    def __enter__(self) -> Self:
        self._remote.begin()
        self._secured.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._remote.end()
        self._secured.end()
        self._scratch.cleanup()

    def address(self, kind: str) -> str:
        """The address of the model, as a client wants it."""
        match kind:
            case "remote":
                return f"http://{self.host}:{self._remote.port}/v1"
            case "named":
                return "http://model.example/v1"
            case "own certificate":
                return f"https://127.0.0.1:{self._secured.port}/v1"
            case _:
                return f"http://127.0.0.1:{self._model_port}/v1"


class _Relay(socketserver.ThreadingTCPServer):
    """Hands each connection on to the model; an address in a request line, as proxies get it, is left out."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, host: str, model_port: int, certificate: Path | None) -> None:
        self.model_port = model_port
        super().__init__((host, 0), _Connection)
        self.port = int(self.server_address[1])
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, certificate.with_name("key.pem"))
            self.socket = context.wrap_socket(self.socket, server_side=True)

    def begin(self) -> None:
        """Serve beside the caller."""
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def end(self) -> None:
        """Serve no longer."""
        self.shutdown()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up, or trusts no such certificate, is no error of the relay."""


class _Connection(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        """Move bytes both ways until one side ends."""
        assert isinstance(self.server, _Relay)
        first = self.request.recv(_BLOCK_BYTES)
        with socket.create_connection(("127.0.0.1", self.server.model_port)) as model:
            model.sendall(_ABSOLUTE.sub(rb"\1 ", first, count=1))
            back = threading.Thread(target=_move, args=(model, self.request), daemon=True)
            back.start()
            _move(self.request, model)
            back.join()


def _move(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while content := source.recv(_BLOCK_BYTES):
            target.sendall(content)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _own_host() -> str:
    """An address of this machine that is not loopback, where it has one; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])
    return "127.0.0.1"


def _make_certificate(folder: Path) -> Path | None:
    """A certificate that nobody has signed, its key beside it; None where there is no program to make one."""
    if shutil.which("openssl") is None:
        return None
    path = folder / "own.pem"
    line = [
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=own",
        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(folder / "key.pem"), "-out", str(path),
    ]  # fmt: skip
    made = subprocess.run(line, capture_output=True, check=False)
    folder.chmod(0o755)
    return path if made.returncode == 0 else None

"""The same page for more rows than a file should hold, served to this machine alone."""

import json
import secrets
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ._page import Explorer

HOST = "127.0.0.1"
MOST_ASKED = 2000  # rows whose names are told in one answer


class Server(ThreadingHTTPServer):
    """A page and its columns, on the loopback address, behind a word that others can't guess.

    Other users of the machine can reach the port, and pages of other sites can make a browser ask: without
    the word, and under another name of the host, the answer is no.
    """

    daemon_threads = True

    def __init__(self, explorer: Explorer, port: int = 0) -> None:
        self.explorer, self.word = explorer, secrets.token_urlsafe(16)
        super().__init__((HOST, port), _Answer)

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_port}/{self.word}/"

    @property
    def names(self) -> tuple[str, ...]:
        """What a browser on this machine may call the server."""
        return f"{HOST}:{self.server_port}", f"localhost:{self.server_port}"


class _Answer(BaseHTTPRequestHandler):
    """One answer: the page, a column, or the names of some rows."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer what is known here, and nothing else."""
        asked = urlsplit(self.path)
        parts = asked.path.strip("/").split("/")
        allowed = self.headers.get("Host") in self.server.names
        if not allowed or not secrets.compare_digest(parts[0].encode(), self.server.word.encode()):
            return self._refuse(HTTPStatus.FORBIDDEN)
        explorer = self.server.explorer
        match parts[1:]:
            case []:
                return self._send(explorer.page(served=True).encode(), "text/html; charset=utf-8")
            case ["column", place] if place.isdecimal() and int(place) < len(explorer.columns):
                return self._send(explorer.columns[int(place)].data, "application/octet-stream")
            case ["rows"] if (wanted := _wanted(asked.query, explorer)) is not None:
                return self._send(json.dumps(explorer.named(*wanted)).encode(), "application/json")
        return self._refuse(HTTPStatus.NOT_FOUND)

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(content)

    def _refuse(self, status: HTTPStatus) -> None:
        self.send_error(status)

    def log_message(self, *_: Any) -> None:
        """Stay silent; a page asks for many columns."""


def _wanted(query: str, explorer: Explorer) -> tuple[list[int], list[int]] | None:
    """Read the rows and columns that are asked for; None where that is no list of them."""
    asked = parse_qs(query)
    rows = _numbers(asked.get("at", [""])[0], explorer.n_rows)
    columns = _numbers(asked["columns"][0], len(explorer.columns)) if "columns" in asked else []
    return None if rows is None or columns is None else (rows, columns)


def _numbers(text: str, below: int) -> list[int] | None:
    cells = text.split(",")
    if len(cells) > MOST_ASKED or not all(
        len(cell) < 12 and cell.isdecimal() and int(cell) < below for cell in cells
    ):
        return None
    return [int(cell) for cell in cells]


def serve(explorer: Explorer, *, port: int = 0, told: Callable[[str], Any] = print) -> None:
    """Serve an explorer on 127.0.0.1 until it is interrupted.

    Parameters
    ----------
    explorer : Explorer
    port : int
        0 for any that is free.
    told : callable
        Is given the address of the page.
    """
    with Server(explorer, port) as server:
        told(server.address)
        server.serve_forever()

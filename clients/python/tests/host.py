"""A host of scripted answers."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Mapping

TABLE = [{"columns": [{"name": "chainId", "type": "UInt32"}], "data": [[1], [8453]], "rows": 2}]

#: Status, headers and body; None breaks the connection off.
Answer = "tuple[int, dict[str, str], Any] | None"


def table(**headers: str) -> Any:
    return 200, headers, TABLE


def refused(status: int, retry_after: str | None = None) -> Any:
    code = "rate_limited" if status == 429 else "unavailable"
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return status, headers, {"error": code, "message": "Later.", "session": "s1"}


class Host:
    """Answers by a function of the request's path and headers, on a port of its own."""

    def __init__(self, answer: Callable[[str, Mapping[str, str]], Any]) -> None:
        #: Headers of each request, names as they were sent.
        self.asked: list[Mapping[str, str]] = []
        host = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                host.asked.append(self.headers)
                given = answer(self.path, self.headers)
                if given is None:
                    # More was announced than comes.
                    given = (200, {"Content-Length": "1000"}, b"[")
                status, headers, body = given
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def scripted(*answers: Any) -> Host:
    """One answer after the other."""
    left = list(answers)
    return Host(lambda _path, _headers: left.pop(0))

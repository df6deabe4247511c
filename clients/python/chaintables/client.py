"""Asks one instance of chaintables."""

from __future__ import annotations

import gzip
import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
import zlib
from dataclasses import dataclass
from typing import Any, Iterator, Mapping

from ._endpoints import MAX_LIMITS, Endpoints
from .cache import TableCache
from .errors import ApiError, UnreachableError, to_error
from .live import SILENCE, Live
from .payment import Payment, Wallet
from .retry import Retry, read_retry_after
from .table import Table
from .types import Column


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Another host would get the key."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: Any


class Client(Endpoints):
    """Has a method for every endpoint (``evm_dexb_v3_pool``), and for every list one over the rows of all pages (``iter_…``).

    ``url`` is where the instance answers, such as ``http://127.0.0.1:8080``; with ``payment``, its pay-per-request host.
    """

    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        *,
        payment: Payment | None = None,
        retry: Retry = Retry(),
        cache_rows: int = 50_000,
        timeout: float = 60.0,
    ) -> None:
        if api_key is not None and payment is not None:
            raise TypeError("A client has an api_key or a payment: the pay-per-request host takes no key.")
        self._url = url.rstrip("/")
        self._api_key = api_key
        self._retry = retry
        #: Seconds without a byte, for each try.
        self._timeout = timeout
        #: What is paid for is not cached.
        self._cache = TableCache(cache_rows if payment is None else 0)
        self._wallet = None if payment is None else Wallet(payment)
        self._opener = urllib.request.build_opener(_NoRedirect)

    @property
    def signed(self) -> int:
        """What this client has signed payments for, in base units of the asset."""
        return 0 if self._wallet is None else self._wallet.signed

    def get(self, path: str, **params: Any) -> Table[Any]:
        """One table, by its path."""
        url = self._url_of(path, params)
        known = self._cache.get(url)
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip"}
        if self._api_key is not None:
            headers["X-API-KEY"] = self._api_key
        if known is not None:
            headers["If-None-Match"] = known[0]
        answer = self._retry.run(lambda: self._ask(url, headers))
        if answer.status == 402 and self._wallet is not None:
            # Whatever fails from here on, the same payment is sent again: it is charged once.
            headers["PAYMENT-SIGNATURE"] = self._wallet.pay(answer.body)
            answer = self._retry.run(lambda: self._ask(url, headers))
        if answer.status == 304 and known is not None:
            return known[1]
        table = _read_table(answer) if answer.status == 200 else None
        if table is None:
            raise _error_of(answer)
        if "etag" in answer.headers:
            self._cache.set(url, answer.headers["etag"], table)
        return table

    def pages(self, path: str, **params: Any) -> Iterator[Table[Any]]:
        """The pages of a list, from ``offset`` on; ``limit`` is the rows of a page, as many as are allowed by default.

        Each page is whole, and the next may be of a later block.
        """
        limit = params.pop("limit", None) or MAX_LIMITS[path]
        first = params.pop("offset", None) or 0
        offset: int | None = first
        while offset is not None:
            page = self.get(path, **params, limit=limit, offset=offset)
            # Where the number of rows is not known, an empty page may follow the last one.
            if len(page) > 0 or offset == first:
                yield page
            following = page.next_offset
            offset = following if following is not None and following > offset else None

    def rows(self, path: str, **params: Any) -> Iterator[Any]:
        """The rows of all pages."""
        for page in self.pages(path, **params):
            yield from page

    def live(self, path: str, **params: Any) -> Live[Any]:
        """The table, then what each block changes in it and what a reorg takes back, until you stop reading.

        A stream that breaks off, or is silent for a minute, is resumed behind its last event. Raises an ApiError where the
        instance refuses, at the beginning or later (limits, the key).
        """
        if self._wallet is not None:
            raise TypeError("Streams are not sold by the request: use an api_key.")
        url = self._url_of(path, params)
        return Live(lambda last_id: self._retry.run(lambda: self._open_stream(url, last_id)), self._retry.wait)

    def _open_stream(self, url: str, last_id: str | None) -> http.client.HTTPResponse:
        headers = {"Accept": "text/event-stream"}
        if self._api_key is not None:
            headers["X-API-KEY"] = self._api_key
        if last_id is not None:
            headers["Last-Event-ID"] = last_id
        request = urllib.request.Request(url, headers=headers)
        try:
            try:
                response = self._opener.open(request, timeout=SILENCE)
            except urllib.error.HTTPError as refusal:
                with refusal:
                    raise _error_of(_answer_of(refusal)) from None
            if response.headers.get_content_type() == "text/event-stream":
                return response
            with response:
                raise _error_of(_answer_of(response))
        except (OSError, EOFError, zlib.error, http.client.HTTPException) as error:
            raise _unreachable(url) from error

    def _url_of(self, path: str, params: Mapping[str, Any]) -> str:
        query = {name: _to_text(value) for name, value in params.items() if value is not None}
        return f"{self._url}{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")

    def _ask(self, url: str, headers: Mapping[str, str]) -> _Answer:
        """Asks once; raises for what asking again may change."""
        request = urllib.request.Request(url, headers=dict(headers))
        try:
            try:
                response = self._opener.open(request, timeout=self._timeout)
            except urllib.error.HTTPError as refusal:
                response = refusal
            with response:
                answer = _answer_of(response)
        except (OSError, EOFError, zlib.error, http.client.HTTPException) as error:
            raise _unreachable(url) from error
        if answer.status in (429, 503):
            raise _error_of(answer)
        return answer


def _answer_of(response: Any) -> _Answer:
    content = response.read()
    names = {name.lower(): value for name, value in response.headers.items()}
    if names.get("content-encoding") == "gzip":
        content = gzip.decompress(content)
    return _Answer(response.status, names, _parse(content))


def _unreachable(url: str) -> UnreachableError:
    origin = "://".join(urllib.parse.urlsplit(url)[:2])
    return UnreachableError(f"No answer from {origin}.")


def _to_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(value) if isinstance(value, (list, tuple)) else str(value)


def _parse(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _read_table(answer: _Answer) -> Table[Any] | None:
    body = answer.body[0] if isinstance(answer.body, list) and answer.body else answer.body
    if not isinstance(body, dict) or not isinstance(body.get("columns"), list) or "data" not in body:
        return None
    columns = tuple(Column(column["name"], column["type"]) for column in body["columns"])
    return Table(columns, body["data"], answer.headers)


def _error_of(answer: _Answer) -> ApiError:
    body = answer.body if isinstance(answer.body, dict) else {}
    no_table = f"The answer of status {answer.status} is no table and no error of chaintables."
    return to_error(
        status=answer.status,
        code=str(body.get("error", "unknown")),
        message=str(body.get("message", no_table)),
        session=body.get("session"),
        retry_after=read_retry_after(answer.headers.get("retry-after")),
    )

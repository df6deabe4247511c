"""The instance that tests ask: clients/test/python.test.ts starts it and says here where it is."""

from __future__ import annotations

import json
import os
import urllib.parse
import urllib.request
from typing import Any

from chaintables import Client

URL = os.environ["CHAINTABLES_URL"]
KEY = os.environ["CHAINTABLES_API_KEY"]
#: A request of every declared endpoint: path, params, isPaged.
SAMPLES: list[dict[str, Any]] = json.loads(os.environ["CHAINTABLES_SAMPLES"])


def client() -> Client:
    return Client(f"{URL}/", KEY)


def raw(path: str, params: dict[str, str]) -> tuple[Any, Any]:
    """The table as the API sends it, and the headers."""
    url = f"{URL}{path}?{urllib.parse.urlencode(params)}"
    with urllib.request.urlopen(urllib.request.Request(url, headers={"X-API-KEY": KEY})) as answer:
        body = json.load(answer)
        return (body[0] if isinstance(body, list) else body), answer.headers

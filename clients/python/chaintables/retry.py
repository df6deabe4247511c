"""How often, and how long, a client goes on asking."""

from __future__ import annotations

import random
import re
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Callable, TypeVar

from .errors import ApiError, UnreachableError

_FIRST_WAIT = 0.25
# At most this much is added to what Retry-After says, so that clients that were refused together do not return so.
_MAX_JITTER = 1.0

T = TypeVar("T")


@dataclass(frozen=True)
class Retry:
    """After 429 and 503, when they say, and after failures of the network."""

    #: Requests for one table at most; 1 asks once.
    tries: int = 4
    #: Seconds. An answer that asks for a longer wait is an error at once.
    max_wait: float = 60.0
    #: Waits so many seconds.
    wait: Callable[[float], None] = time.sleep

    def run(self, ask: Callable[[], T]) -> T:
        """Asks until it is answered."""
        tried = 1
        while True:
            try:
                return ask()
            except (ApiError, UnreachableError) as error:
                seconds = _wait_after(error, tried)
                if seconds is None or tried >= self.tries or seconds > self.max_wait:
                    raise
                self.wait(seconds)
                tried += 1


def _wait_after(error: ApiError | UnreachableError, tried: int) -> float | None:
    """None where the error would only come again."""
    backoff = _FIRST_WAIT * 2 ** (tried - 1)
    if isinstance(error, ApiError) and error.status not in (429, 503):
        return None
    if isinstance(error, UnreachableError) or error.retry_after is None:
        return backoff * random.uniform(0.5, 1)
    # Never earlier than it says.
    return error.retry_after + random.uniform(0, min(backoff, _MAX_JITTER))


def read_retry_after(header: str | None) -> float | None:
    """Seconds from now, of a number or of a date."""
    if header is None:
        return None
    if re.fullmatch(r"[0-9]+", header):
        return float(header)
    try:
        at = parsedate_to_datetime(header)
    except (TypeError, ValueError):
        return None
    at = at if at.tzinfo is not None else at.replace(tzinfo=timezone.utc)
    return max(0.0, (at - datetime.now(timezone.utc)).total_seconds())

"""What a call can raise."""

from __future__ import annotations

import json
import re


class ApiError(Exception):
    """An answer that is no table. Of a 400 that is about a parameter it is a ParameterError."""

    def __init__(
        self, *, status: int, code: str, message: str, session: str | None, retry_after: float | None
    ) -> None:
        super().__init__(message)
        self.status = status
        #: Such as ``not_found``; ``unknown`` where something in between has answered.
        self.code = code
        self.message = message
        #: Names the request in the logs of the instance.
        self.session = session
        #: Seconds, from Retry-After.
        self.retry_after = retry_after


class ParameterError(ApiError):
    """A 400: the parameter, the rule that it breaks and, where the rule is about a value, the value as the API shows it."""

    parameter: str
    rule: str
    value: str | None


class UnreachableError(Exception):
    """No answer after all tries; the last reason is the cause."""


class SpendLimitError(Exception):
    """A payment that would cost more than allowed, or in another asset. Nothing was signed."""


# `Cannot parse limit: 10001 is above 10000.`, the value in quotes where it is no plain number.
_BROKEN_RULE = re.compile(r'Cannot parse (.+?): (?:(-?\d+(?:\.\d+)?|"(?:[^"\\]|\\.)*") )?(.+)\.', re.DOTALL)


def to_error(
    *, status: int, code: str, message: str, session: str | None = None, retry_after: float | None = None
) -> ApiError:
    """The error that an answer stands for."""
    broken = _BROKEN_RULE.fullmatch(message) if code == "bad_request" else None
    kind = ApiError if broken is None else ParameterError
    error = kind(status=status, code=code, message=message, session=session, retry_after=retry_after)
    if broken is not None and isinstance(error, ParameterError):
        error.parameter, shown, error.rule = broken.groups()
        error.value = json.loads(shown) if shown is not None and shown.startswith('"') else shown
    return error

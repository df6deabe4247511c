"""Payments for requests by x402, within limits that are held before anything is signed."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from typing import Any, Callable

from .errors import SpendLimitError

#: USDC on Base, which has six decimals.
USDC_ON_BASE = {"network": "eip155:8453", "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"}


@dataclass(frozen=True)
class Payment:
    """In place of a key, on the pay-per-request host."""

    #: Signs a payment of the offer (the terms of a 402, with the one way to pay that the limits were held against), and
    #: returns the text for the header PAYMENT-SIGNATURE.
    pay: Callable[[dict[str, Any]], str]
    #: The only network and asset that are paid with.
    network: str
    asset: str
    #: The most that one request may cost, in base units of the asset: 50000 are 0.05 USDC.
    max_per_request: int
    #: The most that this client may sign for in all.
    max_total: int


class Wallet:
    """A client's spending."""

    def __init__(self, payment: Payment) -> None:
        self._payment = payment
        self._lock = threading.Lock()
        #: What was signed for so far. A payment that was refused counts: it can be settled until it expires.
        self.signed = 0

    def pay(self, body: Any) -> str:
        """The header that pays what the body of a 402 asks for."""
        offer, amount = self._choose(body)
        limits = self._payment
        if amount > limits.max_per_request:
            raise SpendLimitError(
                f"The request costs {amount}, more than the {limits.max_per_request} of max_per_request."
            )
        # Before the signer is waited for: threads share the limit.
        with self._lock:
            if self.signed + amount > limits.max_total:
                raise SpendLimitError(
                    f"The request costs {amount}, and {self.signed} of the {limits.max_total} of max_total are signed for."
                )
            self.signed += amount
        try:
            return limits.pay(offer)
        except BaseException:
            with self._lock:
                self.signed -= amount
            raise

    def _choose(self, body: Any) -> tuple[dict[str, Any], int]:
        """The first way to pay with our asset. The signer sees no other, so that it cannot sign one that was not looked at."""
        terms = body if isinstance(body, dict) else {}
        ways = terms.get("accepts")
        for way in ways if isinstance(ways, list) else []:
            if terms.get("x402Version") == 2 and "resource" in terms and self._is_ours(way):
                offer = {name: terms[name] for name in ("x402Version", "resource", "extensions") if name in terms}
                return {**offer, "accepts": [way]}, int(way["amount"])
        raise SpendLimitError(
            f"The request cannot be paid for with {self._payment.asset} on {self._payment.network}."
        )

    def _is_ours(self, way: Any) -> bool:
        return (
            isinstance(way, dict)
            and way.get("scheme") == "exact"
            and way.get("network") == self._payment.network
            and str(way.get("asset")).lower() == self._payment.asset.lower()
            # A negative amount would raise what is left.
            and re.fullmatch(r"[0-9]{1,78}", str(way.get("amount"))) is not None
        )

from __future__ import annotations

import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

from chaintables import USDC_ON_BASE, ApiError, Client, Payment, Retry, SpendLimitError
from tests.host import Host, refused, table

TOKEN = "So11111111111111111111111111111111111111112"
WAY = {"scheme": "exact", "network": "eip155:8453", "asset": USDC_ON_BASE["asset"], "amount": "50000", "payTo": "0xa"}
TERMS = {"x402Version": 2, "resource": {"url": "http://pay"}, "error": "payment_required", "message": "Pay."}


class Paying(unittest.TestCase):
    def setUp(self) -> None:
        self.signed: list[Any] = []

    def sells(self, body: Any, paid: Callable[[], Any] = table) -> Host:
        """A host that sells; requests with a payment are answered by ``paid``."""
        return Host(lambda _path, headers: paid() if "PAYMENT-SIGNATURE" in headers else (402, {}, body))

    def client(self, host: Host, pay: Callable[[Any], str] | None = None) -> Client:
        def sign(offer: Any) -> str:
            self.signed.append(offer)
            return f"payment {len(self.signed)}"

        payment = Payment(pay=pay or sign, **USDC_ON_BASE, max_per_request=50_000, max_total=120_000)
        return Client(host.url, payment=payment, retry=Retry(wait=lambda _: None))

    def ask(self, client: Client) -> Any:
        return client.solana_tokens_security(token_address=TOKEN)

    def test_pays_within_the_limit_and_not_beyond_the_total(self) -> None:
        with self.sells({**TERMS, "accepts": [{**WAY, "asset": "0xother", "amount": "1"}, WAY]}) as host:
            client = self.client(host)
            for signed in (50_000, 100_000):
                self.assertEqual(len(self.ask(client)), 2)
                self.assertEqual(client.signed, signed)
            with self.assertRaisesRegex(SpendLimitError, "max_total"):
                self.ask(client)
        self.assertEqual([offer["accepts"] for offer in self.signed], [[WAY], [WAY]])

    def test_signs_nothing_that_costs_too_much_or_is_another_asset(self) -> None:
        changes: list[dict[str, Any]] = [
            {"amount": "50001"},
            {"amount": "-50000"},
            {"amount": "5e4"},
            {"amount": None},
            {"asset": "0x" + "1" * 40},
            {"network": "eip155:1"},
            {"scheme": "upto"},
        ]
        bodies: list[Any] = [{**TERMS, "accepts": [{**WAY, **change}]} for change in changes]
        bodies += [TERMS, {**TERMS, "accepts": []}, {**TERMS, "x402Version": 1, "accepts": [WAY]}, []]
        for body in bodies:
            with self.subTest(body=body), self.sells(body) as host:
                client = self.client(host)
                with self.assertRaises(SpendLimitError):
                    self.ask(client)
                self.assertEqual(client.signed, 0)
        self.assertEqual(self.signed, [])

    def test_shares_the_limit_among_threads(self) -> None:
        both = threading.Barrier(2)

        def pay(_offer: Any) -> str:
            both.wait(timeout=10)
            return "payment"

        with self.sells({**TERMS, "accepts": [WAY]}) as host, ThreadPoolExecutor(5) as threads:
            client = self.client(host, pay)
            asked = [threads.submit(self.ask, client) for _ in range(5)]
            errors = [type(each.exception()) for each in asked]
        self.assertEqual(sorted(map(str, errors)), sorted(map(str, [type(None)] * 2 + [SpendLimitError] * 3)))
        self.assertEqual(client.signed, 100_000)

    def test_sends_one_payment_again_and_signs_no_second(self) -> None:
        answers = [refused(503, "1"), table()]
        with self.sells({**TERMS, "accepts": [WAY]}, lambda: answers.pop(0)) as host:
            self.ask(self.client(host))
            sent = [headers["PAYMENT-SIGNATURE"] for headers in host.asked]
        self.assertEqual(sent, [None, "payment 1", "payment 1"])
        refusal = (402, {}, {"error": "payment_required", "message": "No balance."})
        with self.sells({**TERMS, "accepts": [WAY]}, lambda: refusal) as host:
            client = self.client(host)
            with self.assertRaisesRegex(ApiError, "No balance"):
                self.ask(client)
        # It may still be settled.
        self.assertEqual((len(self.signed), client.signed), (2, 50_000))

    def test_does_not_count_what_was_not_signed(self) -> None:
        def pay(_offer: Any) -> str:
            raise RuntimeError("locked")

        with self.sells({**TERMS, "accepts": [WAY]}) as host:
            client = self.client(host, pay)
            with self.assertRaisesRegex(RuntimeError, "locked"):
                self.ask(client)
            self.assertEqual(client.signed, 0)
            with self.assertRaises(ApiError):
                self.ask(Client(host.url))
        with self.assertRaises(TypeError):
            Client("http://x", "k", payment=Payment(pay=pay, **USDC_ON_BASE, max_per_request=1, max_total=1))


if __name__ == "__main__":
    unittest.main()

from __future__ import annotations

import json
import unittest
from typing import Any

from chaintables import LIVE_KEYS, USDC_ON_BASE, ApiError, Client, Payment, Retry
from tests.host import refused, scripted

AT = {"chain": 8453, "block": 7, "hash": "0x7", "time": 1}
SNAPSHOT = {**AT, "reason": "begin", "key": [], "columns": [{"name": "id", "type": "String"}], "data": [["é"]]}


def sent(*events: str) -> Any:
    """A stream of these, which then ends."""
    return 200, {"Content-Type": "text/event-stream"}, "".join(events).encode()


def event(name: str, data: Any, id: str | None = None) -> str:
    tag = "" if id is None else f"id: {id}\n"
    return f"event: {name}\n{tag}data: {json.dumps(data, ensure_ascii=False)}\n\n"


class Streams(unittest.TestCase):
    def setUp(self) -> None:
        self.waits: list[float] = []

    def client(self, url: str) -> Client:
        return Client(url, "k", retry=Retry(wait=self.waits.append))

    def test_go_on_behind_the_last_event_as_soon_as_the_instance_wants(self) -> None:
        first = sent("retry: 700\n\n", ": heartbeat\n\n", event("snapshot", SNAPSHOT, "1"), event("end", {"reason": "stop"}))
        with scripted(first, refused(503, "2"), sent(event("change", {**AT, "rows": [["b"]], "removed": []}, "2"))) as host:
            with self.client(host.url).live("/evm/dexb/v3/pool", pool_address="0x1") as events:
                told = [next(events), next(events)]
            self.assertEqual([each["Last-Event-ID"] for each in host.asked], [None, "1", "1"])
            self.assertEqual({each["X-API-KEY"] for each in host.asked}, {"k"})
        self.assertEqual([(each.event, each.rows) for each in told], [("snapshot", ({"id": "é"},)), ("change", ({"id": "b"},))])
        self.assertEqual(self.waits[0], 0.7)
        self.assertTrue(2 <= self.waits[1] <= 3, self.waits)

    def test_repeat_no_event_of_which_the_end_did_not_come(self) -> None:
        whole = event("snapshot", SNAPSHOT, "1")
        half = event("change", {**AT, "rows": [["b"]], "removed": []}, "2")[:-10]
        broken = (200, {"Content-Type": "text/event-stream", "Content-Length": "9999"}, (whole + half).encode())
        with scripted(broken, sent(event("head", AT, "3"))) as host:
            with self.client(host.url).live("/evm/dexb/v3/pool", pool_address="0x1") as events:
                self.assertEqual([next(events).event, next(events).event], ["snapshot", "head"])
            self.assertEqual(host.asked[1]["Last-Event-ID"], "1")

    def test_skip_what_a_later_version_tells(self) -> None:
        with scripted(sent(event("weather", {"rain": True}, "5"), event("head", AT, "6"))) as host:
            with self.client(host.url).live("/evm/dexb/v3/pool") as events:
                self.assertEqual(next(events).event, "head")

    def test_end_with_the_error_behind_which_the_instance_ends_them(self) -> None:
        limit = {"error": "rate_limited", "message": "Enough.", "session": "s1"}
        with scripted(sent(event("error", {**limit, "error": "unavailable"}), event("error", limit))) as host:
            events = self.client(host.url).live("/evm/dexb/v3/pool")
            self.assertEqual(next(events).event, "outage")
            with self.assertRaises(ApiError) as caught:
                next(events)
            self.assertEqual((caught.exception.status, caught.exception.session), (429, "s1"))
            self.assertEqual(list(events), [])
            self.assertEqual(len(host.asked), 1)

    def test_are_not_sold_by_the_request(self) -> None:
        payment = Payment(pay=lambda _offer: "", **USDC_ON_BASE, max_per_request=1, max_total=1)
        with self.assertRaises(TypeError):
            Client("http://127.0.0.1:1", payment=payment).live("/evm/dexb/v3/pool")

    def test_have_a_method_for_every_table_that_can_be_followed(self) -> None:
        self.assertGreater(len(LIVE_KEYS), 15)
        for path in LIVE_KEYS:
            name = path.replace("/api/v1/", "/").strip("/").replace("/", "_").replace("-", "_")
            self.assertTrue(callable(getattr(Client, f"live_{name}")), path)


if __name__ == "__main__":
    unittest.main()

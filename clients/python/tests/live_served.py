"""Live tables of a real gateway. clients/test/python.test.ts starts it, with a service whose blocks these tests make."""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
import unittest
import urllib.request
from typing import Any, Callable

from chaintables import ApiError, BlockRef, Client, Live, LiveEvent, Retry
from tests.served import KEY, URL

CONTROL = os.environ["CHAINTABLES_CONTROL"]
#: A table of its own for each test: one that others have followed may be a block behind.
LIMITS = itertools.count(100)


def act(**action: Any) -> int:
    """Lets the service do something; the number of streams that are open then."""
    body = json.dumps(action).encode()
    with urllib.request.urlopen(urllib.request.Request(CONTROL, data=body)) as answer:
        return int(answer.read())


def follow(key: str = KEY, waits: list[float] | None = None) -> Live[Any]:
    def wait(seconds: float) -> None:
        if waits is not None:
            waits.append(seconds)

    return Client(URL, key, retry=Retry(wait=wait)).live_evm_lending_lendingc_markets(limit=next(LIMITS))


def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        time.sleep(0.01)


def ids(event: LiveEvent[Any]) -> list[str]:
    return [row["marketId"] for row in event.rows]


class Following(unittest.TestCase):
    def setUp(self) -> None:
        act(outage=False, mine=[["a", 1]])

    def test_yields_the_table_each_change_and_what_a_reorg_took_back(self) -> None:
        with follow() as events:
            first = next(events)
            self.assertEqual((first.event, first.chain, first.key, ids(first)), ("snapshot", 8453, ("marketId",), ["a"]))
            act(mine=[["b", 2], ["a", 1]])
            change = next(events)
            self.assertEqual((change.event, ids(change), change.removed), ("change", ["b"], ()))
            self.assertEqual((change.order, change.block), ((("b",), ("a",)), (first.block or 0) + 1))
            act(takeBack=1, mine=[["a", 1]], fork="b")
            reorg = next(events)
            self.assertEqual((reorg.event, reorg.removed), ("reorg", (("b",),)))
            self.assertEqual(reorg.taken_back, (BlockRef(change.block or 0, change.hash or ""),))
            act(mine=[["a", 1]])
            head = next(events)
            self.assertEqual((head.event, head.block, head.rows), ("head", (reorg.block or 0) + 1, ()))
        until(lambda: act() == 0)

    def test_resumes_behind_its_last_event_when_the_connection_breaks(self) -> None:
        waits: list[float] = []
        told: list[LiveEvent[Any]] = []
        with follow(waits=waits) as events:
            told.append(next(events))
            act(cut=True)
            act(mine=[["a", 2]])
            while told[-1].event != "change":
                told.append(next(events))
            act(mine=[["a", 3]])
            while told[-1].rows == () or told[-1].rows[0]["tvlUsd"] != 3:
                told.append(next(events))
        # Where it was back before the change was known, it was told the head that it had.
        changes = [event for event in told if event.event != "head"]
        self.assertEqual([event.event for event in changes], ["snapshot", "change", "change"])
        self.assertEqual([row["tvlUsd"] for event in changes for row in event.rows], [1, 2, 3])
        self.assertEqual(waits, [0.5])

    def test_tells_an_outage_and_goes_on(self) -> None:
        with follow() as events:
            next(events)
            act(outage=True, mine=[["a", 2]])
            outage = next(events)
            self.assertEqual((outage.event, str(outage.error), outage.block), ("outage", "Not now.", None))
            act(outage=False, mine=[["a", 3]])
            change = next(events)
            self.assertEqual((change.event, change.rows[0]["tvlUsd"]), ("change", 3))

    def test_raises_where_the_instance_refuses(self) -> None:
        with self.assertRaises(ApiError) as refused:
            next(follow("unknown"))
        self.assertEqual((refused.exception.status, refused.exception.code), (401, "unauthorized"))
        with self.assertRaises(ApiError) as not_live:
            next(Client(URL, KEY).live("/evm/chains"))
        self.assertEqual(not_live.exception.code, "bad_request")

    def test_is_ended_by_another_thread(self) -> None:
        events = follow()
        seen: list[str] = []
        reading = threading.Thread(target=lambda: seen.extend(event.event for event in events))
        reading.start()
        until(lambda: act() == 1)
        events.close()
        # The reader notices with the next line.
        act(mine=[["a", 9]])
        reading.join()
        self.assertNotIn("change", seen)
        until(lambda: act() == 0)


if __name__ == "__main__":
    unittest.main()

from __future__ import annotations

import gzip
import json
import unittest
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

from chaintables import ApiError, Client, Retry, UnreachableError
from tests.host import TABLE, Host, refused, scripted, table


class Asking(unittest.TestCase):
    def setUp(self) -> None:
        self.waits: list[float] = []

    def client(self, host: Host, tries: int = 4, **options: Any) -> Client:
        return Client(host.url, "k", retry=Retry(tries=tries, wait=self.waits.append), **options)

    def test_waits_as_retry_after_says_and_little_longer(self) -> None:
        with scripted(refused(429, "3"), refused(503, "2"), table()) as host:
            self.assertEqual(self.client(host).evm_chains().rows, [{"chainId": 1}, {"chainId": 8453}])
        self.assertEqual(len(self.waits), 2)
        self.assertTrue(3 <= self.waits[0] <= 4 and 2 <= self.waits[1] <= 3, self.waits)

    def test_waits_for_a_date_and_longer_each_time_without_one(self) -> None:
        date = format_datetime(datetime.now(timezone.utc) + timedelta(seconds=30), usegmt=True)
        with scripted(refused(503, date), refused(503), None, table()) as host:
            self.client(host).evm_chains()
        self.assertTrue(20 <= self.waits[0] <= 31, self.waits)
        self.assertTrue(0.25 <= self.waits[1] <= 0.5 and 0.5 <= self.waits[2] <= 1, self.waits)

    def test_gives_up_after_its_tries_with_the_last_error(self) -> None:
        with scripted(refused(503, "1"), refused(429, "1"), table()) as host:
            with self.assertRaises(ApiError) as caught:
                self.client(host, tries=2).evm_chains()
            self.assertEqual(len(host.asked), 2)
        error = caught.exception
        self.assertEqual((error.code, error.status, error.session, error.retry_after), ("rate_limited", 429, "s1", 1))
        with scripted(None, None) as host, self.assertRaises(UnreachableError) as lost:
            self.client(host, tries=2).evm_chains()
        self.assertEqual(str(lost.exception), f"No answer from {host.url}.")

    def test_does_not_wait_longer_than_allowed(self) -> None:
        with scripted(refused(429, "40000")) as host, self.assertRaises(ApiError):
            self.client(host).evm_chains()
        self.assertEqual(self.waits, [])

    def test_does_not_repeat_what_would_fail_again(self) -> None:
        for status in (400, 401, 403, 404, 408, 500):
            answer = (status, {}, {"error": "some_error", "message": "So it is.", "session": "s"})
            with self.subTest(status=status), scripted(answer) as host:
                with self.assertRaises(ApiError) as caught:
                    self.client(host).evm_chains()
                self.assertEqual((caught.exception.status, str(caught.exception)), (status, "So it is."))
                self.assertEqual(len(host.asked), 1)

    def test_follows_no_redirect_with_the_key(self) -> None:
        with scripted(table()) as other, scripted((302, {"Location": other.url}, b"")) as host:
            with self.assertRaises(ApiError) as caught:
                self.client(host).evm_chains()
            self.assertEqual((caught.exception.status, caught.exception.code), (302, "unknown"))
            self.assertEqual((host.asked[0]["X-API-KEY"], other.asked), ("k", []))

    def test_says_what_is_no_table(self) -> None:
        for status, body in ((200, b"<html>"), (200, b"{}"), (200, b"[]"), (502, b"Bad Gateway")):
            with self.subTest(body=body), scripted((status, {}, body)) as host:
                with self.assertRaises(ApiError) as caught:
                    self.client(host).evm_chains()
                self.assertEqual((caught.exception.status, caught.exception.code), (status, "unknown"))

    def test_reads_compressed_answers_and_asks_again_for_broken_ones(self) -> None:
        packed = gzip.compress(json.dumps(TABLE).encode())
        encoded = {"Content-Encoding": "gzip"}
        with scripted((200, encoded, packed[:-9]), (200, encoded, packed)) as host:
            self.assertEqual(len(self.client(host).evm_chains()), 2)
        self.assertEqual(len(self.waits), 1)

    def test_keeps_no_more_rows_than_allowed_the_last_asked_for(self) -> None:
        unchanged = (304, {}, b"")
        answers = [table(ETag="a"), table(ETag="b"), unchanged, table(ETag="c"), unchanged, table(ETag="b2")]
        with scripted(*answers) as host:
            client = self.client(host, cache_rows=6)
            tables = [client.evm_dexb_v3_pools(offset=offset) for offset in (1, 2, 1, 3, 1, 2)]
            tags = [headers["If-None-Match"] for headers in host.asked]
        self.assertEqual(tags, [None, None, "a", None, "a", None])
        self.assertIs(tables[2], tables[0])
        self.assertIs(tables[4], tables[0])


if __name__ == "__main__":
    unittest.main()

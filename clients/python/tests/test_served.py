from __future__ import annotations

import unittest

from chaintables import ApiError, ParameterError
from tests.served import SAMPLES, URL, client, raw


class EveryEndpoint(unittest.TestCase):
    def test_has_the_rows_of_the_answer_as_dicts(self) -> None:
        asking = client()
        self.assertGreater(len(SAMPLES), 30)
        for sample in SAMPLES:
            with self.subTest(path=sample["path"]):
                expected, headers = raw(sample["path"], sample["params"])
                self.assertTrue(expected["data"])
                table = asking.get(sample["path"], **sample["params"])
                names = [column["name"] for column in expected["columns"]]
                self.assertEqual([vars(column) for column in table.columns], expected["columns"])
                self.assertEqual([[row[name] for name in names] for row in table], expected["data"])
                said = [table.block, table.as_of, table.from_block, table.total]
                names = ["X-Data-Block", "X-Data-As-Of", "X-Data-From-Block", "X-Total-Count"]
                self.assertEqual([None if value is None else str(value) for value in said], [headers[name] for name in names])

    def test_has_a_method_that_answers_the_same(self) -> None:
        asking = client()
        for sample in SAMPLES:
            with self.subTest(path=sample["path"]):
                name = sample["path"].replace("/api/v1/", "/").strip("/").replace("/", "_").replace("-", "_")
                table = getattr(asking, name)(**sample["params"])
                # The same request: nothing has changed since, so it is the same table.
                self.assertIs(table, asking.get(sample["path"], **sample["params"]))

    def test_is_walked_over_page_by_page(self) -> None:
        asking = client()
        for sample in SAMPLES:
            if not sample["isPaged"]:
                continue
            with self.subTest(path=sample["path"]):
                rows = asking.get(sample["path"], **sample["params"]).rows
                limit = -(-len(rows) // 3)
                pages = list(asking.pages(sample["path"], **sample["params"], limit=limit))
                self.assertEqual([len(page) for page in pages], [limit, limit, len(rows) - 2 * limit])
                self.assertEqual(list(asking.rows(sample["path"], **sample["params"], limit=limit)), rows)


class Requests(unittest.TestCase):
    def test_lists_walk_by_their_methods_with_orders_and_flags(self) -> None:
        rows = list(
            client().iter_evm_lending_lendinga_v3_pools(
                order_asc=["chainId", ""], order_desc=["", "supplyApy"], borrowable=True, limit=20
            )
        )
        self.assertGreater(len(rows), 20)
        self.assertIn("supplyApy", rows[0])

    def test_an_empty_list_is_one_empty_page(self) -> None:
        pages = list(client().pages("/evm/dexb/v3/pools", offset=100_000))
        self.assertEqual([page.rows for page in pages], [[]])

    def test_a_400_names_parameter_rule_and_value(self) -> None:
        cases = [
            ({"limit": 10_001}, "limit", "10001", "is above 10000"),
            ({"token_address": "0x1"}, "token_address", "0x1", "is not 0x followed by 40 hexadecimal digits"),
            ({"chain_id": 'a"b\\'}, "chain_id", 'a"b\\', "is not an integer in plain decimal digits"),
            ({"offset": ""}, "offset", None, "its value is empty"),
        ]
        for params, parameter, value, rule in cases:
            with self.subTest(params=params), self.assertRaises(ParameterError) as caught:
                client().get("/evm/dexb/v3/pools", **params)
            error = caught.exception
            self.assertEqual((error.status, error.code), (400, "bad_request"))
            self.assertEqual((error.parameter, error.value, error.rule), (parameter, value, rule))
            self.assertTrue(error.session)

    def test_another_error_has_its_code(self) -> None:
        with self.assertRaises(ApiError) as caught:
            type(client())(URL, "no key").evm_chains()
        self.assertEqual((caught.exception.status, caught.exception.code), (401, "unauthorized"))
        self.assertNotIsInstance(caught.exception, ParameterError)


if __name__ == "__main__":
    unittest.main()

import { expect } from "chai";
import { describe, it } from "mocha";
import { catalogue } from "../../catalogue.ts";
import { exactCell, formatCell, shorten } from "../browser/format.js";
import { curlLine, fillParams, RANGES } from "../browser/request.js";
import { keyOfLink, parseRoute, routeTo, routeToSubject } from "../browser/route.js";
import { declareTables } from "../declared-tables.ts";

const NOW_MS = Date.UTC(2026, 10, 24, 12);
const cell = (value: Parameters<typeof formatCell>[0], type: string, unit?: string, name = "value") =>
  formatCell(value, { name, type, ...(unit !== undefined && { unit }) }, NOW_MS);

describe("explorer: cells as text", () => {
  it("writes numbers by their unit", () => {
    expect(cell(24_354_740.2, "Float64", "USD")).to.equal("$24.35M");
    expect(cell(0.5, "Float64", "USD per token")).to.equal("$0.5");
    expect(cell(-12.345, "Float64", "USD")).to.equal("-$12.35");
    expect(cell(0.0612, "Float64", "fraction")).to.equal("6.12 %");
    expect(cell(0.1, "Float64", "fraction per year")).to.equal("10 %");
    expect(cell(500, "UInt32", "hundredths of a bip")).to.equal("0.05 %");
    expect(cell(30, "UInt32", "basis points")).to.equal("0.3 %");
    expect(cell(3_022.16, "Float64", "token1 per token0")).to.equal("3,022");
    expect(cell(1.5e-12, "Float64")).to.equal("1.50e-12");
    expect(cell(8453, "UInt32", undefined, "chainId")).to.equal("8453");
  });

  it("never shows null as a number, nor the reverse", () => {
    expect([cell(null, "Nullable(Float64)", "USD"), cell(0, "Float64", "USD")]).to.deep.equal(["–", "$0"]);
    expect(exactCell(null, {})).to.equal("not known");
    expect([cell(true, "Bool"), cell(false, "Bool")]).to.deep.equal(["yes", "no"]);
  });

  it("writes times as their age, and the tooltip has the time", () => {
    expect(cell("2026-11-24T11:59:30+00:00", "DateTime")).to.equal("30 s ago");
    expect(cell(NOW_MS / 1000 - 7_200, "UInt32", "Unix seconds")).to.equal("2 h ago");
    expect(exactCell(NOW_MS / 1000, { unit: "Unix seconds" })).to.equal("2026-11-24 12:00:00 UTC");
  });

  it("shortens addresses and large integers, never a text of somebody", () => {
    expect(cell(`0x${"ab".repeat(20)}`, "String", undefined, "poolAddress")).to.equal("0xabab…abab");
    expect(cell("1319178008096712846000", "UInt128")).to.equal("1.3192e+21");
    const rude = "<img src=x onerror=alert(1)>".repeat(2);
    expect(cell(rude, "String", undefined, "vaultName")).to.equal(rude);
    expect(shorten("short")).to.equal("short");
  });
});

describe("explorer: addresses of views", () => {
  it("come back as they went in, whatever is in them", () => {
    const params = { chain_id: "1", q: "a&b=c #?/é" };
    expect(parseRoute(routeTo("table", "evm/dexb/v3/pools", params))).to.deep.equal({
      ...{ view: "table", rest: "evm/dexb/v3/pools" },
      params,
    });
    expect(parseRoute(routeTo("search", "", { q: "" }))).to.deep.equal({
      view: "search",
      rest: "",
      params: {},
    });
    expect(parseRoute("")).to.deep.equal({ view: "overview", rest: "", params: {} });
    expect(parseRoute("#/pool/%E0%A4%A").rest).to.equal("%E0%A4%A");
    expect(
      routeToSubject({ kind: "vault", address: "0x1", within: { underlying_address: "0x2" } }, "8453"),
    ).to.equal("#/vault/0x1?chain_id=8453&underlying_address=0x2");
  });

  it("know a link that carries a key", () => {
    expect(keyOfLink("#key=demo_abc-1")).to.equal("demo_abc-1");
    expect(keyOfLink(`#key=${encodeURIComponent("a key/of %")}`)).to.equal("a key/of %");
    expect(keyOfLink("#/pools?key=x")).to.equal(undefined);
  });
});

describe("explorer: requests", () => {
  const tables = declareTables(catalogue);

  it("fill in windows of time and examples, never an address", () => {
    for (const table of tables) {
      const filled = fillParams(table, {}, { nowMs: NOW_MS });
      const isSent = ({ name, required }: (typeof table.params)[number]) => required || name === "interval";
      const needed = table.params.filter(isSent).map(({ name }) => name);
      if (needed.some((name) => name.endsWith("_address"))) expect(filled, table.path).to.equal(undefined);
      else expect(Object.keys(filled ?? {}), table.path).to.have.members(needed);
    }
  });

  it("ask for candles of each range with an interval that is allowed, at most 1000 of them", () => {
    const table = tables.find(({ path }) => path.endsWith("/ohlcv/token"));
    if (table === undefined) throw new Error("no candles are declared");
    const seconds: Record<string, number> = { m: 60, h: 3_600, d: 86_400, w: 604_800 };
    for (const { name } of RANGES) {
      const token_address = "So11111111111111111111111111111111111111112";
      const filled = fillParams(table, { token_address }, { range: name, nowMs: NOW_MS });
      const { after_time: from, before_time: to, interval = "" } = filled ?? {};
      expect(table.params.find((param) => param.name === "interval")?.options).to.include(interval);
      const length = Number.parseInt(interval, 10) * (seconds[interval.slice(-1)] ?? 0);
      expect((Number(to) - Number(from)) / length, name).to.be.within(1, 1_000);
    }
  });

  it("ask for a history with the finest of its intervals that has no more than 199 points, of a year for the last ones", () => {
    const table = tables.find(({ path }) => path === "/evm/lending/rates");
    if (table === undefined) throw new Error("no history is declared");
    const asked = RANGES.map(({ name }) => {
      const filled = fillParams(table, { id: "0x1" }, { range: name, nowMs: NOW_MS });
      return [filled?.interval, (Number(filled?.before_time) - Number(filled?.after_time)) / 3_600];
    });
    expect(asked).to.deep.equal([
      ["1h", 1],
      ["1h", 1],
      ["1h", 24],
      ["1h", 168],
      ["1d", 720],
      ["1d", 199 * 24],
    ]);
  });

  it("send orders to tables that have some, and parameters that they know", () => {
    const vaults = tables.find(({ path }) => path.endsWith("lendingc/v1/vaults"));
    const chains = tables.find(({ path }) => path === "/evm/chains");
    const given = { order_desc: "tvlUsd", chain_id: "8453", range: "1 day" };
    expect(vaults && fillParams(vaults, given, { nowMs: NOW_MS })).to.deep.equal({
      order_desc: "tvlUsd",
      chain_id: "8453",
    });
    expect(chains && fillParams(chains, given, { nowMs: NOW_MS })).to.deep.equal({});
  });

  it("are lines for a shell that nothing in them can leave", () => {
    expect(curlLine({ origin: "http://a", key: "k'; rm -rf /", path: "/p?q='" })).to.equal(
      String.raw`curl -s -H 'X-API-KEY: k'\''; rm -rf /' 'http://a/p?q='\'''`,
    );
    expect(curlLine({ origin: "http://a", key: null, path: "/status" })).to.equal(
      "curl -s 'http://a/status'",
    );
  });
});

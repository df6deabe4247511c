import { expect } from "chai";
import { describe, it } from "mocha";
import type { SourceEvent } from "../rpc-client/endpoint/endpoint.ts";
import { EndpointMonitor, hostsOf } from "./endpoint-monitor.ts";

const request = (host: string, ok: boolean, calls = 1): SourceEvent => ({
  ...{ kind: "request", host, method: "eth_getLogs", calls, ms: 5, ok },
});
const fault = (
  host: string,
  kind: "transient" | "rate" | "range" | "reverted",
  message = "refused",
): SourceEvent => ({
  ...{ kind: "fault", host, fault: kind, method: "eth_getLogs", message },
});

describe("EndpointMonitor", () => {
  it("says that no endpoint can be used once all have failed for ten seconds, with hosts and reasons", () => {
    const news = new EndpointMonitor(["a.test", "b.test"]);
    expect(news.describeOutage(0)).to.equal(undefined);
    news.onEvent(fault("a.test", "transient", "connect ECONNREFUSED"), 1_000);
    expect(news.describeOutage(60_000), "b.test has had no request yet").to.equal(undefined);
    news.onEvent(fault("b.test", "rate", "slow down"), 3_000);
    expect(news.describeOutage(12_000)).to.equal(undefined);
    expect(news.describeOutage(13_000)).to.deep.equal({
      why: "No RPC endpoint can be used: a.test (connect ECONNREFUSED); b.test (slow down)",
      sinceMs: 3_000,
    });
    news.onEvent(request("b.test", true), 14_000);
    expect(news.describeOutage(60_000)).to.equal(undefined);
  });

  it("waits for nothing where a circuit is open or an endpoint was put aside", () => {
    const news = new EndpointMonitor(["a.test"]);
    news.onEvent(
      { kind: "aside", host: "a.test", reason: "wrong chain: chain id 1 where 8453 is configured" },
      5,
    );
    expect(news.describeOutage(5)?.why).to.contain(
      "a.test (wrong chain: chain id 1 where 8453 is configured)",
    );
    news.onEvent({ kind: "circuit", host: "a.test", open: false }, 6);
    expect(news.describeOutage(6)).to.equal(undefined);
    news.onEvent({ kind: "circuit", host: "a.test", open: true }, 7);
    expect(news.describeOutage(7)?.sinceMs).to.equal(7);
  });

  it("counts a refused call as an answer", () => {
    const news = new EndpointMonitor(["a.test"]);
    news.onEvent(fault("a.test", "transient"), 0);
    news.onEvent(fault("a.test", "reverted"), 5_000);
    expect(news.describeOutage(60_000)).to.equal(undefined);
  });

  it("reports refusals and limits when they change, and at most every 30 seconds", () => {
    const news = new EndpointMonitor(["rpc.example.org"]);
    news.onEvent(request("rpc.example.org", true, 9_000), 0);
    expect(news.takeReport(0)).to.equal(undefined);
    for (let i = 0; i < 1_066; i++) news.onEvent(fault("rpc.example.org", "rate"), i);
    news.onEvent({ kind: "range", blocks: 1_000, ok: false }, 1);
    news.onEvent({ kind: "range", blocks: 10, ok: true }, 2);
    expect(news.takeReport(2_000)).to.equal(
      "rpc.example.org: 1,066 × 429 in 9,000 calls · 1 ranges of eth_getLogs refused, cut to 10 blocks",
    );
    news.onEvent(fault("rpc.example.org", "rate"), 3_000);
    expect(news.takeReport(31_999), "too soon").to.equal(undefined);
    expect(news.takeReport(32_000)).to.contain("1,067 × 429");
    news.onEvent(request("rpc.example.org", true, 1_000), 40_000);
    expect(news.takeReport(90_000), "calls alone are no news").to.equal(undefined);
  });

  it("measures calls a second from one look to the next", () => {
    const news = new EndpointMonitor(["a.test"]);
    news.measureCallRate(1_000);
    news.onEvent(request("a.test", true, 30), 2_000);
    expect(news.measureCallRate(11_000)).to.equal(3);
    expect(news.measureCallRate(12_000)).to.equal(0);
  });
});

describe("hostsOf", () => {
  it("names hosts of http URLs once, without keys", () => {
    const urls = [
      "https://rpc.example.org/v2/secret",
      "wss://rpc.example.org/ws",
      "http://127.0.0.1:8545",
      "https://rpc.example.org/x",
    ];
    expect(hostsOf(urls)).to.deep.equal(["rpc.example.org", "127.0.0.1:8545"]);
  });
});

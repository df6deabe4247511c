import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { catalogue } from "../../../gateway/catalogue.ts";
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from "../../../gateway/testkit/gateway.ts";
import { LiveTable } from "../../../gateway/testkit/live-table.ts";
import { until } from "../../../services/shared/testkit/fixture.ts";
import { ApiError, Client, LIVE_KEYS, type LiveEvent } from "../src/index.ts";

const MARKETS = "/evm/lending/lendingc/markets";
const columns = catalogue.find(({ path }) => path === MARKETS)?.columns ?? [];
const market = (id: string, tvl: number) =>
  columns.map(({ name }) => (name === "marketId" ? id : name === "tvlUsd" ? tvl : null));

describe("the TypeScript client's live tables", () => {
  let gateway: TestGateway;
  let markets: LiveTable;
  let client: Client;
  let stop: AbortController;
  const waits: number[] = [];
  beforeEach(async () => {
    gateway = await startTestGateway();
    markets = new LiveTable(gateway.lending);
    markets.rows = [market("a", 1)];
    stop = new AbortController();
    waits.length = 0;
    const wait = async (ms: number) => void waits.push(ms);
    client = new Client({ url: gateway.url, apiKey: BOOTSTRAP_KEY, retry: { wait } });
  });
  afterEach(() => {
    stop.abort();
    return gateway.stop();
  });

  const follow = (from = client) => {
    const events: LiveEvent<{ readonly marketId: string; readonly tvlUsd: number | null }>[] = [];
    const run = async () => {
      for await (const event of from.live(MARKETS, { chain_id: 8453 }, { signal: stop.signal }))
        events.push(event);
    };
    const ended = run().catch((error: unknown) => error);
    return { events, ended };
  };
  const idsOf = (event: LiveEvent<{ readonly marketId: string }> | undefined) =>
    event !== undefined && "rows" in event ? event.rows.map(({ marketId }) => marketId) : undefined;

  it("yields the table, each change, and what a reorg took back, with rows as objects", async () => {
    const { events, ended } = follow();
    await until(() => events.length === 1);
    expect(events[0]).to.deep.include({ event: "snapshot", chain: 8453, block: 100, key: ["marketId"] });
    expect(idsOf(events[0])).to.deep.equal(["a"]);
    markets.mine([market("b", 2), market("a", 1)]);
    await until(() => events.length === 2);
    expect(events[1]).to.deep.include({ event: "change", block: 101, removed: [], order: [["b"], ["a"]] });
    expect(idsOf(events[1])).to.deep.equal(["b"]);
    markets.takeBack(1);
    markets.mine([market("a", 1)], "b");
    await until(() => events.length === 3);
    expect(events[2]).to.deep.include({
      ...{ event: "reorg", hash: "0xb101", removed: [["b"]] },
      takenBack: [{ block: 101, hash: "0xa101" }],
    });
    markets.mine();
    await until(() => events.length === 4);
    expect(events[3]).to.deep.equal({
      event: "head",
      chain: 8453,
      block: 102,
      hash: "0xa102",
      time: 1_000_102,
    });
    stop.abort();
    expect(((await ended) as Error).name).to.equal("AbortError");
    await until(async () => /^gateway_live_streams\{.*\} 0$/m.test(await gateway.metrics()));
  });

  it("resumes behind its last event when the connection breaks", async () => {
    let broken: AbortController | undefined;
    const breaking: typeof fetch = (url, init) => {
      broken = new AbortController();
      const signal = AbortSignal.any([broken.signal, init?.signal as AbortSignal]);
      return fetch(url, { ...init, signal });
    };
    const wait = async (ms: number) => void waits.push(ms);
    const { events } = follow(
      new Client({ url: gateway.url, apiKey: BOOTSTRAP_KEY, fetch: breaking, retry: { wait } }),
    );
    await until(() => events.length === 1);
    const told = () =>
      events.flatMap((event) => ("rows" in event ? event.rows : [])).map(({ tvlUsd }) => tvlUsd);
    broken?.abort();
    markets.mine([market("a", 2)]);
    await until(() => told().includes(2));
    markets.mine([market("a", 3)]);
    await until(() => told().includes(3));
    // Where it was back before the change was known, it was told the head that it had.
    const changes = events.map(({ event }) => event).filter((event) => event !== "head");
    expect(changes).to.deep.equal(["snapshot", "change", "change"]);
    expect(told()).to.deep.equal([1, 2, 3]);
    expect(waits).to.deep.equal([500]);
  });

  it("tells an outage and goes on, and throws where the instance refuses", async () => {
    const { events } = follow();
    await until(() => events.length === 1);
    const { answer } = gateway.lending;
    gateway.lending.answer = (_req, res) => {
      res.writeHead(503, { "Content-Type": "application/json" });
      res.end(JSON.stringify({ error: "unavailable", message: "Not now.", session: "x" }));
    };
    markets.mine([market("a", 2)]);
    await until(() => events.length === 2);
    const [, outage] = events;
    expect(outage?.event === "outage" && outage.error.message).to.equal("Not now.");
    gateway.lending.answer = answer;
    markets.mine([market("a", 3)]);
    await until(() => events.at(-1)?.event === "change");

    const refused = await follow(new Client({ url: gateway.url, apiKey: "unknown" })).ended;
    expect(refused).to.be.instanceOf(ApiError).and.include({ status: 401, code: "unauthorized" });
  });

  it("follows what the declarations say can be followed", () => {
    const live = catalogue.flatMap(({ path, live: form }) =>
      form === undefined ? [] : [[path, form.kind === "row" ? [] : form.key]],
    );
    expect(LIVE_KEYS).to.deep.equal(Object.fromEntries(live));
  });
});

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import type { DeployedPool } from "../../../deploy/devnet/deploy.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { candleStart, INTERVAL_SECONDS, type Interval } from "../../shared/contract/candle-params.ts";
import type { Cell } from "../../shared/contract/column.ts";
import type { Endpoint } from "../../shared/contract/endpoint.ts";
import { checkRows } from "../../shared/contract/testkit/check-rows.ts";
import { openStore } from "../../shared/storage/open.ts";
import type { Store } from "../../shared/storage/port.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { bodyOf } from "../../shared/testkit/fixture.ts";
import { type ServiceProcess, startServiceProcess } from "../../shared/testkit/service-process.ts";
import { ohlcvPool, ohlcvToken, prices as pricesEndpoint } from "../contract.ts";
import { maxCandlesOf } from "../endpoints/candle-params.ts";
import { startTestIngest, type TestIngest } from "./kit/harness.ts";
import { pricesOf, swapsOf } from "./kit/pool-expectation.ts";
import { address } from "./kit/rows.ts";

const GENESIS_S = 1_760_000_000;
/** Seconds before each block. */
const GAPS = [2, 2, 700, 2, 61, 2, 1_800, 60, 240, 2, 3_600, 61, 2, 90_000, 30, 2];

describeWithChain("evm-dex's additions over an indexed chain", () => {
  let chain: TestChain;
  let dataDir: string;
  let store: Store;
  let ingest: TestIngest;
  let service: ServiceProcess;
  let head: number;

  before(async () => {
    chain = await createTestChain({ timestamp: GENESIS_S });
    for (const [i, gap] of GAPS.entries()) {
      const from = chain.accounts[1 + (i % 6)] as `0x${string}`;
      for (const at of [0, 1, 4, 8]) {
        const pool = chain.pools[at] as DeployedPool;
        const zeroForOne = (i + at) % 3 !== 0;
        const token = zeroForOne ? pool.token0 : pool.token1;
        const usd = pool.spec.swapUsd * (1 + i / 4);
        const amount = BigInt(Math.round((usd / token.usd) * 10 ** token.decimals));
        if ((i + at) % 4 !== 0) await chain.swap(pool.address, { zeroForOne, amount, from });
      }
      await chain.mine(1, { intervalS: gap });
    }
    head = await chain.headNumber();
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-additions-"));
    store = await openStore({ service: "evm-dex", dataDir });
    ingest = await startTestIngest(chain, { store });
    await ingest.catchUp();
    const env = { DATA_DIR: dataDir, DEPLOYMENTS_FILE: chain.deploymentsFile };
    service = await startServiceProcess(new URL("../main.ts", import.meta.url), env);
  });
  after(async () => {
    await service?.stop();
    await ingest?.close();
    await chain?.stop();
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  /** Rows as objects by column, after a check against the declaration. */
  async function get(endpoint: Endpoint, query: string) {
    const response = await fetch(`${service.httpUrl}${endpoint.path}?${query}`);
    const body = await bodyOf(response);
    expect(response.status, JSON.stringify(body).slice(0, 300)).to.equal(200);
    expect(response.headers.get("content-type")).to.equal(endpoint.mediaType);
    const [table] = body as [{ data: Cell[][] }];
    checkRows(endpoint, table.data);
    const names = endpoint.columns.map(({ name }) => name);
    const rows = table.data.map((cells) =>
      Object.fromEntries(names.map((name, i): [string, Cell] => [name, cells[i] as Cell])),
    );
    return { rows, headers: response.headers };
  }

  it("/evm/prices has the price of every token with what it rests on, at the head and at earlier blocks", async () => {
    const { USDC, WETH, THIN } = chain.deployment.tokens;
    const unknown = address(0xdead);
    const tokens = [WETH, USDC, THIN].map((token) => token.address);
    const list = [...tokens, unknown, WETH.address.toUpperCase().replace("0X", "0x")].join(",");
    const { rows, headers } = await get(pricesEndpoint, `tokens=${list}`);
    const { timestamp } = await chain.header(head);
    const priceUsd = (await pricesOf(chain)(WETH.address, head)) as number;
    expect(rows.map(({ token }) => token)).to.deep.equal([...tokens, unknown, WETH.address]);
    const [weth, usdc, thin, none, again] = rows;
    expect(weth?.priceUsd).to.be.closeTo(priceUsd, priceUsd * 1e-12);
    expect(weth?.depthUsd).to.be.within(9_000_000, 13_000_000);
    expect(weth?.ageSeconds).to.be.within(0, 3_600);
    expect(chain.pools.map((pool) => pool.address)).to.include(weth?.sourcePool);
    const origin = { source: "pools", parentToken: USDC.address, hops: 1, departed: false, nullReason: null };
    expect(weth).to.include({ symbol: "WETH", block: head, blockTime: timestamp, ...origin });
    expect(again).to.deep.equal(weth);
    const empty = {
      sourcePool: null,
      parentToken: null,
      depthUsd: null,
      otherDepthUsd: null,
      ageSeconds: null,
    };
    expect(usdc).to.include({ ...empty, priceUsd: 1, source: "stablecoin", hops: 0, nullReason: null });
    const noPrice = { ...empty, priceUsd: null, source: null, hops: null };
    expect(thin).to.include({ ...noPrice, symbol: "THIN", nullReason: "no_path" });
    expect(none).to.include({ ...noPrice, symbol: null, nullReason: "unknown_token" });

    const before = head - 8;
    const past = await get(pricesEndpoint, `tokens=${tokens.join(",")}&at_block=${before}`);
    const pastUsd = (await pricesOf(chain)(WETH.address, before)) as number;
    const [wethThen] = past.rows;
    expect(wethThen?.priceUsd)
      .to.be.closeTo(pastUsd, pastUsd * 1e-12)
      .and.not.equal(weth?.priceUsd);
    expect(wethThen).to.include({ block: before, blockTime: (await chain.header(before)).timestamp });
    const named = ["x-data-block", "x-data-head"].map((name) => past.headers.get(name));
    expect(named).to.deep.equal([`${before}`, `${head}`]);
    const beyond = await get(pricesEndpoint, `tokens=${tokens.join(",")}&at_block=${head + 1}`);
    for (const row of beyond.rows)
      expect(row).to.include({
        ...noPrice,
        block: head + 1,
        blockTime: null,
        nullReason: "block_not_indexed",
      });
    const tag = headers.get("etag") as string;
    const url = `${service.httpUrl}${pricesEndpoint.path}?tokens=${list}`;
    expect((await fetch(url, { headers: { "If-None-Match": tag } })).status).to.equal(304);
  });

  // WETH over USDC by the deepest pool, another one, and one with a token that has no price.
  for (const at of [0, 1, 8])
    it(`/evm/ohlcv/pool has of pool ${at} the candles of every swap on the chain`, async () => {
      const pool = chain.pools[at] as DeployedPool;
      const swaps = await swapsOf(chain, { pool, priceAt: pricesOf(chain) });
      expect(swaps.length).to.be.above(3);
      const end = (swaps.at(-1)?.time ?? 0) + 1;
      for (const interval of ["1m", "15m", "1h"] as const) {
        const from = end - maxCandlesOf(interval) * INTERVAL_SECONDS[interval];
        const query = `pool_address=${pool.address}&interval=${interval}&after_time=${from}&before_time=${end}`;
        const { rows } = await get(ohlcvPool, query);
        const expected = expectedCandles(swaps, interval).filter(({ unixTime }) => unixTime >= from);
        expect(rows).to.have.length(expected.length).above(0);
        for (const [i, row] of rows.entries()) expectCandle(row, expected[i] as ExpectedCandle);
      }
    });

  it("/evm/ohlcv/token ends at the token's price at the head, and has no candles of one without a price", async () => {
    const { WETH, THIN, USDC } = chain.deployment.tokens;
    const { timestamp } = await chain.header(head);
    const range = `interval=1h&after_time=${timestamp - 86_400}&before_time=${timestamp + 1}`;
    const { rows } = await get(ohlcvToken, `token_address=${WETH.address}&${range}`);
    const [price] = (await get(pricesEndpoint, `tokens=${WETH.address}`)).rows;
    expect(rows).not.to.be.empty;
    expect(rows.at(-1)?.closePrice).to.be.closeTo(
      price?.priceUsd as number,
      (price?.priceUsd as number) * 1e-9,
    );
    expect(rows.at(-1)?.poolAddress).to.equal(price?.sourcePool);
    for (const token of [THIN, USDC])
      expect((await get(ohlcvToken, `token_address=${token.address}&${range}`)).rows).to.deep.equal([]);
  });
});

type Swaps = Awaited<ReturnType<typeof swapsOf>>;

interface ExpectedCandle {
  readonly unixTime: number;
  readonly tradeCount: number;
  readonly volume: number | null;
  /** What the candle opens at, and the price after the last swap of each of its minutes. */
  readonly prices: readonly number[];
}

/** From all swaps, oldest first, without buckets: the swaps of each candle, and of each minute the last one. */
function expectedCandles(swaps: Swaps, interval: Interval): ExpectedCandle[] {
  const starts = [...new Set(swaps.map(({ time }) => candleStart(time, interval)))];
  return starts.map((unixTime) => {
    const within = swaps.filter(({ time }) => candleStart(time, interval) === unixTime);
    const minutes = new Map(within.map(({ time, closePrice }) => [candleStart(time, "1m"), closePrice]));
    const before = swaps.filter(({ time }) => time < unixTime).at(-1)?.closePrice;
    const values = within.map(({ valueUsd }) => valueUsd);
    return {
      unixTime,
      tradeCount: within.length,
      volume: values.includes(null) ? null : values.reduce<number>((sum, value) => sum + (value ?? 0), 0),
      prices: [...(before === undefined ? [] : [before]), ...minutes.values()],
    };
  });
}

function expectCandle(row: Readonly<Record<string, Cell>>, expected: ExpectedCandle): void {
  const { unixTime, tradeCount, volume, prices } = expected;
  expect(row).to.include({ unixTime, tradeCount, resolutionSeconds: 60 });
  const found = [row.openPairPrice, row.highPairPrice, row.lowPairPrice, row.closePairPrice];
  const known = [prices[0], Math.max(...prices), Math.min(...prices), prices.at(-1)] as number[];
  for (const [i, price] of known.entries()) expect(found[i]).to.be.closeTo(price, price * 1e-9);
  if (volume === null) expect(row.volume).to.equal(null);
  else expect(row.volume).to.be.closeTo(volume, volume * 1e-6);
}

import { expect } from "chai";
import { afterEach, beforeEach, it } from "mocha";
import type { Endpoint, Handler } from "../../../../shared/contract/endpoint.ts";
import { parseQuery } from "../../../../shared/contract/parse.ts";
import { checkRows } from "../../../../shared/contract/testkit/check-rows.ts";
import { put, type Store } from "../../../../shared/storage/port.ts";
import { describeOnEngines } from "../../../../shared/storage/testkit/engines.ts";
import { emptyBucket } from "../../../metrics/bucket.ts";
import { v2AmountsText } from "../../../metrics/v2-bucket.ts";
import { aerodromeV2 } from "../../../protocols/aerodrome-v2.ts";
import {
  COLLECTIONS,
  checkpoints,
  poolEvents,
  pools,
  priceLinks,
  type RollupRow,
  rollups,
} from "../../../store/collections.ts";
import { toAnchorRows, toLinkRow } from "../../../store/price-links.ts";
import { retentions } from "../../../store/retention.ts";
import { v2Rollups } from "../../../store/v2-collections.ts";
import { address, CHAIN_ID, checkpointRow, eventRow, poolRow } from "../../../test/kit/rows.ts";
import { endpoint as poolEndpoint } from "./pool.endpoint.ts";
import { ohlcvPoolHandler } from "./pool.handler.ts";
import { endpoint as tokenEndpoint } from "./token.endpoint.ts";
import { ohlcvTokenHandler } from "./token.handler.ts";

/** A whole day. */
const T = 1_700_006_400;
const HEAD = checkpointRow({ blockTime: T + 7_000, fromTime: T - 40 * 86_400 });
const [WETH, USDC, MEME] = [1, 2, 3].map((n) => address(n)) as [string, string, string];
/** WETH / USDC, MEME / WETH, and a stranger's WETH / MEME. */
const [MAIN, OLD, STRANGE] = [0x901, 0x902, 0x903].map((n) => address(n)) as [string, string, string];

describeOnEngines(
  (engine) => `/evm/ohlcv on ${engine}`,
  {},
  ({ open }) => {
    let store: Store;
    let removeStore: () => Promise<void>;
    beforeEach(async () => {
      ({ store, remove: removeStore } = await open());
      await store.declare(COLLECTIONS);
      const old = HEAD.blockTime - 60 * 86_400;
      await store.write([
        put(checkpoints, [HEAD]),
        put(pools, [
          poolRow({ poolAddress: MAIN, token0Address: WETH, token1Address: USDC, createdAt: old }),
          poolRow({ poolAddress: OLD, token0Address: MEME, token1Address: WETH, createdAt: old }),
          poolRow({
            poolAddress: STRANGE,
            token0Address: WETH,
            token1Address: MEME,
            createdAt: HEAD.blockTime - 600,
          }),
        ]),
      ]);
      await links({ deepest: OLD });
      await rolled(MAIN, { 0: 3_000, 10: 3_300, 65: 3_200 });
      await rolled(OLD, { 1: 0.5, 3: 0.6, 12: 0.4, 66: 0.5 });
      await rolled(STRANGE, { 60: 1e-6 });
    });
    afterEach(() => removeStore());

    /** MEME rests on OLD over WETH, which rests on MAIN. */
    const links = async ({ deepest }: { deepest: string }) => {
      const at = { chainId: CHAIN_ID, blockNumber: 150, time: T };
      const support = { pool: MAIN, depthUsd: 1e6, restUsd: 0 };
      const toUsdc = {
        token: WETH,
        parent: USDC,
        pool: MAIN,
        side: 0 as const,
        price: 3_200,
        hops: 1,
        support,
      };
      const toWeth = {
        ...toUsdc,
        token: MEME,
        parent: WETH,
        pool: OLD,
        hops: 2,
        support: { ...support, pool: deepest },
      };
      await store.write([
        put(priceLinks, [
          ...toAnchorRows([USDC], { ...at, blockNumber: 1, time: T - 86_400 }),
          ...[toUsdc, toWeth].map((link) => toLinkRow({ token: link.token, link }, at)),
        ]),
      ]);
    };

    /** Closes by minute, as the ingest rolls them up. */
    const rolled = async (poolAddress: string, closes: Readonly<Record<number, number>>) => {
      const rows = new Map<string, RollupRow>();
      for (const [minute, closePrice] of Object.entries(closes))
        for (const span of [60, 3_600, 86_400]) {
          const time = T + Number(minute) * 60;
          const start = time - (time % span);
          const before = rows.get(`${span} ${start}`) ?? emptyBucket();
          const { swapCount, volumeUsd } = before;
          const sums = { swapCount: swapCount + 1, volumeUsd: volumeUsd + 100, closePrice };
          rows.set(`${span} ${start}`, { ...before, chainId: CHAIN_ID, poolAddress, span, start, ...sums });
        }
      await store.write([put(rollups, [...rows.values()])]);
    };

    const rowsOf = async <E extends Endpoint>(endpoint: E, handler: Handler<E>, query: string) => {
      const { params } = parseQuery(endpoint, query);
      const { rows, version } = await handler(params, { session: "t", signal: AbortSignal.timeout(10_000) });
      checkRows(endpoint, rows as never);
      const names = endpoint.columns.map(({ name }) => name);
      expect(version?.block).to.equal(HEAD.blockNumber);
      return (rows as (readonly (string | number | null)[])[]).map((row) =>
        Object.fromEntries(names.map((name, i) => [name, row[i] as string | number | null])),
      );
    };
    const range = (interval: string, from = T, to = T + 8_000) =>
      `after_time=${from}&before_time=${to}&interval=${interval}`;
    const ofPool = (query: string) => rowsOf(poolEndpoint, ohlcvPoolHandler({ store }), query);
    const ofToken = (query: string) => rowsOf(tokenEndpoint, ohlcvTokenHandler({ store }), query);
    const prices = (row: Record<string, unknown> | undefined, end = "Price") =>
      ["open", "high", "low", "close"].map((name) => row?.[`${name}${end}`]);

    it("has a pool's candles in the other token and in USD over the path to a stablecoin", async () => {
      const rows = await ofPool(`pool_address=${OLD}&${range("1h")}`);
      expect(rows.map(({ unixTime }) => unixTime)).to.deep.equal([T, T + 3_600]);
      const [first, second] = rows;
      expect(prices(first, "PairPrice")).to.deep.equal([0.5, 0.6, 0.4, 0.4]);
      // The first price is the opening; WETH is 3,000 until minute 10, then 3,300.
      expect(prices(first)).to.deep.equal([1_500, 1_800, 1_320, 1_320]);
      expect(first).to.include({ volume: 300, tradeCount: 3, interval: "1h", resolutionSeconds: 60 });
      expect(prices(second, "PairPrice")).to.deep.equal([0.4, 0.5, 0.4, 0.5]);
      expect(prices(second)).to.deep.equal([1_320, 1_600, 1_320, 1_600]);
      const inverse = await ofPool(`pool_address=${OLD}&base=token1&${range("1h")}`);
      expect(prices(inverse[1], "PairPrice")).to.deep.equal([2.5, 2.5, 2, 2]);
    });

    it("has a token's candles from the pool that its price rests on, not from the youngest or deepest", async () => {
      const expected = await ofToken(`token_address=${MEME}&${range("1h")}`);
      expect(prices(expected[1])).to.deep.equal([1_320, 1_600, 1_320, 1_600]);
      expect(expected.map(({ poolAddress }) => poolAddress)).to.deep.equal([OLD, OLD]);
      // A stranger's pool becomes the deepest that agrees: it is ten minutes old.
      await links({ deepest: STRANGE });
      expect(await ofToken(`token_address=${MEME}&${range("1h")}`)).to.deep.equal(expected);
      expect(await ofToken(`token_address=${USDC}&${range("1h")}`), "an anchor has no pool").to.deep.equal(
        [],
      );
      expect(await ofToken(`token_address=${address(99)}&${range("1h")}`)).to.deep.equal([]);
    });

    it("takes the finest buckets that are stored so far back, and says which", async () => {
      const kept = (rows: string, time: number) =>
        store.write([
          put(retentions, [
            { chainId: CHAIN_ID, rows, time, blockNumber: 0, goneTime: 0, goneBlock: 0, fromBlock: 0 },
          ]),
        ]);
      await kept("rollups/60", T + 3_600);
      const resolutions = async (interval: string) =>
        (await ofPool(`pool_address=${OLD}&${range(interval)}`)).map((row) => [
          row.unixTime,
          row.resolutionSeconds,
        ]);
      expect(await resolutions("1h")).to.deep.equal([
        [T, 3_600],
        [T + 3_600, 3_600],
      ]);
      expect(await resolutions("5m"), "minutes are gone: such candles are left out").to.deep.equal([
        [T + 3_900, 60],
      ]);
      expect(await resolutions("1d")).to.deep.equal([[T, 3_600]]);
      await kept("rollups/3600", T + 3_600);
      expect(await resolutions("1d")).to.deep.equal([[T, 86_400]]);
    });

    it("leaves out candles that begin before the index, and refuses too many", async () => {
      await store.write([put(checkpoints, [{ ...HEAD, fromTime: T + 1 }])]);
      const rows = await ofPool(`pool_address=${OLD}&${range("1h")}`);
      expect(rows.map(({ unixTime }) => unixTime)).to.deep.equal([T + 3_600]);
      const query = `pool_address=${OLD}&${range("1h", T, T + 334 * 3_600)}`;
      expect(() => parseQuery(poolEndpoint, query)).to.throw(
        /makes 334 candles of this time range, which is above 333/,
      );
    });

    it("is 404 for a pool that is not known", async () => {
      const error = await ofPool(`pool_address=${address(77)}&${range("1h")}`).catch(
        (caught: unknown) => caught,
      );
      expect(error).to.include({ code: "not_found" });
    });

    it("reads an Aerodrome v2 pool's prices from its events, and its volume from its hours", async () => {
      const pool = poolRow({
        poolAddress: address(0x904),
        token0Address: WETH,
        token1Address: USDC,
        protocol: "aerodrome-v2",
        token1Decimals: 18,
      });
      const state = (reserve1: bigint) =>
        aerodromeV2.write({
          ...aerodromeV2.initialState(pool),
          reserve0: 10n ** 18n,
          reserve1: reserve1 * 10n ** 18n,
        });
      const events = [
        [5, 3_000n],
        [5, 3_100n],
        [6, 2_900n],
        [70, 3_050n],
      ] as const;
      const amounts = v2AmountsText.write({
        volume0: 0n,
        volume1: 0n,
        fees0: 0n,
        fees1: 0n,
        growth0: 0n,
        growth1: 0n,
      } as never);
      const hour = { chainId: CHAIN_ID, poolAddress: pool.poolAddress, span: 3_600, start: T, amounts };
      await store.write([
        put(pools, [pool]),
        put(
          poolEvents,
          events.map(([minute, reserve1], i) =>
            eventRow({
              poolAddress: pool.poolAddress,
              blockNumber: 100 + i,
              time: T + minute * 60 + i,
              state: state(reserve1),
            }),
          ),
        ),
        put(v2Rollups, [
          { ...hour, swapCount: 3, unpricedCount: 0, zeroForOneUsd: 5, oneForZeroUsd: 2, feesUsd: 1 },
        ]),
      ]);
      const minutes = await ofPool(`pool_address=${pool.poolAddress}&${range("1m")}`);
      expect(
        minutes.map((row) => [row.unixTime, row.closePairPrice, row.closePrice, row.volume]),
      ).to.deep.equal([
        [T + 300, 3_100, 3_100, null],
        [T + 360, 2_900, 2_900, null],
        [T + 4_200, 3_050, 3_050, null],
      ]);
      expect(minutes[1]?.openPairPrice).to.equal(3_100);
      const long = await ofPool(
        `pool_address=${pool.poolAddress}&${range("15m", T - 5 * 86_400, T + 5 * 86_400)}`,
      );
      expect(long.map((row) => [row.unixTime, row.closePairPrice, row.resolutionSeconds])).to.deep.equal([
        [T, 2_900, 300],
        [T + 3_600, 3_050, 300],
      ]);
      const hours = await ofPool(`pool_address=${pool.poolAddress}&${range("1h")}`);
      expect(hours.map(({ volume, tradeCount, unixTime }) => [unixTime, volume, tradeCount])).to.deep.equal([
        [T, 7, 3],
      ]);
      expect(prices(hours[0], "PairPrice")).to.deep.equal([3_100, 3_100, 2_900, 2_900]);
    });
  },
);

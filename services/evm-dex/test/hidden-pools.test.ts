import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { createRandom } from "../../../deploy/devnet/random.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { MEDIAN_WINDOW_SECONDS } from "../../shared/pricing/median.ts";
import { openStore } from "../../shared/storage/open.ts";
import { describeThorough } from "../../shared/testkit/describe.ts";
import { startIngestProcess } from "../../shared/testkit/service-process.ts";
import { COLLECTIONS, inactivePools, poolEvents, pools, priceLinks } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { type V2LargeSwapsRow, v2LargeSwaps } from "../store/v2-collections.ts";
import { startAlteredNode } from "./kit/altered-node.ts";
import { dumpStore, expectSameStore, mineBusyBlocks } from "./kit/harness.ts";
import { mineAerodromeBlocks } from "./v2/aerodrome-busy.ts";

const INGEST = new URL("../ingest/main.ts", import.meta.url);

const POOL_CREATED = [
  "0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118",
  "0xab0d57f0df537bb25e80245ef7748fa62353808c54d6e528a9dd20887aed9ac2",
  "0x2128d88d14c80cb081c1252a5acff7a264671bf199ce226b53788fb26065005e",
];
const FACTORY = "0xc45a0155";
const KILLS = 4;
/** The chain begins so long before a full hour: the hour's rows after it have nothing of the time before the pools were found. */
const BEFORE_HOUR_S = 700;
const HOUR_S = 3_600;

interface RawLog {
  readonly topics: readonly string[];
  readonly data: string;
}

/** A node that withholds some pools' creations from eth_getLogs, and records whose factory is requested. */
async function startHidingRpc(target: string, hidden: readonly string[]) {
  const requested: string[] = [];
  const isHidden = ({ topics, data }: RawLog) =>
    POOL_CREATED.includes(topics[0] ?? "") && hidden.some((pool) => data.includes(pool.slice(2)));
  const node = await startAlteredNode(target, ({ method, params }, reply) => {
    const [call] = params as { to?: string; data?: string }[];
    if (method === "eth_call" && call?.data === FACTORY) requested.push(call.to ?? "");
    if (method === "eth_getLogs" && Array.isArray(reply.result))
      reply.result = (reply.result as RawLog[]).filter((log) => !isHidden(log));
  });
  return { ...node, requested };
}

const USD_FIELDS = [
  "price0Usd",
  "price1Usd",
  "valueUsd",
  "feeUsd",
  "volumeUsd",
  "feesUsd",
  "unpricedCount",
  "unpricedFeeCount",
  "zeroForOneUsd",
  "oneForZeroUsd",
  "swaps",
];

/**
 * A dump without what differs by design: a pool that is unknown at the start is not read there, and prices nothing
 * until its first event.
 * @param found when all withheld pools had had one, Unix seconds
 */
function withoutEarlyPrices(dump: Record<string, unknown[]>, found: number): Record<string, unknown[]> {
  const since = found + MEDIAN_WINDOW_SECONDS;
  return Object.fromEntries(
    Object.entries(dump)
      .filter(([name]) => name !== inactivePools.name)
      .map(([name, rows]) => [
        name,
        (rows as Record<string, unknown>[]).flatMap((row) => {
          const time = row.time ?? row.start ?? since;
          if ((time as number) >= since) return [row];
          if (name === priceLinks.name) return [];
          const usd = USD_FIELDS.filter((field) => field in row);
          return [{ ...row, ...Object.fromEntries(usd.map((field) => [field, "early"])) }];
        }),
      ]),
  );
}

describeThorough("evm-dex ingest: pools whose creation a node withheld", () => {
  let chain: TestChain;
  let directory: string;
  let deploymentsFile: string;
  let startBlock: number;
  let hidden: string[];

  before(async () => {
    chain = await createTestChain({
      keptStates: 2_000,
      timestamp: (Math.floor(Date.now() / 1_000 / HOUR_S) - 1) * HOUR_S - BEFORE_HOUR_S,
      families: ["slipstream", "sushi-v3", "aerodrome-v2"],
    });
    startBlock = (await chain.mine(2, { intervalS: 2 })) + 1;
    await mineBusyBlocks(chain, { blocks: 500, seed: 21 });
    await mineAerodromeBlocks(chain, { blocks: 200, seed: 22 });
    const gauged = chain.aerodrome.pools.find(({ gauge }) => gauge !== undefined);
    hidden = [chain.pools[0], chain.pools[5], chain.slipstream.pools[1], gauged].map(
      (pool) => pool?.address ?? "",
    );
    directory = await mkdtemp(join(tmpdir(), "chaintables-hidden-"));
    // The second factory of Uniswap v3 is not configured here: its pools stay unknown.
    const file = JSON.parse(await readFile(chain.deploymentsFile, "utf8"));
    const [of8453] = file.evmDex.chains;
    of8453.factories = of8453.factories.filter(
      ({ dexName }: { dexName: string }) => dexName !== "SushiSwap V3",
    );
    deploymentsFile = join(directory, "deployments.json");
    await writeFile(deploymentsFile, JSON.stringify(file));
  });
  after(async () => {
    await chain?.stop();
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  });

  /** Indexes up to the head as the real process, killed so many times on the way. */
  async function indexed(name: string, { url, kills }: { url: string; kills: number }) {
    const dataDir = join(directory, name);
    const env = {
      EVM_RPC_8453: url,
      EVM_RPC_1: undefined,
      START_BLOCK_8453: `${startBlock}`,
      QUIET_POOLS_PER_SECOND: "0",
      DATA_DIR: dataDir,
      DEPLOYMENTS_FILE: deploymentsFile,
      // One that loses its lease on a busy machine reads each contract's factory again.
      ...(kills === 0 && { LEASE_TTL_MS: "30000" }),
    };
    const random = createRandom(9);
    for (let i = 0; i < kills; i++) {
      const ingest = startIngestProcess(INGEST, env);
      await ingest.logged("indexing");
      await sleep(random.below(400));
      await ingest.stop("SIGKILL");
    }
    const ingest = startIngestProcess(INGEST, env);
    await ingest.logged("indexing");
    const store = await openStore({ service: "evm-dex", dataDir });
    try {
      await store.declare(COLLECTIONS);
      const head = await chain.headNumber();
      while ((await getCheckpoint(store, 8453))?.blockNumber !== head) await sleep(20);
      await ingest.stop("SIGTERM");
      return {
        dump: await dumpStore(store),
        pools: await store.find(pools, {}),
        hiddenEvents: await store.find(poolEvents, { filter: { poolAddress: { in: hidden } } }),
      };
    } finally {
      await store.close();
    }
  }

  it("are found by their getters and their factory's, and indexed as if nothing had been withheld", async () => {
    const hiding = await startHidingRpc(chain.url, hidden);
    try {
      const complete = await indexed("complete", { url: chain.url, kills: 0 });
      expect(complete.hiddenEvents.length).to.be.greaterThan(100);
      const firstTimes = hidden.map(
        (pool) => complete.hiddenEvents.find(({ poolAddress }) => poolAddress === pool)?.time ?? 0,
      );
      const expected = withoutEarlyPrices(complete.dump, Math.max(...firstTimes));
      expect(expected[priceLinks.name]?.length, "links to compare").to.be.greaterThan(50);
      const expectSame = ({ dump }: typeof complete) =>
        expectSameStore(withoutEarlyPrices(dump, Math.max(...firstTimes)), expected);
      const isLate = ({ start }: V2LargeSwapsRow) => start >= Math.max(...firstTimes) + MEDIAN_WINDOW_SECONDS;
      expect(expected[v2LargeSwaps.name]?.some((row) => isLate(row as V2LargeSwapsRow))).to.equal(true);
      const found = await indexed("found", { url: hiding.url, kills: 0 });
      expect(found.pools).to.deep.equal(complete.pools);
      expectSame(found);
      // Each contract once: the withheld pools, and those of the factory that is not configured.
      const unknownPools = [...hidden, ...(chain.deployment.sushi?.pools ?? []).map((pool) => pool.address)];
      expect([...hiding.requested].sort()).to.deep.equal(unknownPools.sort());
      const killed = await indexed("killed", { url: hiding.url, kills: KILLS });
      expectSame(killed);
    } finally {
      await hiding.close();
    }
  });
});

import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { parseAbi } from "viem";
import type { Address } from "../../../../deploy/devnet/desk.ts";
import { createTestChain, type TestChain } from "../../../../deploy/devnet/testkit.ts";
import type { SourceOptions } from "../../../shared/evm/source/source.ts";
import { describeWithChain, itThorough } from "../../../shared/testkit/describe.ts";
import { type LpPosition, positionText, settle } from "../../metrics/lp-position.ts";
import { readV2State, type V2State } from "../../protocols/aerodrome-v2/state.ts";
import { poolEvents } from "../../store/collections.ts";
import { getPoolStates } from "../../store/queries.ts";
import { gauges, lpEvents, lpPositions, v2LargeSwaps, v2Rollups } from "../../store/v2-collections.ts";
import {
  dumpFreshIndex,
  dumpStore,
  expectSameStore,
  startTestIngest,
  type TestIngest,
} from "../kit/harness.ts";
import { mineAerodromeBlocks } from "./aerodrome-busy.ts";

const GENESIS_S = 1_760_000_000;
const BUSY = 120;
/** After this many more blocks, the busy blocks belong to the backfill. */
const EMPTY_BLOCKS = 530;
const ZERO = `0x${"0".repeat(40)}`;
const LOCKED = `0x${"1".padStart(40, "0")}`;
const feesAbi = parseAbi([
  "function supplyIndex0(address) view returns (uint256)",
  "function supplyIndex1(address) view returns (uint256)",
  "function claimable0(address) view returns (uint256)",
  "function claimable1(address) view returns (uint256)",
  "function index0() view returns (uint256)",
  "function index1() view returns (uint256)",
]);

describeWithChain("evm-dex ingest: Aerodrome v2", () => {
  let chain: TestChain;
  before(async () => {
    chain = await createTestChain({
      timestamp: GENESIS_S,
      poolCount: 2,
      families: ["aerodrome-v2"],
      keptStates: 2_000,
    });
    await mineAerodromeBlocks(chain, { blocks: BUSY, seed: 3, intervals: [2, 2, 60, 4_000] });
    await chain.mine(EMPTY_BLOCKS, { intervalS: 2 });
  });
  after(() => chain?.stop());

  describe("from the chain's beginning", () => {
    let ingest: TestIngest;
    before(async () => {
      ingest = await startTestIngest(chain);
      await ingest.catchUp();
    });
    after(() => ingest?.close());

    it("has every pool's reserves, LP tokens, fee, indexes and gauge", async () => {
      const pools = await allPools(chain);
      expect(pools.length).to.be.greaterThan(chain.aerodrome.pools.length);
      let touched = 0;
      for (const pool of pools) {
        const state = await stateOf(ingest, pool);
        if (state === undefined) continue;
        touched += 1;
        await expectPool(chain, pool, state);
      }
      expect(touched).to.be.at.least(chain.aerodrome.pools.length);
    });

    it("has the fee that each pool's last swap paid, though defaults change without an event", async () => {
      const events = await chain.aerodrome.events();
      let changed = 0;
      for (const pool of await allPools(chain)) {
        const last = events.findLast((event) => {
          if (event.eventName === "SetCustomFee") return event.args.pool.toLowerCase() === pool.address;
          return event.eventName === "Swap" && event.address.toLowerCase() === pool.address;
        });
        if (last?.eventName !== "Swap") continue;
        const block = Number(last.blockNumber);
        const fee = (await stateOf(ingest, pool))?.fee ?? -1;
        // Changed in that block, it may have been so before the swap or after it.
        const either = [await chain.aerodrome.fee(pool, block - 1), await chain.aerodrome.fee(pool, block)];
        expect(either, pool.address).to.include(fee);
        changed += [5, 30].includes(fee) ? 0 : 1;
      }
      expect(changed, "unchanged fees prove nothing").to.be.greaterThan(1);
    });

    it("has every wallet's LP tokens, held and staked, and to the wei the fees they earned", async () => {
      const positions = await expectPositions(chain, ingest);
      const earning = positions.filter(({ earned0, earned1 }) => earned0 + earned1 > 0n);
      const staked = positions.filter((position) => position.staked > 0n);
      expect([positions.length > 30, earning.length > 10, staked.length > 5]).to.deep.equal([
        true,
        true,
        true,
      ]);
    });

    it("has a row for every swap, and the sum of their fees in the hours and days", async () => {
      const swaps = (await chain.aerodrome.events()).filter(({ eventName }) => eventName === "Swap");
      const rows = await ingest.store.find(poolEvents, { filter: { chainId: 8453, kind: "swap" } });
      const v2 = new Set((await allPools(chain)).map(({ address }) => address as string));
      expect(rows.filter(({ poolAddress }) => v2.has(poolAddress))).to.have.length(swaps.length);
      for (const span of [3_600, 86_400]) {
        const buckets = await ingest.store.find(v2Rollups, { filter: { chainId: 8453, span } });
        expect(buckets.reduce((sum, { swapCount }) => sum + swapCount, 0)).to.equal(swaps.length);
      }
      expect(await ingest.store.count(v2LargeSwaps, { chainId: 8453 })).to.be.greaterThan(5);
    });
  });

  const ways: readonly (readonly [string, SourceOptions])[] = [
    ["whole blocks", {}],
    ["logs by topic, LP tokens' Transfers by address", { withoutReceipts: true }],
  ];
  for (const [name, sourceOptions] of ways) {
    itThorough(`is the same whether followed block by block or read as a long run: ${name}`, async () => {
      const { headNumber } = chain;
      const ingest = await startTestIngest(chain, { sourceOptions, maxAddresses: 2 });
      try {
        await ingest.catchUp();
        const at = await headNumber();
        await mineAerodromeBlocks(chain, { blocks: 12, seed: 17 + at });
        await ingest.catchUp();
        expectSameStore(await dumpStore(ingest.store), await dumpFreshIndex(chain));
      } finally {
        await ingest.close();
      }
    });
  }

  itThorough("starts in the middle: older pools and positions from their state on the chain", async () => {
    const startBlock = 60;
    const ingest = await startTestIngest(chain, { startBlock });
    try {
      await ingest.catchUp();
      for (const pool of await allPools(chain)) {
        const state = await stateOf(ingest, pool);
        if (state !== undefined) await expectPool(chain, pool, state);
      }
      const positions = await expectPositions(chain, ingest, startBlock);
      expect(positions.length).to.be.greaterThan(10);
      const touched = new Set(
        (await ingest.store.find(lpEvents, {})).map(({ wallet, poolAddress }) => `${wallet}${poolAddress}`),
      );
      expect(touched.size).to.equal(positions.length);
    } finally {
      await ingest.close();
    }
  });

  it("has no position of the zero address, of the locked minimum, of pools or of gauges", async () => {
    const ingest = await startTestIngest(chain);
    try {
      await ingest.catchUp();
      const excluded = new Set<string>([ZERO, LOCKED]);
      for (const { address } of await allPools(chain)) excluded.add(address);
      for (const { gauge } of await ingest.store.find(gauges, {})) excluded.add(gauge);
      const rows = await ingest.store.find(lpPositions, {});
      expect(rows.filter(({ wallet }) => excluded.has(wallet))).to.deep.equal([]);
    } finally {
      await ingest.close();
    }
  });
});

interface Pool {
  readonly address: Address;
  readonly stable: boolean;
}

async function allPools(chain: TestChain): Promise<Pool[]> {
  return (await chain.aerodrome.events()).flatMap((event) =>
    event.eventName === "PoolCreated"
      ? [{ address: event.args.pool.toLowerCase() as Address, stable: event.args.stable }]
      : [],
  );
}

async function stateOf(ingest: TestIngest, { address }: Pool): Promise<V2State | undefined> {
  const [row] = await getPoolStates(ingest.store, { chainId: 8453, addresses: [address] });
  return row && readV2State(row.state);
}

async function expectPool(chain: TestChain, pool: Pool, state: V2State): Promise<void> {
  const { address } = pool;
  const { aerodrome } = chain;
  const [reserve0, reserve1] = await aerodrome.reserves(address);
  const gauge = await aerodrome.gaugeOf(address);
  const read = { address, abi: feesAbi } as const;
  expect(state, address).to.include({
    reserve0,
    reserve1,
    totalSupply: await aerodrome.totalSupply(address),
    index0: await chain.client.readContract({ ...read, functionName: "index0" }),
    index1: await chain.client.readContract({ ...read, functionName: "index1" }),
    gauge,
    isSwapping: false,
  });
  if (gauge === undefined) return;
  const { rewardRate, periodFinish, totalSupply, alive } = await aerodrome.gauge(gauge);
  expect(state, address).to.include({ rewardRate, periodFinish, staked: totalSupply, isGaugeAlive: alive });
}

/** Every position against balanceOf, and its fees since a block against what the wallet has claimed and can claim. */
async function expectPositions(chain: TestChain, ingest: TestIngest, since = 0): Promise<LpPosition[]> {
  const rows = await ingest.store.find(lpPositions, {});
  const claims = (await chain.aerodrome.events({ fromBlock: since })).flatMap((event) =>
    event.eventName === "Claim"
      ? [{ ...event.args, pool: event.address.toLowerCase(), owner: event.args.sender.toLowerCase() }]
      : [],
  );
  const checked: LpPosition[] = [];
  for (const { wallet, poolAddress, position: text } of rows) {
    const pool = poolAddress as Address;
    const owner = wallet as Address;
    const state = await stateOf(ingest, { address: pool, stable: false });
    const position = settle(positionText.read(text), state as V2State);
    const gauge = await chain.aerodrome.gaugeOf(pool);
    const name = `${wallet} in ${poolAddress}`;
    expect(position.balance, name).to.equal(await chain.aerodrome.lpBalance(pool, owner));
    expect(position.staked, name).to.equal(gauge ? await chain.aerodrome.staked(gauge, owner) : 0n);
    const claimed = claims.filter((claim) => claim.pool === pool && claim.owner === owner);
    const [earned0, earned1] = await earnedOnChain(chain, { pool, owner, since, claimed });
    // Every settlement rounds down; one without an event (a claim of nothing) does so unseen.
    expect(Number(position.earned0 - earned0), name).to.be.within(-1, 3);
    expect(Number(position.earned1 - earned1), name).to.be.within(-1, 3);
    checked.push(position);
  }
  return checked;
}

interface Wallet {
  readonly pool: Address;
  readonly owner: Address;
  readonly since: number;
  readonly claimed: readonly { readonly amount0: bigint; readonly amount1: bigint }[];
}

/** Fees of a wallet's own LP tokens from a block on, by viem: claimed, claimable and not settled yet. */
async function earnedOnChain(
  chain: TestChain,
  { pool, owner, since, claimed }: Wallet,
): Promise<[bigint, bigint]> {
  const [due0, due1] = await dueAt(chain, { pool, owner });
  const [before0, before1] = since === 0 ? [0n, 0n] : await dueAt(chain, { pool, owner, block: since - 1 });
  return [
    claimed.reduce((sum, { amount0 }) => sum + amount0, due0) - before0,
    claimed.reduce((sum, { amount1 }) => sum + amount1, due1) - before1,
  ];
}

async function dueAt(
  chain: TestChain,
  { pool: address, owner, block }: { pool: Address; owner: Address; block?: number },
): Promise<[bigint, bigint]> {
  const at = block === undefined ? {} : { blockNumber: BigInt(block) };
  const balance = await chain.aerodrome.lpBalance(address, owner, block);
  const read = { address, abi: feesAbi, ...at } as const;
  const due = async (side: 0 | 1) => {
    const args = [owner] as const;
    const [claimable, settled, index] = await Promise.all([
      chain.client.readContract({ ...read, functionName: `claimable${side}`, args }),
      chain.client.readContract({ ...read, functionName: `supplyIndex${side}`, args }),
      chain.client.readContract({ ...read, functionName: `index${side}` }),
    ]);
    return claimable + (balance * (index - settled)) / 10n ** 18n;
  };
  return [await due(0), await due(1)];
}

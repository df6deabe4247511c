import { expect } from "chai";
import { after, afterEach, before, beforeEach, describe, it } from "mocha";
import { DEX_FAMILIES } from "../../../deploy/devnet/plan.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { put, remove } from "../../shared/storage/port.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { positionText } from "../metrics/lp-position.ts";
import { type PoolEventRow, poolEvents, poolFees, poolStates, pools, rollups } from "../store/collections.ts";
import { lpPositions, v2Rollups } from "../store/v2-collections.ts";
import { mineBusyBlocks, startTestIngest, type TestIngest } from "../test/kit/harness.ts";
import { parseAuditArguments, UsageError } from "./arguments.ts";
import { audit } from "./audit.ts";
import { type Finding, isDifference } from "./finding.ts";
import { AuditRpc } from "./rpc.ts";
import { createPick, sample } from "./sample.ts";

const CHAIN_ID = 8453;

describeWithChain("audit", () => {
  let chain: TestChain;
  let ingest: TestIngest;

  before(async () => {
    chain = await createTestChain({ families: DEX_FAMILIES });
    await mineBusyBlocks(chain, { blocks: 60, seed: 3 });
  });
  after(() => chain?.stop());
  beforeEach(async () => {
    ingest = await startTestIngest(chain);
    await ingest.catchUp();
  });
  afterEach(() => ingest.close());

  async function findings({ pools, seed }: { pools?: number; seed?: number } = {}): Promise<Finding[]> {
    const all: Finding[] = [];
    const options = { store: ingest.store, rpc: new AuditRpc(chain.url), chainId: CHAIN_ID };
    for await (const each of audit({ ...options, pools: pools ?? 100, seed: seed ?? 1 }))
      all.push(...each.findings);
    return all;
  }
  const differing = async (seed?: number) =>
    new Set(
      (await findings(seed === undefined ? {} : { seed })).filter(isDifference).map(({ field }) => field),
    );

  it("finds no difference in what the ingest wrote, and every value at the node", async () => {
    for (const seed of [1, 2, 3]) {
      const all = await findings({ seed });
      expect(all.filter((finding) => finding.chain !== finding.stored)).to.deep.equal([]);
      expect(new Set(all.map(({ pool }) => pool)).size).to.be.greaterThan(3);
      expect(new Set(all.map(({ field }) => field)).size).to.be.greaterThan(14);
    }
  });

  it("takes the same sample for the same seed, of the requested size", async () => {
    const poolsOf = async (seed: number) => [
      ...new Set((await findings({ pools: 2, seed })).map(({ pool }) => pool)),
    ];
    const first = await poolsOf(7);
    expect(first).to.have.length(2);
    expect(await poolsOf(7)).to.deep.equal(first);
  });

  it("notices each value that is changed in the store", async () => {
    const [state] = await ingest.store.find(poolStates, { filter: { chainId: CHAIN_ID } });
    const [pool] = await ingest.store.find(pools, { filter: { poolAddress: state?.poolAddress as string } });
    if (state === undefined || pool === undefined) throw new Error("Nothing is indexed.");
    const [price, ...rest] = state.state.split(" ");
    const changes = [
      {
        put: put(poolStates, [{ ...state, state: [`${price}1`, ...rest].join(" ") }]),
        field: "pool_states.sqrtPriceX96",
      },
      { put: put(poolStates, [{ ...state, balance1: state.balance1 + 1n }]), field: "pool_states.balance1" },
      { put: put(pools, [{ ...pool, token0Decimals: 7 }]), field: "pools.token0Decimals" },
      { put: put(pools, [{ ...pool, dexAddress: pool.token0Address }]), field: "pools.dexAddress" },
    ];
    for (const change of changes) {
      await ingest.store.write([change.put]);
      expect([...(await differing())]).to.deep.equal([change.field]);
      await ingest.store.write([put(poolStates, [state]), put(pools, [pool])]);
    }
    const [fee] = await ingest.store.find(poolFees, {});
    if (fee === undefined) throw new Error("No fee was read.");
    await ingest.store.write([put(poolFees, [{ ...fee, fee: 1 + (fee.fee ?? 0) }])]);
    expect([...(await differing())]).to.deep.equal(["pool_fees.fee"]);
    await ingest.store.write([put(poolFees, [fee])]);
    expect((await differing()).size).to.equal(0);
  });

  it("notices hours of v2 pools and positions that are changed in the store", async () => {
    const { store } = ingest;
    const hours = await store.find(v2Rollups, { filter: { chainId: CHAIN_ID, span: 3_600 } });
    await store.write([
      put(
        v2Rollups,
        hours.map((row) => ({ ...row, swapCount: row.swapCount + 1 })),
      ),
    ]);
    expect([...(await differing())]).to.deep.equal(["v2_rollups.swapCount"]);
    await store.write([
      put(
        v2Rollups,
        hours.map((row) => ({ ...row, amounts: "0 0 7 0 0 0" })),
      ),
    ]);
    expect((await differing()).has("v2_rollups.fees0")).to.equal(true);
    await store.write([put(v2Rollups, hours)]);
    const positions = await store.find(lpPositions, {});
    const spoilt = positions.map((row) => {
      const position = positionText.read(row.position);
      return { ...row, position: positionText.write({ ...position, staked: position.staked + 1n }) };
    });
    await store.write([put(lpPositions, spoilt)]);
    expect([...(await differing())]).to.deep.equal(["lp_positions.staked"]);
    await store.write([put(lpPositions, positions)]);
    expect((await differing()).size).to.equal(0);
  });

  it("notices events of another sender, amount or block, missing ones, and wrong counts", async () => {
    const rows = await ingest.store.find(poolEvents, { filter: { chainId: CHAIN_ID } });
    const spoil = async (change: (row: PoolEventRow) => PoolEventRow) =>
      ingest.store.write([put(poolEvents, rows.map(change))]);
    await spoil((row) => ({ ...row, sender: row.poolAddress }));
    expect([...(await differing())]).to.deep.equal(["pool_events.sender"]);
    await spoil((row) => ({ ...row, amounts: `${row.amounts}f` }));
    expect([...(await differing())]).to.deep.equal(["pool_events.amounts"]);
    await spoil((row) => ({ ...row, blockHash: row.txHash }));
    expect([...(await differing())]).to.deep.equal(["pool_events.blockHash"]);
    await spoil((row) => row);

    const all = await ingest.store.find(rollups, { filter: { chainId: CHAIN_ID } });
    const minutes = all.filter((row) => row.span === 60);
    await ingest.store.write([
      put(
        rollups,
        minutes.map((row) => ({ ...row, swapCount: row.swapCount + 1 })),
      ),
    ]);
    expect([...(await differing())]).to.deep.equal(["rollups.swapCount"]);
    await ingest.store.write([put(rollups, minutes)]);

    const swaps = rows.filter((row) => row.kind === "swap").filter((_, i) => i % 2 === 0);
    await ingest.store.write([
      remove(
        poolEvents,
        swaps.map(({ chainId, blockNumber, logIndex }) => ({ chainId, blockNumber, logIndex })),
      ),
    ]);
    expect((await differing()).has("pool_events (swaps of a minute)")).to.equal(true);
  });
});

describe("audit samples", () => {
  it("are distinct, all of them where there are too few", () => {
    const items = Array.from({ length: 50 }, (_, i) => i);
    const chosen = sample(items, { size: 20, pick: createPick(5) });
    expect(new Set(chosen).size).to.equal(20);
    expect(sample(items, { size: 20, pick: createPick(5) })).to.deep.equal(chosen);
    expect(sample(items, { size: 20, pick: createPick(6) })).not.to.deep.equal(chosen);
    expect(sample(items, { size: 99, pick: createPick(5) }).sort((a, b) => a - b)).to.deep.equal(items);
  });
});

describe("audit arguments", () => {
  it("are read, with defaults", () => {
    expect(parseAuditArguments(["--chain", "8453"], 77)).to.deep.equal({ chain: 8453, pools: 20, seed: 77 });
    expect(parseAuditArguments(["--seed", "3", "--pools", "5", "--chain", "1"], 0)).to.deep.equal({
      chain: 1,
      pools: 5,
      seed: 3,
    });
    expect(parseAuditArguments(["--chain", "1", "--help"], 0)).to.equal("help");
  });

  it("are refused by name", () => {
    for (const [args, word] of [
      [[], "--chain"],
      [["--chain", "10"], "--chain"],
      [["--chain", "1", "--chain", "1"], "twice"],
      [["--chain", "1", "--pools", "0"], "--pools"],
      [["--chain", "1", "--pools", "-1"], "--pools"],
      [["--chain", "1", "--pools"], "--pools"],
      [["--chain", "1", "--all", "1"], "--all"],
    ] as const) {
      expect(() => parseAuditArguments(args, 0)).to.throw(UsageError, word);
    }
  });
});

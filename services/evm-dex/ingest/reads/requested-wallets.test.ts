import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { EthCall, Hex } from "../../../shared/evm/port.ts";
import { put, type Store, type WriteStep } from "../../../shared/storage/port.ts";
import { storeWith } from "../../../shared/storage/within.ts";
import { EMPTY_POSITION, positionText } from "../../metrics/lp-position.ts";
import { EMPTY_V2_STATE, type V2State, writeV2State } from "../../protocols/aerodrome-v2/state.ts";
import { checkpoints, inactivePools, type PoolRow, poolStates, pools } from "../../store/collections.ts";
import { gauges, knownWallets, lpAnchors, lpPositions, walletRequests } from "../../store/v2-collections.ts";
import { countOldContracts, readWalletPast } from "../../store/wallet-queries.ts";
import { withMulticall } from "../../test/kit/fake-multicall.ts";
import { createFakeSource, type FakeSource, headersUpTo } from "../../test/kit/fake-source.ts";
import {
  address,
  CHAIN_ID,
  checkpointRow,
  hash,
  openTestStore,
  poolRow,
  poolStateRow,
  word,
} from "../../test/kit/rows.ts";
import { ReadBudget } from "./read-budget.ts";
import { readRequestedWallets } from "./requested-wallets.ts";

const FROM = 100;
const HEAD = 200;
const FROM_TIME = 1_700_000_000;
const BALANCE_OF = "0x70a08231";
const ANN = address(0xa);
const checkpoint = checkpointRow({
  fromBlock: FROM,
  fromTime: FROM_TIME,
  blockNumber: HEAD,
  blockHash: hash(HEAD),
});

/** A v2 pool that is older than the index, unless told otherwise. */
const v2 = (n: number, row: Partial<PoolRow> = {}) =>
  poolRow({
    ...{ poolAddress: address(0x900 + n), protocol: "aerodrome-v2" },
    ...{ createdBlock: FROM - 1, createdAt: FROM_TIME - 2, ...row },
  });
const gaugeOf = (n: number, createdBlock = FROM - 1) => ({
  ...{ chainId: CHAIN_ID, gauge: address(0x700 + n), poolAddress: address(0x900 + n) },
  ...{ voter: address(0x707e), createdBlock },
});

/** A node with Multicall3, where contracts hold these balances for anyone; names all that was read, by block. */
function nodeWith(
  balances: ReadonlyMap<string, bigint>,
): FakeSource & { read: [string, number][]; ethCalls: number } {
  const read: [string, number][] = [];
  const chain = withMulticall(({ to, data, block }) => {
    expect(data.slice(0, 10)).to.equal(BALANCE_OF);
    read.push([to, block]);
    return word(balances.get(to) ?? 0n);
  });
  const source = createFakeSource({
    headers: headersUpTo(HEAD),
    call(call: EthCall): Hex | null {
      expect(call.blockHash).to.equal(hash(call.block));
      node.ethCalls += 1;
      return chain(call);
    },
  });
  const node = Object.assign(source, { read, ethCalls: 0 });
  return node;
}

describe("readRequestedWallets", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
    await store.write([put(checkpoints, [checkpoint])]);
  });
  afterEach(() => store.close());

  const request = (wallet = ANN, requestedAtMs = 1) =>
    put(walletRequests, [{ chainId: CHAIN_ID, wallet, requestedAtMs }]);

  /** Reads until nothing can be read any more. */
  async function read(source: FakeSource, budget = new ReadBudget(60, () => 0)): Promise<void> {
    const stop = new AbortController();
    await readRequestedWallets({
      ...{ store, source, budget, guard: () => [], signal: stop.signal },
      pause: async () => stop.abort(),
    });
  }
  const anchors = async () =>
    (await store.find(lpAnchors, {})).map(({ wallet, poolAddress, balance, staked }) => [
      ...[wallet, poolAddress, balance, staked],
    ]);
  const inactive = (n: number, state: Partial<V2State>) => ({
    ...{
      chainId: CHAIN_ID,
      poolAddress: address(0x900 + n),
      balance0: 0n,
      balance1: 0n,
      balanceBlock: FROM - 1,
      priced: false,
    },
    state: writeV2State({ ...EMPTY_V2_STATE, ...state }),
  });

  it("reads balances at the checkpoint, of pools and gauges older than the index only", async () => {
    await store.write([
      put(pools, [
        v2(1),
        v2(2),
        v2(3, { createdBlock: FROM, createdAt: FROM_TIME }),
        poolRow({ createdBlock: 5 }),
      ]),
      put(gauges, [gaugeOf(1), gaugeOf(2, FROM)]),
      request(),
    ]);
    const node = nodeWith(
      new Map([
        [address(0x901), 7n],
        [address(0x701), 11n],
      ]),
    );
    await read(node);
    expect(node.read.sort()).to.deep.equal([
      [address(0x701), HEAD],
      [address(0x901), HEAD],
      [address(0x902), HEAD],
    ]);
    expect(await anchors()).to.deep.equal([[ANN, address(0x901), 7n, 11n]]);
    expect(await store.find(knownWallets, {})).to.deep.equal([
      { chainId: CHAIN_ID, wallet: ANN, contracts: 3, readAtBlock: HEAD },
    ]);
    expect(await store.count(walletRequests, {})).to.equal(0);
    expect(await readWalletPast(store, { wallet: ANN, checkpoint })).to.include({ isKnown: true });
  });

  it("reads nothing where the state before the index says that nobody held or had staked anything", async () => {
    const states: Partial<V2State>[] = [
      { totalSupply: 1_000n, reserve0: 5n },
      { totalSupply: 0n },
      { totalSupply: 1_001n, gauge: address(0x703), staked: 0n },
      { totalSupply: 1_001n, gauge: address(0x704), staked: 1n },
      // Only balances could be read: nothing is known of its LP tokens.
      { totalSupply: 0n, reserve0: 9n },
    ];
    await store.write([
      put(
        pools,
        states.map((_, i) => v2(i + 1)),
      ),
      put(
        gauges,
        states.map((_, i) => gaugeOf(i + 1)),
      ),
      put(
        inactivePools,
        states.map((state, i) => inactive(i + 1, state)),
      ),
      request(),
    ]);
    const node = nodeWith(new Map());
    await read(node);
    expect(node.read.map(([contract]) => contract).sort()).to.deep.equal(
      [0x704, 0x705, 0x903, 0x904, 0x905].map(address),
    );
  });

  it("takes the anchor of a position with events, whatever it is now and however its pool is", async () => {
    const anchor = { ...EMPTY_POSITION, balance: 4n, staked: 5n, index0: 77n };
    const row = { chainId: CHAIN_ID, wallet: ANN, firstTime: 1, lastTime: 2, lastBlock: 150 };
    const position = positionText.write({ ...anchor, balance: 99n });
    const state = writeV2State({ ...EMPTY_V2_STATE, totalSupply: 5_000n });
    await store.write([
      put(pools, [v2(1), v2(2)]),
      put(poolStates, [poolStateRow({ poolAddress: address(0x901), state, anchor: state })]),
      put(lpPositions, [
        { ...row, poolAddress: address(0x901), position, anchor: positionText.write(anchor) },
        { ...row, poolAddress: address(0x902), position, anchor: positionText.write(EMPTY_POSITION) },
      ]),
      request(),
    ]);
    const node = nodeWith(
      new Map([
        [address(0x901), 1n],
        [address(0x902), 1n],
      ]),
    );
    await read(node);
    expect(node.read).to.deep.equal([]);
    expect(await anchors()).to.deep.equal([[ANN, address(0x901), 4n, 5n]]);
  });

  it("spends some eth_calls on a wallet, and nothing beyond its budget", async () => {
    await store.write([
      put(
        pools,
        Array.from({ length: 1_200 }, (_, i) => v2(i)),
      ),
      ...Array.from({ length: 12 }, (_, i) => request(address(0xb00 + i), i)),
    ]);
    const node = nodeWith(new Map());
    await read(node, new ReadBudget(3, () => 0));
    expect(node.ethCalls).to.equal(9);
    const known = await store.find(knownWallets, {});
    expect(
      known.map(({ wallet }) => wallet),
      "who waited longest",
    ).to.deep.equal([0xb00, 0xb01, 0xb02].map(address));
    expect(await store.count(walletRequests, {})).to.equal(9);
  });

  it("leaves a wallet unknown where reading fails, and goes on with the next one", async () => {
    await store.write([put(pools, [v2(1)]), request(ANN, 1), request(address(0xb), 2)]);
    const dead = createFakeSource({ headers: headersUpTo(HEAD) });
    const failed = await read(dead).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(Error);
    expect(await store.count(knownWallets, {})).to.equal(0);
    expect(await readWalletPast(store, { wallet: ANN, checkpoint })).to.include({ isKnown: false });
    await read(nodeWith(new Map()), new ReadBudget(1, () => 0));
    expect((await store.find(knownWallets, {})).map(({ wallet }) => wallet)).to.deep.equal([address(0xb)]);
  });

  it("leaves a wallet unknown and queued where its write is cut between two steps", async () => {
    await store.write([put(pools, [v2(1)]), request()]);
    const node = nodeWith(new Map([[address(0x901), 7n]]));
    const whole = store;
    const cut = async (steps: readonly WriteStep[]) => {
      await whole.write(steps.slice(0, 1));
      throw new Error("The process was killed.");
    };
    store = storeWith(whole, { write: cut });
    expect(String(await read(node).catch((error: unknown) => error))).to.contain("killed");
    store = whole;
    expect(await anchors()).to.have.length(1);
    expect(await readWalletPast(store, { wallet: ANN, checkpoint })).to.include({ isKnown: false });
    await read(node);
    expect(await readWalletPast(store, { wallet: ANN, checkpoint })).to.include({ isKnown: true });
    expect(await anchors()).to.deep.equal([[ANN, address(0x901), 7n, 0n]]);
  });

  it("counts the pools and gauges older than the index", async () => {
    await store.write([
      put(pools, [v2(1), v2(2, { createdAt: FROM_TIME, createdBlock: FROM }), poolRow({ createdAt: 5 })]),
      put(gauges, [gaugeOf(1), gaugeOf(2, FROM)]),
    ]);
    expect(await countOldContracts(store, checkpoint)).to.equal(2);
  });
});

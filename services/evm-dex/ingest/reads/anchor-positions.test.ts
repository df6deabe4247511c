import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { encodeAbiParameters } from "viem";
import { put, type Store } from "../../../shared/storage/port.ts";
import { EMPTY_POSITION, positionText } from "../../metrics/lp-position.ts";
import type { V2Event } from "../../protocols/aerodrome-v2/events.ts";
import { EMPTY_V2_STATE, type V2State, writeV2State } from "../../protocols/aerodrome-v2/state.ts";
import { lpPositions } from "../../store/v2-collections.ts";
import { createFakeSource } from "../../test/kit/fake-source.ts";
import { address, CHAIN_ID, hash, openTestStore, poolRow } from "../../test/kit/rows.ts";
import { type BlockEvents, Indexer } from "../state/indexer.ts";
import { anchorPositions } from "./anchor-positions.ts";

const FROM = 100;
const [OLD, NEW, GAUGE, ANN, BOB, ZERO] = [0x900, 0x901, 0x950, 0xa, 0xb, 0].map(address) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
const v2 = (poolAddress: string, createdBlock: number) =>
  poolRow({ poolAddress, createdBlock, protocol: "aerodrome-v2" });

const blockOf = (number: number, events: readonly (readonly [string, V2Event])[]): BlockEvents => ({
  number,
  hash: hash(number),
  time: 1_000 + number,
  events: events.map(([poolAddress, event], logIndex) => ({
    logIndex,
    txHash: hash(number, 5),
    sender: ANN,
    poolAddress,
    event,
  })),
});
const transfer = (from: string, to: string): V2Event => ({ kind: "transfer", from, to, amount: 3n });

describe("anchorPositions", () => {
  let store: Store;
  let indexer: Indexer;
  beforeEach(async () => {
    store = await openTestStore();
    indexer = new Indexer(store, { chainId: CHAIN_ID, anchors: [address(0x11)] });
    for (const row of [v2(OLD, FROM - 1), v2(NEW, FROM)]) indexer.addPool(row);
    const entry = indexer.pools.get(OLD);
    if (entry === undefined) throw new Error("The pool is not there.");
    const anchor: V2State = { ...EMPTY_V2_STATE, gauge: GAUGE, totalSupply: 900n, index0: 7n };
    entry.anchor = writeV2State(anchor);
    // What has happened to the pool since: no gauge of today's, no index of today's.
    entry.state = { ...anchor, index0: 99n };
  });
  afterEach(() => store.close());

  /** Balances that encode contract and block. */
  const source = (isPruned = false) =>
    createFakeSource({
      call: ({ to, block }) =>
        isPruned ? null : encodeAbiParameters([{ type: "uint256" }], [BigInt(to) * 1_000n + BigInt(block)]),
    });
  const positionOf = (wallet: string, poolAddress: string) => {
    const row = indexer.positions
      .flush()
      .positions.find((each) => each.wallet === wallet && each.poolAddress === poolAddress);
    return row && { anchor: positionText.read(row.anchor), position: positionText.read(row.position) };
  };

  it("reads what wallets held and had staked before their first event, only for older pools", async () => {
    const blocks = [
      blockOf(150, [[NEW, transfer(ZERO, ANN)]]),
      blockOf(160, [
        [OLD, transfer(ANN, BOB)],
        [OLD, { kind: "claim", owner: ANN }],
      ]),
      blockOf(170, [[OLD, transfer(BOB, ANN)]]),
    ];
    const requested = source();
    await anchorPositions(requested, { indexer, batch: { blocks }, fromBlock: FROM });
    expect(requested.calls.flat().map(({ to, block }) => [to, block])).to.deep.equal([
      [OLD, 159],
      [GAUGE, 159],
      [OLD, 159],
      [GAUGE, 159],
    ]);
    for (const block of blocks) indexer.addBlock(block);
    const held = { balance: 0x900n * 1_000n + 159n, staked: 0x950n * 1_000n + 159n };
    const ann = positionOf(ANN, OLD);
    expect(ann?.anchor).to.deep.equal({ ...EMPTY_POSITION, ...held, index0: 7n });
    // Earned from the first indexed block on: by the index the pool began with.
    expect(ann?.position).to.deep.equal({
      ...EMPTY_POSITION,
      ...held,
      index0: 99n,
      earned0: (held.balance * 92n) / 10n ** 18n,
    });
  });

  it("requests nothing for a known position, and starts empty where no node has that state", async () => {
    const known = {
      chainId: CHAIN_ID,
      wallet: ANN,
      poolAddress: OLD,
      position: positionText.write({ ...EMPTY_POSITION, balance: 5n }),
      anchor: positionText.write(EMPTY_POSITION),
      firstTime: 1,
      lastTime: 1,
      lastBlock: 120,
    };
    await store.write([put(lpPositions, [known])]);
    const blocks = [blockOf(160, [[OLD, transfer(ANN, BOB)]])];
    const pruned = source(true);
    await anchorPositions(pruned, { indexer, batch: { blocks }, fromBlock: FROM });
    expect(pruned.calls.flat()).to.have.length(2);
    for (const block of blocks) indexer.addBlock(block);
    const { positions } = indexer.positions.flush();
    expect(
      positions.map(({ wallet, position }) => [wallet, positionText.read(position).balance]),
    ).to.deep.equal([
      [ANN, 2n],
      [BOB, 3n],
    ]);
  });
});

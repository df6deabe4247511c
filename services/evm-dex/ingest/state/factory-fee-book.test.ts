import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { encodeAbiParameters, toFunctionSelector } from "viem";
import type { EthCall, Hex } from "../../../shared/evm/port.ts";
import { put, removeWhere } from "../../../shared/storage/port.ts";
import { factoryFees } from "../../store/v2-collections.ts";
import { createFakeSource } from "../../test/kit/fake-source.ts";
import { address, CHAIN_ID, openTestStore } from "../../test/kit/rows.ts";
import { FACTORY_FEE_BLOCKS, FactoryFeeBook, lastFactoryTurn } from "./factory-fee-book.ts";

const FACTORY = address(0xfac);
const FACTORIES = [
  { address: FACTORY, kind: "aerodrome-v2" },
  { address: address(0x33), kind: "uniswap-v3" },
  { address: address(0x5117), kind: "slipstream" },
] as const;
const VOLATILE = toFunctionSelector("volatileFee()");
const STABLE = toFunctionSelector("stableFee()");
const START = 10_000;

const word = (value: number) => encodeAbiParameters([{ type: "uint256" }], [BigInt(value)]);
/** Fees that encode block and branch. */
const fees = (branchOf: (block: number) => number = () => 0) =>
  createFakeSource({
    call: ({ data, block }) => word((data === VOLATILE ? 2e9 : 1e9) + branchOf(block) * 1e8 + block),
  });

describe("FactoryFeeBook", () => {
  it("reads two calls of a v2 factory at its turn, none of others, and nothing between turns", async () => {
    const source = fees();
    const book = new FactoryFeeBook(CHAIN_ID, FACTORIES);
    const turn = lastFactoryTurn(FACTORY, START);
    for (let head = START; head < turn + FACTORY_FEE_BLOCKS; head++) await book.refresh(source, { head });
    const ofTurn = (block: number): EthCall[] => [
      { to: FACTORY as Hex, data: VOLATILE, block },
      { to: FACTORY as Hex, data: STABLE, block },
    ];
    expect(source.calls).to.deep.equal([ofTurn(turn)]);
    const next = turn + FACTORY_FEE_BLOCKS;
    expect(await book.refresh(source, { head: next + 5 })).to.deep.equal([
      { chainId: CHAIN_ID, factory: FACTORY, volatileFee: 2e9 + next, stableFee: 1e9 + next, block: next },
    ]);
    expect(source.calls).to.deep.equal([ofTurn(turn), ofTurn(next)]);
  });

  it("reads within the 128 blocks whose state every node keeps, and never before the chain begins", async () => {
    for (let head = START; head < START + 200; head++)
      expect(head - lastFactoryTurn(FACTORY, head)).to.be.within(0, 99);
    const source = fees();
    const first = lastFactoryTurn(FACTORY, START) % FACTORY_FEE_BLOCKS;
    expect(first).to.be.greaterThan(0);
    expect(await new FactoryFeeBook(CHAIN_ID, FACTORIES).refresh(source, { head: first - 1 })).to.deep.equal(
      [],
    );
    expect(source.calls).to.deep.equal([]);
  });

  it("has null for a call that fails", async () => {
    const source = createFakeSource({ call: ({ data }) => (data === STABLE ? word(5) : "0x") });
    const [row] = await new FactoryFeeBook(CHAIN_ID, FACTORIES).refresh(source, { head: START });
    expect(row).to.include({ volatileFee: null, stableFee: 5 });
  });

  it("equals a book that read at the last head only, whatever was rolled back before", async () => {
    const step = fc.record({
      blocks: fc.integer({ min: 1, max: 150 }),
      /** How far back from the new head the chain is then rolled. */
      undo: fc.oneof(fc.constant(0), fc.nat(250)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const store = await openTestStore();
        const forks: number[] = [];
        const source = fees((block) => forks.filter((fork) => fork < block).length);
        const chain = { chainId: CHAIN_ID, factories: FACTORIES };
        let head = START;
        let book = await FactoryFeeBook.load(store, chain);
        const refresh = async () => store.write([put(factoryFees, await book.refresh(source, { head }))]);
        for (const { blocks, undo } of steps) {
          head += blocks;
          await refresh();
          if (undo === 0) continue;
          head = Math.max(START, head - undo);
          forks.push(head);
          await store.write([removeWhere(factoryFees, { chainId: CHAIN_ID, block: { gt: head } })]);
          book = await FactoryFeeBook.load(store, chain);
        }
        await refresh();
        const fresh = await new FactoryFeeBook(CHAIN_ID, FACTORIES).refresh(source, { head });
        expect(await store.find(factoryFees, {})).to.deep.equal(fresh);
        await store.close();
      }),
      { numRuns: 40 },
    );
  });
});

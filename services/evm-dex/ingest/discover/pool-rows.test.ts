import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { encodeAbiParameters, toFunctionSelector } from "viem";
import { type EthCall, type Hex, UpstreamError } from "../../../shared/evm/port.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { createFakeSource } from "../../test/kit/fake-source.ts";
import { address, CHAIN_ID, hash, openTestStore } from "../../test/kit/rows.ts";
import type { CreatedPool } from "../fetch/block-batch.ts";
import { readPoolRows } from "./pool-rows.ts";
import { readTokens, TokenReader } from "./token-reader.ts";

const FACTORY = address(0xfac);
const CREATED_BLOCK = 2;
const HEAD = 363;
const SYMBOL = toFunctionSelector("symbol()");

const created = {
  pool: address(3),
  token0: address(1),
  token1: address(2),
  fee: null,
  tickSpacing: null,
  stable: true,
  block: CREATED_BLOCK,
  blockHash: hash(CREATED_BLOCK),
  time: 1_700_000_000,
  factory: { address: FACTORY, dexName: "Aerodrome", family: "dexc", kind: "aerodrome-v2", fromBlock: 0 },
} as unknown as CreatedPool;

describe("readPoolRows", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  const readFee = async (feeAt: (block: number) => Hex | null) => {
    const call = ({ to, data, block }: EthCall): Hex | null =>
      to === FACTORY && data !== SYMBOL ? feeAt(block) : null;
    const source = createFakeSource({ call });
    const reader = { tokenReader: new TokenReader(store, source, readTokens), source };
    const { pools } = await readPoolRows(reader, { chainId: CHAIN_ID, created: [created], block: HEAD });
    return pools[0]?.fee;
  };
  const bips = (fee: number) => encodeAbiParameters([{ type: "uint256" }], [BigInt(fee)]);

  it("reads a fee that may change at the pool's creation", async () => {
    expect(await readFee((block) => bips(block === CREATED_BLOCK ? 30 : 50))).to.equal(3_000);
  });

  it("reads it at the head where the node has pruned the creation, whichever way it says so", async () => {
    for (const pruned of ["0x", null] as const)
      expect(await readFee((block) => (block === CREATED_BLOCK ? pruned : bips(50)))).to.equal(5_000);
  });

  it("throws where the factory has no code at the head: a node of another chain", async () => {
    const error = await readFee(() => "0x").catch((cause: unknown) => cause);
    expect(error).to.be.instanceOf(UpstreamError);
    expect((error as Error).message)
      .to.contain(FACTORY)
      .and.contain(`block ${HEAD}`);
  });
});

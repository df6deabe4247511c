import { expect } from "chai";
import { describe, it } from "mocha";
import { encodeAbiParameters, stringToHex, toFunctionSelector } from "viem";
import { MULTICALL3 } from "../../../shared/evm/multicall/multicall.ts";
import {
  BlockUnavailable,
  type EthCall,
  type EvmSource,
  type Hex,
  UpstreamError,
} from "../../../shared/evm/port.ts";
import { createFakeClock } from "../../../shared/rpc-client/testkit/fake-network.ts";
import { put } from "../../../shared/storage/port.ts";
import { tokens } from "../../store/collections.ts";
import { createFakeSource } from "../../test/kit/fake-source.ts";
import { address, CHAIN_ID, hash, openTestStore, word } from "../../test/kit/rows.ts";
import { createHeadTokens, readTokens, TokenReader } from "./token-reader.ts";

const SYMBOL = toFunctionSelector("symbol()");
const DECIMALS = toFunctionSelector("decimals()");

const text = (value: string) => encodeAbiParameters([{ type: "string" }], [value]);

const POOL = address(0xfac);
const AT = { block: 7 };
/** Pools of two of the tokens each, all at the address of POOL. */
const poolsOf = (...tokens: number[]) =>
  tokens.map((token) => ({ pool: POOL, token0: address(token), token1: address(tokens[0] as number) }));
const AT_HEAD = { ...AT, poolOf: new Map([1, 2, 3].map((token) => [address(token), POOL])) };

/** What the contracts return, by address; null reverts. */
type Answers = Record<string, { symbol: Hex | null; decimals: Hex | null }>;

function answering(results: Answers) {
  return (call: EthCall): Hex | null => {
    if (call.to === POOL) return null;
    const token = results[call.to];
    if (token === undefined) throw new Error(`${call.to} was not expected to be requested`);
    expect([SYMBOL, DECIMALS]).to.include(call.data);
    return call.data === SYMBOL ? token.symbol : token.decimals;
  };
}

async function readOne(result: { symbol: Hex | null; decimals: Hex | null }) {
  const store = await openTestStore();
  const source = createFakeSource({ call: answering({ [address(1)]: result }) });
  const { all } = await new TokenReader(store, source, readTokens).read(poolsOf(1), AT);
  await store.close();
  return all.get(address(1));
}

describe("TokenReader", () => {
  it("reads symbols and decimals at the given block, in one request", async () => {
    const store = await openTestStore();
    const source = createFakeSource({
      call: answering({
        [address(1)]: { symbol: text("WETH"), decimals: word(18n) },
        [address(2)]: { symbol: text("USDC"), decimals: word(6n) },
      }),
    });
    const { all, fresh } = await new TokenReader(store, source, readTokens).read(poolsOf(1, 2), AT);
    const weth = { chainId: CHAIN_ID, address: address(1), symbol: "WETH", decimals: 18 };
    const usdc = { chainId: CHAIN_ID, address: address(2), symbol: "USDC", decimals: 6 };
    expect(fresh).to.deep.equal([weth, usdc]);
    expect([...all]).to.deep.equal([
      [address(1), weth],
      [address(2), usdc],
    ]);
    expect(source.calls).to.have.length(1);
    expect(source.calls[0]).to.have.length(4);
    expect(source.calls[0]?.every(({ block }) => block === 7)).to.equal(true);
    // Else a node without the state would give tokens of 0 decimals.
    expect(source.calls[0]?.every(({ needsState }) => needsState)).to.equal(true);
    await store.close();
  });

  it("throws where the pool has no code: a node of another chain; a token may lack code", async () => {
    const store = await openTestStore();
    let poolResult: Hex | null = "0x";
    const source = createFakeSource({
      call: ({ to }) => (to === POOL ? poolResult : "0x"),
    });
    const reader = new TokenReader(store, source, readTokens);
    const error = await reader.read(poolsOf(1), AT).catch((cause: unknown) => cause);
    expect(error).to.be.instanceOf(UpstreamError);
    expect((error as Error).message)
      .to.contain(POOL)
      .and.contain("block 7");
    for (const result of [null, word(1n)] as (Hex | null)[]) {
      poolResult = result;
      const { fresh } = await new TokenReader(store, source, readTokens).read(poolsOf(1), AT);
      expect(fresh).to.deep.equal([{ chainId: CHAIN_ID, address: address(1), symbol: "", decimals: 0 }]);
    }
    await store.close();
  });

  it("throws where the endpoint switches to another chain between a pool and its token", async () => {
    const store = await openTestStore();
    for (const switched of [0, 1]) {
      let asked = 0;
      const source = createFakeSource({
        call: ({ to }) => (to === POOL && asked++ !== switched ? null : "0x"),
      });
      const error = await new TokenReader(store, source, readTokens)
        .read(poolsOf(1), AT)
        .catch((cause: unknown) => cause);
      expect(error, `question ${switched}`).to.be.instanceOf(UpstreamError);
    }
    await store.close();
  });

  it("reads a contract once, and never what the store has", async () => {
    const store = await openTestStore();
    const known = { chainId: CHAIN_ID, address: address(1), symbol: "OLD", decimals: 8 };
    await store.write([put(tokens, [known])]);
    const source = createFakeSource({
      call: answering({ [address(2)]: { symbol: text("NEW"), decimals: word(2n) } }),
    });
    const reader = new TokenReader(store, source, readTokens);
    const first = await reader.read(poolsOf(1, 2), AT);
    expect(first.fresh.map((row) => row.symbol)).to.deep.equal(["NEW"]);
    expect(first.all.get(address(1))).to.deep.equal(known);
    const second = await reader.read(poolsOf(2, 1), { block: 8 });
    // Nobody has stored it: who asked first may have failed.
    expect(second.fresh.map((row) => row.symbol)).to.deep.equal(["NEW"]);
    await store.write([put(tokens, second.fresh)]);
    expect((await reader.read(poolsOf(2, 1), { block: 8 })).fresh).to.deep.equal([]);
    expect([...second.all.values()].map((row) => row.symbol)).to.deep.equal(["OLD", "NEW"]);
    expect((await reader.read([], { block: 8 })).fresh).to.deep.equal([]);
    expect(source.calls).to.have.length(1);
    await store.close();
  });

  it("reads the bytes32 symbols of old tokens", async () => {
    const row = await readOne({ symbol: stringToHex("MKR", { size: 32 }), decimals: word(18n) });
    expect(row).to.deep.equal({ chainId: CHAIN_ID, address: address(1), symbol: "MKR", decimals: 18 });
  });

  it('gives a token without symbol the symbol ""', async () => {
    for (const symbol of [null, "0x", word(0n), `0x${"ff".repeat(64)}`] as (Hex | null)[]) {
      expect(await readOne({ symbol, decimals: word(18n) })).to.include({ symbol: "", decimals: 18 });
    }
  });

  it("counts a token without usable decimals in raw units", async () => {
    const none = [null, "0x", "0x12", word(256n), word(2n ** 53n), word(2n ** 256n - 1n)] as (Hex | null)[];
    for (const decimals of none) {
      expect(await readOne({ symbol: text("ODD"), decimals }), `${decimals}`).to.include({
        symbol: "ODD",
        decimals: 0,
      });
    }
    expect(await readOne({ symbol: text("BIG"), decimals: word(255n) })).to.include({ decimals: 255 });
    expect(await readOne({ symbol: text("NIL"), decimals: word(0n) })).to.include({ decimals: 0 });
  });
});

describe("createHeadTokens", () => {
  const head = (number: number) => ({
    ...{ number, hash: hash(number), parentHash: hash(number - 1), timestamp: 1, logsBloom: "0x" as const },
  });
  /** A node whose head moves with every look, and which has the state of its heads as `answer` says. */
  const nodeOf = (answer: (call: EthCall) => Hex | null) => {
    let number = 100;
    const source: EvmSource = {
      ...createFakeSource({ call: answer }),
      head: async () => head(number++),
      headers: async (numbers) => numbers.map(head),
    };
    return { source, heads: () => number - 100 };
  };
  const IDENTITY = address(4);
  const tokens3 = [1, 2, 3].map(address);
  /** Without Multicall3: each call by itself. */
  const single = ({ to, data }: EthCall): Hex | null => {
    if (to === MULTICALL3) return "0x";
    if (to === IDENTITY) return data;
    return data === SYMBOL ? text(`T${Number(to)}`) : word(6n);
  };

  it("reads all tokens at one head, by its hash, and the next ones at the next", async () => {
    const blocks = new Set<string>();
    const { source, heads } = nodeOf((call) => {
      blocks.add(`${call.block} ${call.blockHash}`);
      return single(call);
    });
    const read = createHeadTokens(source);
    const rows = await read(source, tokens3, AT_HEAD);
    expect(rows.map(({ symbol, decimals }) => `${symbol} ${decimals}`)).to.deep.equal([
      "T1 6",
      "T2 6",
      "T3 6",
    ]);
    expect([...blocks]).to.deep.equal([`100 ${hash(100)}`]);
    await read(source, tokens3, AT_HEAD);
    expect(heads()).to.equal(2);
    expect(await read(source, [], AT_HEAD)).to.deep.equal([]);
    expect(heads()).to.equal(2);
  });

  it("does not take a head without state for tokens without symbols: it reads at a later one, or fails", async () => {
    const goneUntil = (block: number) => (call: EthCall) => {
      if (call.block < block) throw new BlockUnavailable(`no state of block ${call.block}`);
      return single(call);
    };
    const read = ({ source }: ReturnType<typeof nodeOf>) => {
      const clock = createFakeClock();
      return clock.run(createHeadTokens(source, clock)(source, tokens3, AT_HEAD));
    };
    const [row] = await read(nodeOf(goneUntil(102)));
    expect(row).to.include({ symbol: "T1", decimals: 6 });
    const never = nodeOf(goneUntil(Number.POSITIVE_INFINITY));
    const error = await read(never).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(BlockUnavailable);
    expect(never.heads()).to.equal(3);
  });

  it("refuses a node that has code for neither a token nor its pool, whatever it has of others", async () => {
    const { source } = nodeOf((call) => ([POOL, address(2)].includes(call.to) ? "0x" : single(call)));
    const error = await createHeadTokens(source)(source, tokens3, AT_HEAD).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(UpstreamError);
  });
});

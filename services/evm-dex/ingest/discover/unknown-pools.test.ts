import { expect } from "chai";
import { describe, it } from "mocha";
import { encodeAbiParameters, encodeFunctionData, parseAbi } from "viem";
import type { EthCall, Hex } from "../../../shared/evm/port.ts";
import type { Factory } from "../../deployments.ts";
import type { Kind } from "../../protocols/protocol.ts";
import { createFakeSource, type FakeSource, headersUpTo } from "../../test/kit/fake-source.ts";
import { address } from "../../test/kit/rows.ts";
import { UnknownPools } from "./unknown-pools.ts";

const abi = parseAbi([
  "function factory() view returns (address)",
  "function token0() view returns (address)",
  "function token1() view returns (address)",
  "function fee() view returns (uint24)",
  "function tickSpacing() view returns (int24)",
  "function stable() view returns (bool)",
]);
const uniswapGetPool = parseAbi(["function getPool(address, address, uint24) view returns (address)"]);
const slipstreamGetPool = parseAbi(["function getPool(address, address, int24) view returns (address)"]);
const v2GetPool = parseAbi(["function getPool(address, address, bool) view returns (address)"]);

const HEAD = 3_000;
const FROM = 2_000;
const CREATED = 777;
const POOL = address(0x900);
const [TOKEN0, TOKEN1] = [address(0x10), address(0x20)];
const ZERO = address(0);

const selector = (functionName: "factory" | "token0" | "token1" | "fee" | "tickSpacing" | "stable") =>
  encodeFunctionData({ abi, functionName });
const addressWord = (value: Hex) => encodeAbiParameters([{ type: "address" }], [value]);
const numberWord = (value: number) => encodeAbiParameters([{ type: "int256" }], [BigInt(value)]);

function factoryOf(kind: Kind): Factory {
  return { address: address(0xfac), dexName: "X", family: "clones", kind, fromBlock: 100 };
}

interface Contract {
  readonly factory?: Hex;
  readonly results?: Readonly<Record<string, Hex>>;
  /** What the factory has for the pool's facts; default: the pool itself. */
  readonly registered?: Hex;
  /** Blocks below this have no state any more. */
  readonly prunedBelow?: number;
}

/** A chain with one contract that answers calls, and the configured factory. */
function chainWith(contract: Contract, getPool: Hex) {
  const facts: Record<string, Hex> = {
    [selector("token0")]: addressWord(TOKEN0),
    [selector("token1")]: addressWord(TOKEN1),
    ...contract.results,
  };
  return createFakeSource({
    headers: headersUpTo(HEAD),
    call({ to, data, block }: EthCall) {
      if (block < (contract.prunedBelow ?? 0)) return null;
      if (to === POOL && data === selector("factory"))
        return contract.factory === undefined ? null : addressWord(contract.factory);
      if (to === POOL) return facts[data] ?? null;
      if (to === address(0xfac) && data === getPool)
        return addressWord(block >= CREATED ? (contract.registered ?? POOL) : ZERO);
      return null;
    },
  });
}

const FEE_3000 = { [selector("fee")]: numberWord(3_000), [selector("tickSpacing")]: numberWord(60) };
const uniswapCall = encodeFunctionData({ abi: uniswapGetPool, args: [TOKEN0, TOKEN1, 3_000] });

const KINDS: readonly [Kind, Record<string, Hex>, Hex, object][] = [
  ["uniswap-v3", FEE_3000, uniswapCall, { fee: 3_000, tickSpacing: 60 }],
  ["pancake-v3", FEE_3000, uniswapCall, { fee: 3_000, tickSpacing: 60 }],
  [
    "slipstream",
    { [selector("tickSpacing")]: numberWord(200) },
    encodeFunctionData({ abi: slipstreamGetPool, args: [TOKEN0, TOKEN1, 200] }),
    { fee: null, tickSpacing: 200 },
  ],
  [
    "aerodrome-v2",
    { [selector("stable")]: numberWord(1) },
    encodeFunctionData({ abi: v2GetPool, args: [TOKEN0, TOKEN1, true] }),
    { fee: null, tickSpacing: 0, stable: true },
  ],
];

describe("UnknownPools", () => {
  const seen = 2_500;
  const only = new Map([[POOL as string, seen]]);

  for (const [kind, results, getPool, traits] of KINDS) {
    it(`finds a ${kind} pool and the block that created it`, async () => {
      const factory = factoryOf(kind);
      const source = chainWith({ factory: factory.address, results }, getPool);
      const unknownPools = new UnknownPools(source, { factories: [factory], fromBlock: FROM });
      const expected = {
        pool: POOL,
        token0: TOKEN0,
        token1: TOKEN1,
        ...traits,
        factory,
        block: CREATED,
        time: headersUpTo(CREATED)[CREATED]?.timestamp,
      };
      expect(await unknownPools.identify(only)).to.deep.equal([{ pool: expected, gauge: undefined }]);
      // A node without the head's state would make pools foreign.
      for (const { block, needsState = false } of source.calls.flat())
        expect(needsState, `block ${block}`).to.equal(block === HEAD);
    });
  }

  const factory = factoryOf("uniswap-v3");
  const ours: Contract = { factory: factory.address, results: FEE_3000 };
  const open = (contract: Contract) => {
    const source = chainWith(contract, uniswapCall);
    return { source, unknownPools: new UnknownPools(source, { factories: [factory], fromBlock: FROM }) };
  };

  it("uses the block before the index where nodes have pruned the past", async () => {
    const { unknownPools } = open({ ...ours, prunedBelow: HEAD });
    const [identified] = await unknownPools.identify(only);
    expect(identified?.pool.block).to.equal(FROM - 1);
  });

  it("uses the block of the first event, if nodes show at least that the pool did not exist before", async () => {
    const { unknownPools } = open({ ...ours, prunedBelow: CREATED - 1 });
    const [identified] = await unknownPools.identify(new Map([[POOL as string, CREATED]]));
    expect(identified?.pool.block).to.equal(CREATED);
  });

  it("finds the gauge that a pool had before its first event, and none that came later", async () => {
    const rewards = { voter: address(0x707e), token: address(0x70) };
    const gauged = { ...factoryOf("aerodrome-v2"), rewards };
    const getPool = encodeFunctionData({ abi: v2GetPool, args: [TOKEN0, TOKEN1, true] });
    const results = { [selector("stable")]: numberWord(1) };
    const gaugeSince = async (block: number, firstEventAt: number) => {
      const chain = chainWith({ factory: gauged.address, results }, getPool);
      const source: FakeSource = {
        ...chain,
        call: async (calls) =>
          calls[0]?.to === rewards.voter
            ? calls.map((call) => addressWord(call.block >= block ? address(0x6a) : ZERO))
            : chain.call(calls),
      };
      const unknownPools = new UnknownPools(source, { factories: [gauged], fromBlock: FROM });
      return (await unknownPools.identify(new Map([[POOL as string, firstEventAt]])))[0]?.gauge;
    };
    expect(await gaugeSince(1_234, seen)).to.deep.equal({
      gauge: address(0x6a),
      voter: rewards.voter,
      createdBlock: 1_234,
    });
    expect(await gaugeSince(seen, seen)).to.equal(undefined);
    expect(await gaugeSince(HEAD + 1, seen)).to.equal(undefined);
  });

  const foreign: readonly [string, Contract][] = [
    ["that names no factory", { results: FEE_3000 }],
    ["of another factory", { ...ours, factory: address(0xbad) }],
    ["that its factory does not know", { ...ours, registered: ZERO }],
    ["that claims the facts of another pool", { ...ours, registered: address(0x901) }],
    ["without a fee getter", { factory: factory.address }],
  ];
  for (const [name, contract] of foreign) {
    it(`rejects a contract ${name}, and reads it once`, async () => {
      const { source, unknownPools } = open(contract);
      expect(unknownPools.isForeign(POOL)).to.equal(false);
      expect(await unknownPools.identify(only)).to.deep.equal([]);
      expect(unknownPools.isForeign(POOL)).to.equal(true);
      const requested = source.calls.length;
      expect(await unknownPools.identify(only)).to.deep.equal([]);
      expect(source.calls.length).to.equal(requested);
    });
  }

  it("reads many at once, and each once", async () => {
    const { source, unknownPools } = open(ours);
    const foreign = Array.from({ length: 300 }, (_, n) => [address(0x5000 + n), seen] as const);
    const many = new Map([...only, ...foreign]);
    for (const round of [1, 2])
      expect(
        (await unknownPools.identify(many)).map(({ pool }) => pool.pool),
        `${round}`,
      ).to.deep.equal([POOL]);
    const requested = source.calls.filter((request) =>
      request.some(({ data }) => data === selector("factory")),
    );
    expect(requested.map((request) => request.length)).to.deep.equal([many.size, 1]);
  });

  it("reads at a block where the contract exists, however far behind the node is", async () => {
    const { source, unknownPools } = open(ours);
    await unknownPools.identify(new Map([[POOL as string, HEAD + 40]]));
    expect(source.calls[0]?.[0]?.block).to.equal(HEAD + 40);
  });

  it("reads again where no endpoint responded", async () => {
    const { source } = open(ours);
    let isDown = true;
    const flaky = {
      ...source,
      call: (calls: readonly EthCall[]) => (isDown ? Promise.reject(new Error("down")) : source.call(calls)),
    };
    const unknownPools = new UnknownPools(flaky, { factories: [factory], fromBlock: FROM });
    expect(await unknownPools.identify(only).catch((error: Error) => error.message)).to.equal("down");
    isDown = false;
    expect((await unknownPools.identify(only)).map(({ pool }) => pool.pool)).to.deep.equal([POOL]);
  });
});

import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { decodeFunctionData, encodeFunctionResult, multicall3Abi } from "viem";
import { ReorgDetected } from "../../chain-errors.ts";
import { createFakeClock } from "../../rpc-client/testkit/fake-network.ts";
import { describeLong } from "../../testkit/describe.ts";
import { BlockUnavailable, CallTooHeavy, type EthCall, type Hex, UpstreamError } from "../port.ts";
import { fakeHeader } from "../testkit/fake-chain.ts";
import { Multicall, type MulticallOptions } from "./multicall.ts";

const MULTICALL3: Hex = "0xca11bde05977b3631167028862be2a173976ca11";
const HEADER = fakeHeader(77);
const BLOCK = { number: HEADER.number, hash: HEADER.hash };
/** What the fake node's contract does, as its call data says. */
type Behaviour = "answers" | "says why it fails" | "fails silently" | "eats all gas" | "is not there";
const BEHAVIOURS: readonly Behaviour[] = [
  "answers",
  "says why it fails",
  "fails silently",
  "eats all gas",
  "is not there",
];

interface Wanted {
  readonly behaviour: Behaviour;
  readonly gas: number;
}

function dataOf(i: number, { behaviour, gas }: Wanted): Hex {
  const bytes = [BEHAVIOURS.indexOf(behaviour), i, gas].map((value) => value.toString(16).padStart(8, "0"));
  return `0x${bytes.join("")}`;
}

const TARGET: Hex = `0x${"77".repeat(20)}`;
const answerOf = (i: number): Hex => `0x${(i + 1).toString(16).padStart(64, "0")}`;

function truth(i: number, { behaviour }: Wanted): Hex | null {
  return behaviour === "answers" ? answerOf(i) : null;
}

interface Outcome {
  readonly success: boolean;
  readonly returnData: Hex;
  readonly used: number;
}

/** One call with so much gas, by the EVM's rules as far as they matter here. */
function run(data: Hex, gas: number): Outcome {
  const [kind, i, cost] = [0, 1, 2].map((at) => Number(`0x${data.slice(2 + 8 * at, 10 + 8 * at)}`)) as [
    number,
    number,
    number,
  ];
  const behaviour = BEHAVIOURS[kind] as Behaviour;
  if (behaviour === "is not there") return { success: true, returnData: "0x", used: 0 };
  if (behaviour === "eats all gas" || cost > gas) return { success: false, returnData: "0x", used: gas };
  if (behaviour === "answers") return { success: true, returnData: answerOf(i), used: cost };
  return { success: false, returnData: behaviour === "fails silently" ? "0x" : "0x08c379a0", used: cost };
}

interface NodeOptions {
  /** Gas that one eth_call has. */
  readonly gas?: number;
  /** Calls of a batch beyond which the node no longer answers. */
  readonly most?: number;
  readonly hasMulticall?: boolean;
}

const OVERHEAD = 100;

/** A node's eth_call; null where it reverts. */
function execute({ to, data }: EthCall, options: NodeOptions): Hex | null {
  const { gas = 1_000_000, most = Number.POSITIVE_INFINITY, hasMulticall = true } = options;
  if (to === `0x${"04".padStart(40, "0")}`) return data;
  if (to !== MULTICALL3) {
    const { success, returnData } = run(data, gas);
    return success ? returnData : null;
  }
  if (!hasMulticall) return "0x";
  const { args } = decodeFunctionData({ abi: multicall3Abi, data });
  const inner = args?.[0] as readonly { target: Hex; callData: Hex }[];
  if (inner.length - 1 > most) throw new CallTooHeavy("no answer");
  let left = gas;
  const results: { success: boolean; returnData: Hex }[] = [];
  for (const { target, callData } of inner) {
    left -= OVERHEAD;
    if (left < 0) return null;
    const isProof = target.toLowerCase() === MULTICALL3;
    const passed = Math.floor((left * 63) / 64);
    const outcome = isProof
      ? { success: passed >= 200, returnData: answerOf(0), used: Math.min(passed, 200) }
      : run(callData, passed);
    left -= outcome.used;
    results.push({
      success: outcome.success,
      returnData: outcome.success || !isProof ? outcome.returnData : "0x",
    });
  }
  return encodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", result: results });
}

interface Node {
  readonly source: MulticallOptions["source"];
  /** The calls of each request. */
  readonly requests: (readonly EthCall[])[];
}

function createNode(options: NodeOptions = {}): Node {
  const requests: (readonly EthCall[])[] = [];
  return {
    requests,
    source: {
      chainId: 1,
      async call(calls) {
        requests.push(calls);
        for (const call of calls) expect(call).to.include({ block: BLOCK.number, blockHash: BLOCK.hash });
        return calls.map((call) => execute(call, options));
      },
      async headers(numbers) {
        return numbers.map((number) => (number === BLOCK.number ? HEADER : null));
      },
    },
  };
}

function readAll(multicall: Multicall, wanted: readonly Wanted[]): Promise<(Hex | null)[]> {
  const calls = multicall.at(BLOCK);
  return Promise.all(wanted.map((each, i) => calls.call(TARGET, dataOf(i, each))));
}

const cheap = (count: number): Wanted[] =>
  Array.from({ length: count }, () => ({ behaviour: "answers", gas: 10 }));

describeLong("Multicall", () => {
  it("returns what single calls would, for any calls, gas limits and batch limits", async () => {
    const wanted = fc.record({
      behaviour: fc.constantFrom(...BEHAVIOURS),
      gas: fc.integer({ min: 0, max: 20_000 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(wanted, { maxLength: 60 }),
        fc.record({
          gas: fc.integer({ min: 20_000, max: 400_000 }),
          most: fc.integer({ min: 1, max: 60 }),
          hasMulticall: fc.boolean(),
        }),
        fc.record({
          maxCalls: fc.integer({ min: 1, max: 40 }),
          maxBytes: fc.integer({ min: 1, max: 5_000 }),
          parallel: fc.integer({ min: 1, max: 3 }),
        }),
        async (list, node, limits) => {
          const { source } = createNode(node);
          const multicall = new Multicall({ source, address: MULTICALL3, ...limits });
          // Twice: what was learnt the first time must not make the second answer another.
          for (const _ of [1, 2])
            expect(await readAll(multicall, list)).to.deep.equal(list.map((each, i) => truth(i, each)));
        },
      ),
      { numRuns: 60 },
    );
  });

  it("puts calls of one turn into one eth_call, equal ones once, and calls after them into the next", async () => {
    const { source, requests } = createNode();
    const calls = new Multicall({ source, address: MULTICALL3 }).at(BLOCK);
    const send = (i: number) => calls.call(TARGET, dataOf(i, { behaviour: "answers", gas: 1 }));
    await Promise.all(
      [0, 1, 2, 3].map(async (i) => {
        await send(i);
        for (let hop = 0; hop < i; hop++) await Promise.resolve();
        await Promise.all([send(10 + i), send(20)]);
      }),
    );
    expect(requests.map((request) => request.length)).to.deep.equal([1, 1]);
    const sizes = requests.map(([call]) => {
      const { args } = decodeFunctionData({ abi: multicall3Abi, data: call?.data ?? "0x" });
      return args?.[0]?.length;
    });
    expect(sizes, "with the call that proves").to.deep.equal([5, 6]);
  });

  it("splits by number and by bytes, with several eth_calls in flight", async () => {
    for (const limits of [{ maxCalls: 10 }, { maxBytes: 10 * 192 }]) {
      const { source, requests } = createNode();
      let inFlight = 0;
      let most = 0;
      const counting = {
        ...source,
        async call(calls: readonly EthCall[]) {
          most = Math.max(most, ++inFlight);
          await new Promise((resolve) => setImmediate(resolve));
          inFlight--;
          return source.call(calls);
        },
      };
      await readAll(
        new Multicall({ source: counting, address: MULTICALL3, ...limits, parallel: 3 }),
        cheap(95),
      );
      expect(requests).to.have.length(10);
      expect(most).to.equal(3);
    }
  });

  it("sends a call that spoils batches alone from then on", async () => {
    const { source, requests } = createNode({ gas: 100_000 });
    const multicall = new Multicall({ source, address: MULTICALL3 });
    const list = cheap(40).map(
      (each, i): Wanted => (i === 23 ? { behaviour: "eats all gas", gas: 0 } : each),
    );
    const expected = list.map((each, i) => truth(i, each));
    expect(await readAll(multicall, list)).to.deep.equal(expected);
    const toFind = requests.length;
    expect(await readAll(multicall, list)).to.deep.equal(expected);
    expect(requests.length - toFind).to.be.lessThan(toFind);
    const alone = requests.slice(toFind).filter(([call]) => call?.to === TARGET);
    expect(alone, "one request for the spoiler, a neighbour and the proof").to.have.length(1);
    expect(alone[0]?.length).to.be.within(2, 3);
    const batches = requests.slice(toFind).length - alone.length;
    expect(batches).to.be.at.most(40 / 8);
  });

  it("rejects a malformed call by itself", async () => {
    const calls = new Multicall({ source: createNode().source, address: MULTICALL3 }).at(BLOCK);
    const [bad, good] = await Promise.allSettled([
      calls.call("0x12", "0x"),
      calls.call(TARGET, dataOf(1, { behaviour: "answers", gas: 1 })),
    ]);
    expect(bad.status === "rejected" && bad.reason).to.be.instanceOf(RangeError);
    expect(good).to.deep.equal({ status: "fulfilled", value: answerOf(1) });
  });
});

describe("Multicall where the block is unavailable", () => {
  const rejections = async (
    source: MulticallOptions["source"],
    clock = createFakeClock(),
  ): Promise<unknown[]> => {
    const calls = new Multicall({ source, address: MULTICALL3, clock }).at(BLOCK);
    const requested = [1, 2, 3].map((i) => calls.call(TARGET, dataOf(i, { behaviour: "answers", gas: 1 })));
    const ended = await clock.run(Promise.allSettled(requested));
    const later = await calls.call(TARGET, "0x").catch((error: unknown) => error);
    return [...ended.map((each) => (each.status === "rejected" ? each.reason : each.value)), later];
  };

  it("waits for an endpoint that does not know it yet", async () => {
    const { source } = createNode();
    let looks = 0;
    const late = {
      ...source,
      async call(calls: readonly EthCall[]) {
        if (++looks < 4) throw new BlockUnavailable("header for hash not found");
        return source.call(calls);
      },
    };
    const clock = createFakeClock();
    const calls = new Multicall({ source: late, address: MULTICALL3, clock }).at(BLOCK);
    expect(await clock.run(calls.call(TARGET, dataOf(1, { behaviour: "answers", gas: 1 })))).to.equal(
      answerOf(1),
    );
  });

  it("rejects all callers with ReorgDetected where the block was replaced", async () => {
    const source = {
      ...createNode().source,
      call: () => Promise.reject(new BlockUnavailable("header for hash not found")),
      headers: async () => [fakeHeader(77, { fork: 1 })],
    };
    for (const error of await rejections(source)) expect(error).to.be.instanceOf(ReorgDetected);
  });

  it("never takes a state that is gone for calls that revert", async () => {
    const call = () => Promise.reject(new BlockUnavailable("missing trie node"));
    for (const error of await rejections({ ...createNode().source, call }))
      expect(error).to.be.instanceOf(BlockUnavailable);
  });

  it("rejects an endpoint that fails even the proof call", async () => {
    const silent = {
      ...createNode().source,
      call: async (calls: readonly EthCall[]) => calls.map(() => null),
    };
    for (const error of await rejections(silent)) expect(error).to.be.instanceOf(UpstreamError);
    const empty = {
      ...createNode().source,
      call: async (calls: readonly EthCall[]) => calls.map(() => "0x" as const),
    };
    for (const error of await rejections(empty)) expect(error).to.be.instanceOf(UpstreamError);
    const tired = { ...createNode().source, call: () => Promise.reject(new CallTooHeavy("no answer")) };
    for (const error of await rejections(tired)) expect(error).to.be.instanceOf(UpstreamError);
  });

  it("does not take an endpoint without contracts for a chain without Multicall3, once that was seen", async () => {
    let isBroken = false;
    const { source } = createNode();
    const broken = {
      ...source,
      call: async (calls: readonly EthCall[]) =>
        isBroken
          ? calls.map((call) => (call.to.endsWith("04") ? call.data : ("0x" as const)))
          : source.call(calls),
    };
    const multicall = new Multicall({ source: broken, address: MULTICALL3 });
    await readAll(multicall, cheap(3));
    isBroken = true;
    const error = await readAll(multicall, cheap(4)).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(UpstreamError);
    expect(String(error)).to.contain("finds nothing");
  });
});

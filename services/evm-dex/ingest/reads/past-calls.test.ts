import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { MULTICALL3 } from "../../../shared/evm/multicall/multicall.ts";
import type { EthCall, Hex } from "../../../shared/evm/port.ts";
import { randomRuns } from "../../../shared/testkit/describe.ts";
import { withMulticall } from "../../test/kit/fake-multicall.ts";
import { createFakeSource } from "../../test/kit/fake-source.ts";
import { address, word } from "../../test/kit/rows.ts";
import { PastCalls, RECENT_BLOCKS } from "./past-calls.ts";

const HEAD = 50_000;
/** Without code, and one that always reverts. */
const [EMPTY, BAD] = [address(0xe), address(0xbad)];
const contracts = ({ to, block }: Pick<EthCall, "to" | "block">): Hex | null =>
  to === BAD ? null : to === EMPTY ? "0x" : word(Number(to) + block);

function setUp(call: (call: EthCall) => Hex | null = withMulticall(contracts)) {
  const source = createFakeSource({ call });
  const past = new PastCalls({ source, address: MULTICALL3 });
  return { calls: source.calls, read: (calls: readonly EthCall[]) => past.call(calls, HEAD) };
}

const callAt = (to: Hex, block: number, more: Partial<EthCall> = {}): EthCall => ({
  to,
  data: "0x70a08231",
  block,
  ...more,
});
/** Two tokens in each of so many pools, each pool at a block of its own or at one that others share. */
const callsAt = (pools: number, blockOf: (pool: number) => number): EthCall[] =>
  Array.from({ length: 2 * pools }, (_, i) => callAt(address(0x100 + i), blockOf(Math.floor(i / 2))));

describe("PastCalls", () => {
  it("reads the calls of a block together, and those of many blocks in one request", async () => {
    const { calls, read } = setUp();
    const wanted = callsAt(120, (pool) => HEAD - 10 * (pool % 3));
    expect(await read(wanted)).to.deep.equal(wanted.map(contracts));
    expect(calls).to.have.length(1);
    expect(calls[0]?.map(({ to }) => to)).to.deep.equal([MULTICALL3, MULTICALL3, MULTICALL3]);
  });

  it("gives for any calls what each gives alone, also where Multicall3 is absent or talks nonsense", async () => {
    const anyCall = fc
      .record({
        to: fc.constantFrom(EMPTY, BAD, address(1), address(2), address(3)),
        block: fc.constantFrom(HEAD, HEAD - 3, HEAD - RECENT_BLOCKS, 900, 12),
        hash: fc.constantFrom<(Hex | undefined)[]>(undefined, "0x0a", "0x0b"),
        confirmRevert: fc.boolean(),
      })
      .map(({ hash, ...call }) => callAt(call.to, call.block, { ...call, ...(hash && { blockHash: hash }) }));
    const chain = withMulticall(contracts);
    const faults: Record<string, (call: EthCall, returned: Hex | null) => Hex | null> = {
      none: (_, returned) => returned,
      absent: () => "0x",
      "absent before": ({ block }, returned) => (block < HEAD - 3 ? "0x" : returned),
      reverts: () => null,
      "cut off": (_, returned) => returned?.slice(0, 200) as Hex,
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyCall, { maxLength: 300 }),
        fc.constantFrom(...Object.keys(faults)),
        async (wanted, fault) => {
          const { read } = setUp((call) =>
            call.to === MULTICALL3
              ? (faults[fault] as (typeof faults)[string])(call, chain(call))
              : chain(call),
          );
          for (let time = 0; time < 2; time++)
            expect(await read(wanted)).to.deep.equal(wanted.map(contracts));
        },
      ),
      { numRuns: randomRuns(200) },
    );
  });

  it("asks alone, with what it asked for, whatever fails in company", async () => {
    const { calls, read } = setUp((call) =>
      call.to === BAD && call.confirmRevert === true ? word(7) : withMulticall(contracts)(call),
    );
    const wanted = [callAt(BAD, 900, { confirmRevert: true }), callAt(address(1), 900)];
    expect(await read(wanted)).to.deep.equal([word(7), word(901)]);
    expect(calls[1]).to.deep.equal([wanted[0]]);
  });

  it("names the hash of a block where the calls do, and mixes none with another", async () => {
    const { calls, read } = setUp();
    const wanted = (["0x0a", "0x0b", "0x0a", "0x0b"] as const).map((blockHash, i) =>
      callAt(address(i + 1), 900, { blockHash }),
    );
    await read(wanted);
    expect(calls[0]?.map(({ blockHash }) => blockHash)).to.deep.equal(["0x0a", "0x0b"]);
  });

  it("does not ask Multicall3 at blocks where it was absent", async () => {
    const chain = withMulticall(contracts);
    const { calls, read } = setUp((call) =>
      call.to === MULTICALL3 && call.block < 1_000 ? "0x" : chain(call),
    );
    const wanted = callsAt(3, () => 900);
    await read(wanted);
    await read([...wanted, ...callsAt(3, () => 899), ...callsAt(3, () => 1_000)]);
    const aggregates = calls.flat().filter(({ to }) => to === MULTICALL3);
    expect(aggregates.map(({ block }) => block)).to.deep.equal([900, 1_000]);
  });

  it("does not ask blocks whose state no node has, but recent ones whatever nodes say of them", async () => {
    const depth = 128;
    const { calls, read } = setUp((call) =>
      HEAD - call.block > depth ? null : withMulticall(contracts)(call),
    );
    const wanted = callsAt(1_000, (pool) => HEAD - 2 * pool);
    const isThere = ({ block }: EthCall) => HEAD - block <= depth;
    expect(await read(wanted)).to.deep.equal(wanted.map((call) => (isThere(call) ? contracts(call) : null)));
    const asked = calls.flat().filter((call) => !isThere(call));
    expect(asked.length).to.be.within(1, 12);
    calls.length = 0;
    await read(wanted);
    expect(calls.flat().filter((call) => !isThere(call))).to.deep.equal([]);

    const none = setUp(() => null);
    await none.read(wanted);
    const blocks = new Set(none.calls.flat().map(({ block }) => block));
    for (let back = 0; back < RECENT_BLOCKS; back += 2) expect(blocks.has(HEAD - back)).to.equal(true);
  });

  it("asks a few old calls without asking for the state first", async () => {
    const { calls, read } = setUp();
    await read(callsAt(9, (pool) => 900 + pool));
    expect(calls.flat().every(({ to }) => to === MULTICALL3)).to.equal(true);
  });
});

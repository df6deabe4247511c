import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { SolanaTransaction } from "../../chain/port.ts";
import { decodeMade } from "../test/decode-made.ts";
import { HandMade } from "../test/hand-made.ts";
import { findScopeEnd, flatten } from "./flatten.ts";

/** Calls of calls; each has a number of its own, which its data spells. */
interface Call {
  readonly inside: readonly Call[];
}

const LEAF: Call = { inside: [] };
const { call } = fc.letrec<{ call: Call }>((tie) => ({
  call: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constant(LEAF),
    fc.record({ inside: fc.array(tie("call"), { maxLength: 3 }) }),
  ),
}));
const calls = fc.array(call, { maxLength: 5 });

/** The order of execution, by definition: a call, then what is inside it. */
function inOrder(calls: readonly Call[], depth = 1): { depth: number; size: number }[] {
  return calls.flatMap(({ inside }) => {
    const within = inOrder(inside, depth + 1);
    return [{ depth, size: within.length }, ...within];
  });
}

function make(calls: readonly Call[], withoutHeights = false): SolanaTransaction {
  const made = new HandMade();
  let number = 0;
  const put = (call: Call): void => {
    const data = [number >> 8, number++ & 255];
    made.call("program", { accounts: [], data }, () => call.inside.forEach(put));
  };
  calls.forEach(put);
  return made.build({ withoutHeights });
}

describe("flatten", () => {
  it("lists calls in the order of execution, with what each called behind it", () => {
    fc.assert(
      fc.property(calls, (calls) => {
        const transaction = make(calls);
        const expected = inOrder(calls);
        const flat = flatten(transaction);
        expect(flat.stackHeights).to.deep.equal(expected.map(({ depth }) => depth));
        expect(flat.instructions).to.have.length(expected.length);
        expect(new Set(flat.instructions.map(({ data }) => data)).size).to.equal(expected.length);
        expected.forEach(({ size }, at) => {
          expect(
            findScopeEnd(flat, at, () => false),
            `instruction ${at}`,
          ).to.equal(at + 1 + size);
        });
      }),
    );
  });

  it("without depths lists the same, and attributes all calls to their top-level instruction", () => {
    fc.assert(
      fc.property(calls, (calls) => {
        const flat = flatten(make(calls, true));
        const expected = inOrder(calls);
        expect(flat.instructions.map(({ data }) => data)).to.deep.equal(
          flatten(make(calls)).instructions.map(({ data }) => data),
        );
        expected.forEach(({ depth, size }, at) => {
          expect(flat.stackHeights[at]).to.equal(depth === 1 ? 1 : 0);
          if (depth === 1) expect(findScopeEnd(flat, at, () => true)).to.equal(at + 1 + size);
        });
      }),
    );
  });

  it("without depths attributes to a call what follows it, up to the next independent call", () => {
    const flat = flatten(make([{ inside: [leaf(2), leaf(0), leaf(1)] }, leaf(1)], true));
    const isOther = (at: number) => at === 4;
    expect(findScopeEnd(flat, 0, isOther)).to.equal(7);
    expect(findScopeEnd(flat, 1, isOther)).to.equal(4);
    expect(findScopeEnd(flat, 4, isOther)).to.equal(7);
    expect(findScopeEnd(flat, 7, isOther)).to.equal(9);
  });

  it("routes give the same rows with and without depths", () => {
    const leg = fc.record({ pool: fc.nat(2), amount: fc.integer({ min: 1, max: 10 ** 9 }) });
    fc.assert(
      fc.property(fc.array(fc.array(leg, { maxLength: 5 }), { maxLength: 3 }), (routes) => {
        const exact = decodeMade(routed(routes, false));
        const guessed = decodeMade(routed(routes, true));
        expect(exact.trades).to.have.length(routes.flat().length);
        expect(guessed.decoded).to.deep.equal(exact.decoded);
        expect(exact.disagreements).to.deep.equal([]);
      }),
    );
  });
});

function leaf(calls: number): Call {
  return { inside: Array.from({ length: calls }, () => LEAF) };
}

const CPMM = "CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C";
const SWAP = [...Buffer.from("8fbe5adac41e33de", "hex"), ...new Uint8Array(16)];

/** Routers that call pools of Raydium CPMM, moving the tokens between accounts of their own before and after. */
function routed(
  routes: readonly (readonly { pool: number; amount: number }[])[],
  withoutHeights: boolean,
): SolanaTransaction {
  const made = new HandMade();
  for (const pool of [0, 1, 2]) {
    made.holds(`in ${pool}`, { mint: "A" }).holds(`out ${pool}`, { mint: "B" });
  }
  made.holds("router A", { mint: "A" }).holds("router B", { mint: "B" });
  made.holds("user A", { mint: "A" }).holds("user B", { mint: "B" });
  for (const legs of routes) {
    made.call("router", { accounts: [], data: [1] }, () => {
      for (const { pool, amount } of legs) {
        made.transfer("user A", "router A", BigInt(amount));
        const accounts = ["pda", "x", "x", `pool ${pool}`, "x", "x", `in ${pool}`, `out ${pool}`];
        made.call(CPMM, { accounts: [...accounts, "x", "x", "x", "x", "x"], data: SWAP }, () => {
          made.transfer("router A", `in ${pool}`, BigInt(amount));
          made.transfer(`out ${pool}`, "router B", BigInt(amount) * 2n);
        });
        made.transfer("router B", "user B", 1n);
      }
    });
  }
  return made.build({ withoutHeights });
}

import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { decodeBigint, encodeBigint } from "../../../shared/storage/bigint-key.ts";
import type { V3Event } from "./events.ts";
import { applyEvent, EMPTY_STATE, movedInto, readState, type V3State, writeState } from "./state.ts";

const AT_100: V3State = {
  sqrtPriceX96: 2n ** 96n,
  liquidity: 1_000n,
  tick: 100,
  reserve0: 50_000n,
  reserve1: 70_000n,
  feeProtocol: 0x44,
};

describe("applyEvent by hand", () => {
  const position = { tickLower: 60, tickUpper: 120, liquidity: 300n, amount0: 7n, amount1: 9n };

  it("initialize sets price and tick", () => {
    const event = { kind: "initialize", sqrtPriceX96: 3n ** 60n, tick: -42 } as const;
    expect(applyEvent(EMPTY_STATE, event)).to.deep.equal({
      ...EMPTY_STATE,
      sqrtPriceX96: 3n ** 60n,
      tick: -42,
    });
  });

  it("a swap moves tokens both ways and sets price, tick and liquidity", () => {
    const swap = {
      kind: "swap",
      amount0: -500n,
      amount1: 800n,
      sqrtPriceX96: 5n,
      liquidity: 77n,
      tick: 130,
    } as const;
    expect(applyEvent(AT_100, swap)).to.deep.equal({
      sqrtPriceX96: 5n,
      liquidity: 77n,
      tick: 130,
      reserve0: 49_500n,
      reserve1: 70_800n,
      feeProtocol: 0x44,
    });
  });

  it("a mint pays in; its liquidity counts where the tick is in range, the upper tick excluded", () => {
    const minted = { ...AT_100, reserve0: 50_007n, reserve1: 70_009n };
    const liquidityAt = (tickLower: number, tickUpper: number) => {
      const after = applyEvent(AT_100, { kind: "mint", ...position, tickLower, tickUpper });
      expect(after).to.deep.equal({ ...minted, liquidity: after.liquidity });
      return after.liquidity;
    };
    expect(liquidityAt(60, 120)).to.equal(1_300n);
    expect(liquidityAt(100, 101)).to.equal(1_300n);
    expect(liquidityAt(40, 100)).to.equal(1_000n);
    expect(liquidityAt(101, 120)).to.equal(1_000n);
  });

  it("a burn takes liquidity out, but no tokens: those leave with the collect", () => {
    const burnt = applyEvent(AT_100, { kind: "burn", ...position });
    expect(burnt).to.deep.equal({ ...AT_100, liquidity: 700n });
    expect(applyEvent(AT_100, { kind: "burn", ...position, tickLower: 101 })).to.deep.equal(AT_100);
    const collected = applyEvent(burnt, { kind: "collect", amount0: 7n, amount1: 9n });
    expect(collected).to.deep.equal({ ...burnt, reserve0: 49_993n, reserve1: 69_991n });
  });

  it("the protocol's collect takes tokens, a flash pays some in", () => {
    expect(applyEvent(AT_100, { kind: "collect_protocol", amount0: 1n, amount1: 2n })).to.deep.equal({
      ...AT_100,
      reserve0: 49_999n,
      reserve1: 69_998n,
    });
    expect(applyEvent(AT_100, { kind: "flash", paid0: 3n, paid1: 4n })).to.deep.equal({
      ...AT_100,
      reserve0: 50_003n,
      reserve1: 70_004n,
    });
  });

  it("reserves stop where the store's numbers end, whatever a lying token claims", () => {
    const flash = { kind: "flash", paid0: 2n ** 255n, paid1: 1n } as const;
    const state = [flash, flash, flash].reduce(applyEvent, AT_100);
    expect(state.reserve0).to.equal(2n ** 255n);
    expect(decodeBigint(encodeBigint(state.reserve0))).to.equal(state.reserve0);
    expect(state.reserve1).to.equal(AT_100.reserve1 + 3n);
  });

  it("a new protocol share changes nothing else", () => {
    expect(applyEvent(AT_100, { kind: "set_fee_protocol", feeProtocol: 0x65 })).to.deep.equal({
      ...AT_100,
      feeProtocol: 0x65,
    });
  });
});

const TICKS = { min: -200, max: 200 };
const amount = fc.bigInt({ min: 0n, max: 10n ** 30n });
const range = fc
  .tuple(fc.integer(TICKS), fc.integer({ min: 1, max: 100 }))
  .map(([lower, width]) => ({ tickLower: lower, tickUpper: lower + width }));

/** A step of a pool's life; the burn takes out a position that is there. */
type Step =
  | {
      readonly kind: "mint";
      readonly tickLower: number;
      readonly tickUpper: number;
      readonly liquidity: bigint;
      readonly amount0: bigint;
      readonly amount1: bigint;
    }
  | { readonly kind: "burn"; readonly which: number; readonly amount0: bigint; readonly amount1: bigint }
  | { readonly kind: "swap"; readonly tick: number; readonly amount0: bigint; readonly amount1: bigint }
  | { readonly kind: "collect" | "collect_protocol"; readonly amount0: bigint; readonly amount1: bigint }
  | { readonly kind: "flash"; readonly paid0: bigint; readonly paid1: bigint }
  | { readonly kind: "set_fee_protocol"; readonly feeProtocol: number };

const amounts = { amount0: amount, amount1: amount };
const signed = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc
    .tuple(range, fc.record({ kind: fc.constant("mint" as const), liquidity: amount, ...amounts }))
    .map(([where, mint]) => ({ ...where, ...mint })),
  fc.record({ kind: fc.constant("burn" as const), which: fc.nat(), ...amounts }),
  fc.record({
    kind: fc.constant("swap" as const),
    tick: fc.integer(TICKS),
    amount0: signed,
    amount1: signed,
  }),
  fc.record({ kind: fc.constantFrom("collect" as const, "collect_protocol" as const), ...amounts }),
  fc.record({ kind: fc.constant("flash" as const), paid0: amount, paid1: amount }),
  fc.record({ kind: fc.constant("set_fee_protocol" as const), feeProtocol: fc.nat(255) }),
);

interface Position {
  readonly tickLower: number;
  readonly tickUpper: number;
  readonly liquidity: bigint;
}

describe("applyEvent over random lives of a pool", () => {
  it("has the liquidity of the positions around the tick, and what went in less what came out", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let state = applyEvent(EMPTY_STATE, { kind: "initialize", sqrtPriceX96: 1n, tick: 0 });
        const positions: Position[] = [];
        let held0 = 0n;
        let held1 = 0n;
        for (const each of steps) {
          const event = toEvent(each, positions);
          if (event === undefined) continue;
          state = applyEvent(state, event);
          const moved = movedInto(event);
          held0 += moved.amount0;
          held1 += moved.amount1;
          const around = positions.filter(
            ({ tickLower, tickUpper }) => tickLower <= state.tick && state.tick < tickUpper,
          );
          expect(state.liquidity).to.equal(around.reduce((sum, { liquidity }) => sum + liquidity, 0n));
          expect([state.reserve0, state.reserve1]).to.deep.equal([held0, held1]);
        }
      }),
    );
  });

  it("movedInto has the pool's view of every event", () => {
    const both = { amount0: 5n, amount1: -6n };
    const position = { tickLower: 0, tickUpper: 1, liquidity: 9n };
    const cases: readonly [V3Event, bigint, bigint][] = [
      [{ kind: "swap", ...both, sqrtPriceX96: 1n, liquidity: 1n, tick: 1 }, 5n, -6n],
      [{ kind: "mint", ...position, amount0: 5n, amount1: 6n }, 5n, 6n],
      [{ kind: "burn", ...position, amount0: 5n, amount1: 6n }, 0n, 0n],
      [{ kind: "collect", amount0: 5n, amount1: 6n }, -5n, -6n],
      [{ kind: "collect_protocol", amount0: 5n, amount1: 6n }, -5n, -6n],
      [{ kind: "flash", paid0: 5n, paid1: 6n }, 5n, 6n],
      [{ kind: "initialize", sqrtPriceX96: 1n, tick: 1 }, 0n, 0n],
      [{ kind: "set_fee_protocol", feeProtocol: 1 }, 0n, 0n],
    ];
    for (const [event, amount0, amount1] of cases) {
      expect(movedInto(event), event.kind).to.deep.equal({ amount0, amount1 });
    }
  });
});

/** The event of a step; swaps carry the liquidity that a pool would emit, from its positions. */
function toEvent(each: Step, positions: Position[]): V3Event | undefined {
  if (each.kind === "mint") positions.push(each);
  if (each.kind === "burn") {
    const [gone] = positions.splice(each.which % Math.max(1, positions.length), 1);
    return (
      gone && {
        ...each,
        kind: "burn",
        tickLower: gone.tickLower,
        tickUpper: gone.tickUpper,
        liquidity: gone.liquidity,
      }
    );
  }
  if (each.kind !== "swap") return each;
  const around = positions.filter(
    ({ tickLower, tickUpper }) => tickLower <= each.tick && each.tick < tickUpper,
  );
  return { ...each, sqrtPriceX96: 1n, liquidity: around.reduce((sum, { liquidity }) => sum + liquidity, 0n) };
}

describe("a state as text", () => {
  it("comes back", () => {
    const uint = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n });
    const reserve = fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n });
    const any: fc.Arbitrary<V3State> = fc.record({
      sqrtPriceX96: uint(160),
      liquidity: uint(128),
      tick: fc.integer({ min: -887_272, max: 887_272 }),
      reserve0: reserve,
      reserve1: reserve,
      feeProtocol: fc.nat(255),
    });
    fc.assert(
      fc.property(any, (state) => {
        expect(readState(writeState(state))).to.deep.equal(state);
      }),
    );
  });
});

import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { applyV2, ZERO_ADDRESS } from "./apply.ts";
import type { V2Event } from "./events.ts";
import { EMPTY_V2_STATE, type V2State } from "./state.ts";

const E18 = 10n ** 18n;
const ANN = `0x${"a".repeat(40)}`;
const BOB = `0x${"b".repeat(40)}`;
const GAUGE = `0x${"9".repeat(40)}`;
/** A Thursday, 00:00 UTC. */
const NOW = 1_699_488_000;

const POOL: V2State = {
  ...EMPTY_V2_STATE,
  reserve0: 1_000n,
  reserve1: 2_000n,
  totalSupply: 4n * E18,
  fee: 30,
  defaultFee: 30,
};

const grow = (state: V2State, ...events: V2Event[]) =>
  events.reduce((before, event) => applyV2(before, event, NOW), state);

interface Sums {
  totalSupply: bigint;
  staked: bigint;
  index0: bigint;
  index1: bigint;
}
/** Adds an event of that size to the expected sums; returns the event. */
type Step = (sums: Sums, size: bigint) => V2Event;

const atMost = (size: bigint, most: bigint) => (size < most ? size : most);
const STEPS: Readonly<Record<string, Step>> = {
  mint(sums, amount) {
    sums.totalSupply += amount;
    return { kind: "transfer", from: ZERO_ADDRESS, to: ANN, amount };
  },
  burn(sums, size) {
    const amount = atMost(size, sums.totalSupply);
    sums.totalSupply -= amount;
    return { kind: "transfer", from: ANN, to: ZERO_ADDRESS, amount };
  },
  deposit(sums, amount) {
    sums.staked += amount;
    return { kind: "deposit", owner: ANN, amount };
  },
  withdraw(sums, size) {
    const amount = atMost(size, sums.staked);
    sums.staked -= amount;
    return { kind: "withdraw", owner: ANN, amount };
  },
  fees(sums, amount0) {
    if (sums.totalSupply > 0n) sums.index0 += (amount0 * E18) / sums.totalSupply;
    return { kind: "fees", amount0, amount1: 0n };
  },
};

describe("applyV2", () => {
  it("counts LP tokens as they are minted and burnt, and not as they move", () => {
    const move = (from: string, to: string) => grow(POOL, { kind: "transfer", from, to, amount: E18 });
    expect(move(ZERO_ADDRESS, ANN)).to.deep.equal({ ...POOL, totalSupply: 5n * E18 });
    expect(move(ANN, ZERO_ADDRESS)).to.deep.equal({ ...POOL, totalSupply: 3n * E18 });
    expect(move(ANN, BOB)).to.deep.equal(POOL);
  });

  it("takes the reserves of a Sync, and leaves them to it at mints and burns", () => {
    const sync = { kind: "sync", reserve0: 7n, reserve1: 9n } as const;
    expect(grow(POOL, sync)).to.deep.equal({ ...POOL, reserve0: 7n, reserve1: 9n });
    for (const kind of ["mint", "burn"] as const)
      expect(grow(POOL, { kind, amount0: 5n, amount1: 5n })).to.deep.equal(POOL);
    expect(grow(POOL, { kind: "claim", owner: ANN })).to.deep.equal(POOL);
  });

  it("raises the index of either side by a fee over the supply, and keeps the fees of the last swap", () => {
    const swap = {
      kind: "swap",
      amount0In: 20_000n,
      amount1In: 40_000n,
      amount0Out: 0n,
      amount1Out: 9n,
    } as const;
    const first = grow(
      POOL,
      { kind: "fees", amount0: 60n, amount1: 0n },
      { kind: "fees", amount0: 0n, amount1: 120n },
      { kind: "sync", reserve0: 1_500n, reserve1: 2_500n },
    );
    const fees = { index0: 15n, index1: 30n, swapFee0: 60n, swapFee1: 120n };
    const swapped = { ...POOL, ...fees, reserve0: 1_500n, reserve1: 2_500n };
    expect(first).to.deep.equal({ ...swapped, isSwapping: true });
    expect(grow(first, swap)).to.deep.equal(swapped);
    const second = grow(
      swapped,
      { kind: "fees", amount0: 0n, amount1: 4n },
      { ...swap, amount0In: 0n, amount1In: 1_400n },
    );
    expect(second).to.deep.equal({ ...swapped, index1: 31n, swapFee0: 0n, swapFee1: 4n });
    // A swap without a fee has none, whatever the one before had.
    const free = grow(swapped, { ...swap, amount0In: 1n, amount1In: 0n });
    expect(free).to.include({ swapFee0: 0n, swapFee1: 0n, isSwapping: false });
  });

  it("reads the fee in force from a swap", () => {
    const swap = { kind: "swap", amount0In: 20_000n, amount1In: 0n, amount0Out: 0n, amount1Out: 9n } as const;
    const state = grow(POOL, { kind: "fees", amount0: 10n, amount1: 0n }, swap);
    expect(state).to.include({ fee: 5, defaultFee: 5, hasCustomFee: false });
    const custom = grow(state, { kind: "set_custom_fee", fee: 420 });
    expect(custom).to.include({ fee: 0, defaultFee: 5, hasCustomFee: true });
    expect(grow(custom, { kind: "set_custom_fee", fee: 0 })).to.deep.equal(state);
  });

  it("follows a gauge from its creation on", () => {
    const gauged = { ...POOL, gauge: GAUGE, isGaugeAlive: true };
    expect(grow(POOL, { kind: "gauge_created", gauge: GAUGE })).to.deep.equal(gauged);
    const staked = grow(
      gauged,
      { kind: "deposit", owner: ANN, amount: 70n },
      { kind: "withdraw", owner: ANN, amount: 30n },
    );
    expect(staked).to.deep.equal({ ...gauged, staked: 40n });
    expect(grow(gauged, { kind: "notify_reward", amount: 1_209_600n })).to.deep.equal({
      ...gauged,
      rewardRate: 2n,
      periodFinish: NOW + 604_800,
    });
    const killed = grow(gauged, { kind: "gauge_killed", gauge: GAUGE });
    expect(killed).to.deep.equal({ ...gauged, isGaugeAlive: false });
    expect(grow(killed, { kind: "gauge_revived", gauge: GAUGE })).to.deep.equal(gauged);
  });

  it("has the sums of what was minted, staked and earned over any life of a pool", () => {
    const amount = fc.bigInt({ min: 1n, max: 10n ** 24n });
    const step = fc.tuple(fc.constantFrom(...Object.keys(STEPS)), amount);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let state: V2State = EMPTY_V2_STATE;
        const sums: Sums = { totalSupply: 0n, staked: 0n, index0: 0n, index1: 0n };
        for (const [name, size] of steps) state = grow(state, (STEPS[name] as Step)(sums, size));
        expect(state).to.include(sums);
      }),
    );
  });

  it("stays at zero where the state before the index was unavailable", () => {
    const unknown = grow(
      EMPTY_V2_STATE,
      { kind: "transfer", from: ANN, to: ZERO_ADDRESS, amount: 5n },
      { kind: "withdraw", owner: ANN, amount: 5n },
      { kind: "fees", amount0: 5n, amount1: 5n },
    );
    expect(unknown).to.include({ totalSupply: 0n, staked: 0n, index0: 0n, index1: 0n });
  });
});

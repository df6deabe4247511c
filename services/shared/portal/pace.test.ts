import { expect } from "chai";
import { describe, it } from "mocha";
import { type Clock, systemClock } from "../rpc-client/endpoint/clock.ts";
import { createPace, createPaceMemory, createPaces } from "./pace.ts";

const { signal } = new AbortController();

/** A clock that stands still but for pauses, which are over at once, one after the other. */
function createClock(startMs: number): Clock & { ms: number } {
  const clock = {
    ...systemClock,
    ms: startMs,
    now: () => clock.ms,
    wallNow: () => clock.ms,
    async sleep(ms: number) {
      const until = clock.ms + ms;
      await new Promise((resolve) => setImmediate(resolve));
      clock.ms = Math.max(clock.ms, until);
    },
  };
  return clock;
}

describe("createPace", () => {
  it("has a gap between the requests of all who share its memory", async () => {
    const clock = createClock(1_000_000);
    const memory = createPaceMemory();
    const times: number[] = [];
    const ask = async (pace: ReturnType<typeof createPace>) => {
      await pace.next(signal);
      times.push(clock.ms);
    };
    const [one, other] = [createPace(clock, 500, memory), createPace(clock, 500, memory)];
    await Promise.all([ask(one), ask(other), ask(other), ask(one)]);
    expect(times).to.deep.equal([1_000_000, 1_000_500, 1_001_000, 1_001_500]);
    // One of its own has no gap to theirs.
    await ask(createPace(clock, 500));
    expect(times.at(-1)).to.equal(1_001_500);
  });

  it("holds all of them off, also those that wait already, and never for less than was said before", async () => {
    const clock = createClock(5_000);
    const memory = createPaceMemory();
    const [one, other] = [createPace(clock, 100, memory), createPace(clock, 100, memory)];
    await one.next(signal);
    const waiting = other.next(signal);
    one.holdOff(30_000);
    one.holdOff(1_000);
    await waiting;
    expect(clock.ms).to.equal(35_000);
  });

  it("does not wait for a time from before the clock was set back", async () => {
    const clock = createClock(2_000_000_000);
    const pace = createPace(clock, 500);
    await pace.next(signal);
    clock.ms -= 3_600_000;
    await pace.next(signal);
    expect(clock.ms).to.equal(2_000_000_000 - 3_600_000);
    await pace.next(signal);
    expect(clock.ms).to.equal(2_000_000_000 - 3_600_000 + 500);
    clock.ms -= 3_600_000;
    pace.holdOff(7_000);
    const setBack = clock.ms;
    await pace.next(signal);
    expect(clock.ms).to.equal(setBack + 7_000);
  });

  it("ends with the signal, and takes no turn then", async () => {
    const clock = createClock(0);
    const memory = createPaceMemory();
    const pace = createPace(clock, 500, memory);
    await pace.next(signal);
    await pace.next(AbortSignal.abort());
    expect([clock.ms, memory[0]]).to.deep.equal([0, 500n]);
  });
});

describe("createPaces", () => {
  it("has one for each host, whatever the dataset", () => {
    const paceOf = createPaces(4);
    const base = paceOf("https://portal.example/datasets/base-mainnet");
    expect(base.gapMs).to.equal(250);
    expect(paceOf("https://portal.example/datasets/ethereum-mainnet").pace).to.equal(base.pace);
    expect(paceOf("http://127.0.0.1:8098/datasets/base-mainnet").pace).not.to.equal(base.pace);
    expect(paceOf("file:///blocks").pace.buffer).to.be.instanceOf(SharedArrayBuffer);
  });

  it("asks no more often than it may, however odd the number", () =>
    expect(createPaces(3)("http://a").gapMs).to.equal(334));
});

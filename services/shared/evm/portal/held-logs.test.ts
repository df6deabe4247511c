import { expect } from "chai";
import { describe, it } from "mocha";
import { HeldLogs } from "./held-logs.ts";

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Whether each of some calls has resolved, after all that can follow at once. */
async function settledOf(calls: readonly Promise<unknown>[]): Promise<boolean[]> {
  const settled = calls.map(() => false);
  for (const [i, call] of calls.entries())
    call.then(
      () => (settled[i] = true),
      () => (settled[i] = true),
    );
  await nextTurn();
  return settled;
}

describe("HeldLogs", () => {
  const { signal } = new AbortController();

  it("lets all pieces go on up to the limit, and past it the one alone that is used next", async () => {
    const held = new HeldLogs(30);
    for (const piece of [100, 200, 300]) held.begin(piece);
    const within = [held.add(100, 10, signal), held.add(200, 10, signal), held.add(300, 10, signal)];
    expect(await settledOf(within)).to.deep.equal([true, true, true]);
    const beyond = [held.add(300, 1, signal), held.add(200, 5, signal), held.add(100, 50, signal)];
    expect(await settledOf(beyond)).to.deep.equal([false, false, true]);
    const third = held.add(300, 1, signal);
    expect(await settledOf([third]), "the first is whole, and not in use").to.deep.equal([false]);
    held.use(100);
    expect(await settledOf(beyond), "the second is used next").to.deep.equal([false, true, true]);
    const more = held.add(200, 1, signal);
    expect(await settledOf([more])).to.deep.equal([true]);
    held.drop(100);
    expect(await settledOf([...beyond, third]), "28 are held").to.deep.equal([true, true, true, true]);
  });

  it("lets others go on where a piece is begun again", async () => {
    const held = new HeldLogs(10);
    held.begin(1);
    held.begin(2);
    await held.add(1, 8, signal);
    const waiting = held.add(2, 8, signal);
    expect(await settledOf([waiting])).to.deep.equal([false]);
    // Too large, it is read in smaller ones.
    held.begin(1);
    expect(await settledOf([waiting])).to.deep.equal([true]);
  });

  it("ends with its signal", async () => {
    const held = new HeldLogs(10);
    held.begin(1);
    held.begin(2);
    const ended = new AbortController();
    const waiting = held.add(2, 11, ended.signal).catch((error: unknown) => error);
    expect(await settledOf([waiting])).to.deep.equal([false]);
    ended.abort(new Error("the reader has gone"));
    expect(String(await waiting)).to.contain("the reader has gone");
  });
});

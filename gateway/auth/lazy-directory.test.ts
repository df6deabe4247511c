import { expect } from "chai";
import { describe, it } from "mocha";
import { createFakeDirectory } from "../testkit/keys.ts";
import type { KeyStore } from "./keys/key-store.ts";
import { createLazyKeyDirectory } from "./lazy-directory.ts";
import type { UsageStore } from "./usage/usage-store.ts";

function setUp() {
  const keys = createFakeDirectory() as unknown as KeyStore;
  const state = { isAway: true, opened: 0, closed: 0 };
  const directory = createLazyKeyDirectory(async () => {
    if (state.isAway) throw new Error("the store is away");
    state.opened += 1;
    const close = async () => {
      state.closed += 1;
    };
    return { keys, usage: {} as UsageStore, close };
  });
  const tries = async () => directory.open().then(() => "opened", String);
  return { directory, state, tries };
}

describe("lazy key directory", () => {
  it("opens a store that was unreachable at the next call, and only once", async () => {
    const { directory, state, tries } = setUp();
    expect(await tries()).to.contain("away");
    state.isAway = false;
    await Promise.all([directory.findByHash("a"), directory.findByHash("b"), tries()]);
    expect(state.opened).to.equal(1);
    await directory.close();
    expect(state.closed).to.equal(1);
  });

  it("closes without an error what was never opened", async () => {
    const { directory, state, tries } = setUp();
    await directory.close();
    await tries();
    await directory.close();
    expect(state.closed).to.equal(0);
  });
});

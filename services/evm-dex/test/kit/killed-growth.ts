import { expect } from "chai";
import type { TestChain } from "../../../../deploy/devnet/testkit.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { startTestIngest, type TestIngest } from "./harness.ts";

/**
 * Grows an index in lives that are killed before a write, each a write longer than the one before, so that every write is
 * once the last. Returns how many.
 * @param grow one chunk; false where nothing is missing
 */
export async function growKilled(
  chain: TestChain,
  {
    startBlock,
    store,
    grow,
  }: { startBlock: number; store: Store; grow: (ingest: TestIngest) => Promise<boolean> },
): Promise<number> {
  let [kills, writes] = [0, 0];
  const mortal = mortalStore(store, () => {
    writes += 1;
    if (writes <= kills) return;
    kills += 1;
    writes = 0;
    throw new Error("killed");
  });
  for (;;) {
    writes = 0;
    let ingest: TestIngest | undefined;
    try {
      ingest = await startTestIngest(chain, { startBlock, store: mortal });
      await ingest.catchUp();
      if (!(await grow(ingest))) return kills;
    } catch (error) {
      expect(String(error)).to.contain("killed");
    } finally {
      await ingest?.close();
    }
  }
}

/** A store that may fail before a write, as if the process had been killed there. */
function mortalStore(store: Store, beforeWrite: () => void): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === "write")
        return async (steps: Parameters<Store["write"]>[0]) => {
          beforeWrite();
          await target.write(steps);
        };
      const member = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

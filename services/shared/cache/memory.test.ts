import { expect } from "chai";
import { describe, it } from "mocha";
import { createMemoryCache } from "./memory.ts";
import { openCache } from "./open.ts";
import { describeCache } from "./suite.ts";

describeCache("memory", async () => {
  let nowMs = 0;
  return {
    cache: createMemoryCache({ now: () => nowMs }),
    advance: async (ms) => {
      nowMs += ms;
    },
  };
});

describe("memory cache", () => {
  const LONG = { ttlMs: 60_000 };
  const present = async (cache: ReturnType<typeof createMemoryCache>, keys: string[]): Promise<string[]> => {
    const values = await cache.getMany(keys);
    return keys.filter((_, i) => values[i] !== undefined);
  };

  it("evicts the least recently used entry when there are too many", async () => {
    const cache = createMemoryCache({ maxEntries: 3 });
    for (const key of ["a", "b", "c"]) await cache.set(key, key, LONG);
    await cache.get("a");
    await cache.set("d", "d", LONG);
    expect(await present(cache, ["a", "b", "c", "d"])).to.deep.equal(["a", "c", "d"]);
  });

  it("evicts as many entries as a large one needs, and counts deletions and replacements", async () => {
    const cache = createMemoryCache({ maxBytes: 10_000 });
    const value = "x".repeat(1_000);
    for (const key of ["a", "b", "c", "d"]) await cache.set(key, value, LONG);
    expect(await present(cache, ["a", "b", "c", "d"])).to.deep.equal(["a", "b", "c", "d"]);
    for (let i = 0; i < 50; i++) await cache.set("d", value, LONG);
    await cache.delete(["a"]);
    await cache.set("e", value, LONG);
    expect(await present(cache, ["b", "c", "d", "e"])).to.deep.equal(["b", "c", "d", "e"]);
    await cache.set("f", "x".repeat(3_000), LONG);
    expect(await present(cache, ["b", "c", "d", "e", "f"])).to.deep.equal(["e", "f"]);
  });

  it("does not store an entry above the whole bound, and removes the previous value of its key", async () => {
    const cache = createMemoryCache({ maxBytes: 1_000 });
    await cache.set("a", "small", LONG);
    await cache.set("b", "small", LONG);
    await cache.set("a", "x".repeat(1_000), LONG);
    expect(await present(cache, ["a", "b"])).to.deep.equal(["b"]);
  });

  it("is opened by openCache without Redis, with its bound", async () => {
    const cache = await openCache({ maxBytes: 1_000 });
    expect(cache.engine).to.equal("memory");
    await cache.set("a", "x".repeat(1_000), LONG);
    await cache.set("b", "small", LONG);
    expect(await present(cache, ["a", "b"])).to.deep.equal(["b"]);
    await cache.close();
  });
});

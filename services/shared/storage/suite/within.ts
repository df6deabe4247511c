import { expect } from "chai";
import { describe, it } from "mocha";
import { put, type Store } from "../port.ts";
import { type SuiteOptions, useStore } from "./fixture.ts";
import { sample, samples } from "./sample.ts";

/** Every kind of read of one row. */
const readsOf = (store: Store): Record<string, () => Promise<unknown>> => {
  const { chainId, address } = sample(1);
  const key = { chainId, address };
  return {
    get: () => store.get(samples, key),
    getMany: () => store.getMany(samples, [key]),
    getLast: () => store.getLast(samples, [key]),
    find: () => store.find(samples, { filter: key }),
    count: () => store.count(samples, key),
    sum: () => store.sum(samples, key, ["blockTime"]),
  };
};

export function describeWithin(options: SuiteOptions): void {
  describe("reads within a signal", () => {
    const fixture = useStore(options, [samples]);
    const endOf = (work: Promise<unknown>): Promise<unknown> =>
      work.then(
        () => "it was read",
        (error: unknown) => error,
      );

    it("are those of the store until it aborts, and then fail with its reason", async () => {
      const { store } = fixture;
      await store.write([put(samples, [sample(1)])]);
      const request = new AbortController();
      const wanted = store.within(request.signal);
      const plain = readsOf(store);
      for (const [name, read] of Object.entries(readsOf(wanted)))
        expect(await read(), name).to.deep.equal(await plain[name]?.());
      const gone = new Error("the client is gone");
      request.abort(gone);
      for (const [name, read] of Object.entries(readsOf(wanted)))
        expect(await endOf(read()), name).to.equal(gone);
      expect(await endOf(wanted.snapshot(samples, sample(1), async () => {}))).to.equal(gone);
      expect(await store.count(samples, {}), "the store itself is read").to.equal(1);
      await wanted.write([put(samples, [sample(2)])]);
      expect(await store.count(samples, {}), "and written").to.equal(2);
    });

    it("may be many at once", async () => {
      const warnings: Error[] = [];
      const note = (warning: Error) => void warnings.push(warning);
      process.on("warning", note);
      const wanted = fixture.store.within(new AbortController().signal);
      await Promise.all(Array.from({ length: 30 }, () => wanted.count(samples, {})));
      await new Promise(setImmediate);
      process.off("warning", note);
      expect(warnings.map(({ name }) => name)).to.not.include("MaxListenersExceededWarning");
    });

    it("end with the first of two signals", async () => {
      const [outer, inner] = [new AbortController(), new AbortController()];
      const wanted = fixture.store.within(outer.signal).within(inner.signal);
      expect(await wanted.count(samples, {})).to.equal(0);
      outer.abort(new Error("outer"));
      expect(String(await endOf(wanted.count(samples, {})))).to.equal("Error: outer");
    });

    it("end in a view too", async () => {
      const request = new AbortController();
      const gone = new Error("the client is gone");
      const read = fixture.store.within(request.signal).snapshot(samples, sample(1), async (view) => {
        await view.count(samples, {});
        request.abort(gone);
        return view.count(samples, {});
      });
      // Undefined: this engine has no views, or none of a row that was never written.
      expect(await endOf(read)).to.be.oneOf([gone, "it was read"]);
      if (!request.signal.aborted) expect(await read).to.equal(undefined);
    });
  });
}

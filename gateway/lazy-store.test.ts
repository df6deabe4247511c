import { expect } from "chai";
import { describe, it } from "mocha";
import { openLazily } from "./lazy-store.ts";

const failureOf = (promise: Promise<unknown>) => promise.then(() => "none", String);

describe("lazy store", () => {
  /** A store that opens when the test says so. */
  const createScene = () => {
    const opened: { isOpen: boolean }[] = [];
    let outcome: { resolve: () => void; reject: (error: Error) => void } | undefined;
    const store = openLazily(
      () =>
        new Promise<{ close(): Promise<void> }>((resolve, reject) => {
          const state = { isOpen: false };
          const close = async () => {
            state.isOpen = false;
          };
          outcome = {
            resolve() {
              state.isOpen = true;
              opened.push(state);
              resolve({ close });
            },
            reject,
          };
        }),
    );
    return {
      store,
      opened,
      succeed: () => outcome?.resolve(),
      fail: () => outcome?.reject(new Error("away")),
    };
  };

  it("is opened once for all who ask, and again after it could not be", async () => {
    const { store, opened, succeed, fail } = createScene();
    const first = store.get();
    fail();
    expect(await failureOf(first)).to.equal("Error: away");
    const both = [store.get(), store.get()];
    succeed();
    const [one, other] = await Promise.all(both);
    expect(one).to.equal(other);
    expect(opened).to.have.length(1);
  });

  it("is closed also where it was being opened", async () => {
    const { store, opened, succeed } = createScene();
    const asked = store.get();
    const closed = store.close();
    succeed();
    await Promise.all([asked, closed]);
    expect(opened).to.deep.equal([{ isOpen: false }]);
  });

  it("is not opened by a question that comes after its end", async () => {
    const { store, opened, succeed } = createScene();
    await store.close();
    const late = failureOf(store.get());
    succeed();
    expect(await late).to.equal("Error: The store is closed");
    expect(opened).to.be.empty;
  });
});

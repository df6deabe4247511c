import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { remove, type Store } from "../../../shared/storage/port.ts";
import { storeWith } from "../../../shared/storage/within.ts";
import { walletRequests } from "../../store/v2-collections.ts";
import { address, CHAIN_ID, openTestStore } from "../../test/kit/rows.ts";
import { MAX_WAITING, RequestedWallets } from "./requested-wallets.ts";

const at = (n: number) => ({ chainId: CHAIN_ID, wallet: address(n) });

describe("RequestedWallets", () => {
  let store: Store;
  const failures: unknown[] = [];
  beforeEach(async () => {
    store = await openTestStore();
    failures.length = 0;
  });
  afterEach(() => store.close());

  const open = (options: { store?: Store; againMs?: number } = {}) =>
    new RequestedWallets(options.store ?? store, {
      ...(options.againMs !== undefined && { againMs: options.againMs }),
      onFailure: (error) => failures.push(error),
    });
  const queued = async () => (await store.find(walletRequests, {})).map(({ wallet }) => wallet);

  it("queues each wallet once, by itself soon after the request", async () => {
    const wallets = open();
    for (const n of [1, 2, 1]) wallets.request(at(n));
    const deadlineMs = performance.now() + 5_000;
    while ((await queued()).length < 2 && performance.now() < deadlineMs)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await queued()).to.deep.equal([address(1), address(2)]);
    const [before] = await store.find(walletRequests, {});
    const other = open();
    other.request(at(1));
    await other.flush();
    expect((await store.find(walletRequests, {}))[0], "keeps its place").to.deep.equal(before);
  });

  it("writes nothing for a wallet again at once, though it was read meanwhile", async () => {
    const wallets = open();
    wallets.request(at(1));
    await wallets.flush();
    await store.write([remove(walletRequests, [at(1)])]);
    wallets.request(at(1));
    await wallets.flush();
    expect(await queued()).to.deep.equal([]);
    const patient = open({ againMs: 0 });
    patient.request(at(1));
    await patient.flush();
    expect(await queued()).to.deep.equal([address(1)]);
  });

  it("keeps the queue short whoever asks for how many wallets, and takes more when there is room", async () => {
    const wallets = open();
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 80; n++) wallets.request(at(1_000 * (round + 1) + n));
      await wallets.flush();
    }
    expect(await queued()).to.have.length(MAX_WAITING);
    for (let n = 0; n < 3 * MAX_WAITING; n++) open().request(at(50_000 + n));
    const late = address(3_079);
    expect(await queued()).not.to.include(late);
    await store.write([remove(walletRequests, [at(1_000)])]);
    wallets.request({ chainId: CHAIN_ID, wallet: late });
    await wallets.flush();
    expect(await queued())
      .to.include(late)
      .and.have.length(MAX_WAITING);
  });

  it("reports a store that does not take it, and fails no request", async () => {
    const write = async () => {
      throw new Error("The store is full.");
    };
    const wallets = open({ store: storeWith(store, { write }) });
    wallets.request(at(1));
    await wallets.flush();
    expect(failures.map((error) => (error as Error).message)).to.deep.equal(["The store is full."]);
    await wallets.close();
  });
});

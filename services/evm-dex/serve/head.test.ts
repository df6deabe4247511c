import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { ServiceError } from "../../shared/errors.ts";
import { hasData, versionOf } from "../../shared/index/evm/checkpoint.ts";
import { put, type Store } from "../../shared/storage/port.ts";
import { checkpoints } from "../store/collections.ts";
import { CHAIN_ID, checkpointRow, hash, openTestStore } from "../test/kit/rows.ts";
import { readAtHead } from "./head.ts";

const AT = { chainId: CHAIN_ID, signal: undefined };

describe("readAtHead", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  const moveTo = (number: number, branch = 0) =>
    store.write([
      put(checkpoints, [checkpointRow({ blockNumber: number, blockHash: hash(number, branch) })]),
    ]);

  it("returns the checkpoint that everything was read at", async () => {
    await moveTo(200);
    const read = async ({ blockNumber }: { blockNumber: number }) => `as of ${blockNumber}`;
    expect(await readAtHead(store, { ...AT, read })).to.deep.equal({
      value: "as of 200",
      checkpoint: checkpointRow({ blockNumber: 200, blockHash: hash(200) }),
    });
  });

  it("reads again while the ingest writes in between, and returns the last state", async () => {
    await moveTo(200);
    const seen: number[] = [];
    const found = await readAtHead(store, {
      ...AT,
      read: async ({ blockNumber }) => {
        seen.push(blockNumber);
        if (seen.length < 4) await moveTo(200 + seen.length);
        return blockNumber;
      },
    });
    expect(seen).to.deep.equal([200, 201, 202, 203]);
    expect(found?.value).to.equal(203);
    expect(found?.checkpoint.blockNumber).to.equal(203);
  });

  it("reads again where a block of the same number was replaced", async () => {
    await moveTo(200);
    let reads = 0;
    const found = await readAtHead(store, {
      ...AT,
      read: async () => {
        if (++reads === 1) await moveTo(200, 1);
      },
    });
    expect(reads).to.equal(2);
    expect(found?.checkpoint.blockHash).to.equal(hash(200, 1));
  });

  it("is unavailable while the store keeps changing", async () => {
    await moveTo(200);
    let reads = 0;
    const error = await readAtHead(store, {
      ...AT,
      read: async () => moveTo(200 + ++reads),
    }).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(ServiceError);
    expect(error).to.include({ code: "unavailable", retryAfterSeconds: 1 });
    expect(reads).to.equal(4);
  });

  it("is undefined without reading while nothing is indexed", async () => {
    const read = async () => expect.fail("nothing is there to be read");
    expect(await readAtHead(store, { ...AT, read })).to.equal(undefined);
    // As the ingest leaves it at its start: just before the first block.
    await store.write([put(checkpoints, [checkpointRow({ blockNumber: 99, fromBlock: 100 })])]);
    expect(await readAtHead(store, { ...AT, read })).to.equal(undefined);
  });

  it("ends with the request: what is over is not read again, and asks the store for nothing", async () => {
    await moveTo(200);
    const request = new AbortController();
    const gone = new Error("the client is gone");
    let reads = 0;
    const found = readAtHead(store, {
      chainId: CHAIN_ID,
      signal: request.signal,
      async read(_, view) {
        reads++;
        await moveTo(200 + reads);
        request.abort(gone);
        await view.get(checkpoints, { chainId: CHAIN_ID });
      },
    });
    expect(await found.catch((error: unknown) => error)).to.equal(gone);
    expect(reads).to.equal(1);
  });

  it("passes on an error of the read", async () => {
    await moveTo(200);
    const failure = new ServiceError("not_found", "gone");
    const read = async () => Promise.reject(failure);
    expect(await readAtHead(store, { ...AT, read }).catch((caught: unknown) => caught)).to.equal(failure);
  });
});

describe("a checkpoint", () => {
  it("has data from its first block on", () => {
    expect(hasData(undefined)).to.equal(false);
    expect(hasData(checkpointRow({ fromBlock: 100, blockNumber: 99 }))).to.equal(false);
    expect(hasData(checkpointRow({ fromBlock: 100, blockNumber: 100 }))).to.equal(true);
    expect(hasData(checkpointRow({ fromBlock: 0, blockNumber: -1 }))).to.equal(false);
  });

  it("is the version of a response", () => {
    const checkpoint = checkpointRow({ blockNumber: 7, blockHash: hash(7), blockTime: 1_234, fromBlock: 3 });
    expect(versionOf(checkpoint)).to.deep.equal({ block: 7, time: 1_234, blockHash: hash(7), fromBlock: 3 });
  });
});

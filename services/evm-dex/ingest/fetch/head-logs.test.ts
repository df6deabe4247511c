import { expect } from "chai";
import { describe, it } from "mocha";
import { type BlockHeader, type Hex, RangeTooLarge } from "../../../shared/evm/port.ts";
import { createLogChain } from "../../test/kit/log-chain.ts";
import { address } from "../../test/kit/rows.ts";
import { minted, transfer } from "../../test/v2/aerodrome-logs.ts";
import { readHeadLogs } from "./head-logs.ts";

const [POOL, OTHER, TOKEN, ANN] = [address(0x900), address(0x901), address(0x10), address(0xa)] as const;
const TRANSFER = transfer(POOL, ANN).topics[0] as Hex;
const SYNC = minted(POOL, ANN)[1]?.topics[0] as Hex;

async function read(pools: readonly Hex[], { fullBlooms = false, refuses = false } = {}) {
  const source = createLogChain([[[transfer(TOKEN, ANN)], minted(POOL, ANN)]], { fullBlooms });
  const [block] = (await source.headers([1])) as [BlockHeader];
  const logs: typeof source.logs = async (range, filter) => {
    if (refuses && filter.topics.includes(TRANSFER)) throw new RangeTooLarge("too many logs");
    return source.logs(range, filter);
  };
  const found = await readHeadLogs(
    { source: { ...source, logs }, topics: [TRANSFER] },
    { block, filter: { topics: [SYNC] }, pools },
  );
  expect(found.logs.map(({ topics }) => topics[0])).to.deep.equal([SYNC]);
  for (const { range } of source.requested) expect(range.blockHash).to.equal(block.hash);
  return { transfers: found.transfers, requests: source.requested.length };
}

describe("readHeadLogs", () => {
  it("reads all Transfers with the rest, in one request, where the bloom may hold one of the pools", async () => {
    for (const options of [{}, { fullBlooms: true }]) {
      const { transfers, requests } = await read([POOL], options);
      expect((transfers as readonly { address: Hex }[]).map((log) => log.address)).to.deep.equal([
        TOKEN,
        POOL,
      ]);
      expect(requests).to.equal(1);
    }
  });

  it("reads none where the bloom holds none of the pools", async () => {
    expect(await read([OTHER])).to.deep.equal({ transfers: "none", requests: 1 });
    expect(await read([])).to.deep.equal({ transfers: "none", requests: 1 });
  });

  it("leaves Transfers to requests by address where an endpoint refuses so many logs", async () => {
    expect(await read([POOL], { refuses: true })).to.deep.equal({ transfers: undefined, requests: 1 });
  });
});

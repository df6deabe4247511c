import { expect } from "chai";
import { describe, it } from "mocha";
import { SERVED, unreported, withoutSource } from "../../shared/ingest-status/testkit/status-row.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { checkpointRow } from "../test/stored.ts";
import { createStatus } from "./status.ts";

const NOW_S = 1_700_000_000;
const CHAINS = [
  { chainId: 1, name: "Ethereum" },
  { chainId: 8453, name: "Base" },
];
const PEERS = [{ name: "evm-dex", state: "unreachable" }] as const;
const NOTHING = {
  indexedBlock: null,
  indexedBlockHash: null,
  indexedTime: null,
  fromBlock: null,
  lagBlocks: null,
};

describe("createStatus of lending", () => {
  const statusWith = (rows: readonly Partial<CheckpointRow>[], { isStarting = false } = {}) => {
    const known = new Map(rows.map((row) => [row.chainId ?? 8453, checkpointRow(row)]));
    return createStatus({
      ...{ chains: CHAINS, heads: { last: (chainId) => known.get(chainId) }, tables: { isStarting } },
      finalBlocks: { last: (chainId) => (chainId === 8453 ? 168 : undefined) },
      ...{ peers: () => PEERS, readings: unreported, now: () => NOW_S * 1_000 },
    })();
  };
  const modeOf = async (...options: Parameters<typeof statusWith>) => (await statusWith(...options)).mode;

  it("is empty while no chain has a block, whatever its peers do", async () => {
    expect(await statusWith([{ blockNumber: 99, fromBlock: 100, chainHead: 5_000 }])).to.deep.equal({
      mode: "empty",
      chains: [
        { ...CHAINS[0], ...NOTHING, chainHead: null, ...withoutSource(1) },
        { ...CHAINS[1], ...NOTHING, chainHead: 5_000, ...withoutSource(8453) },
      ],
      peers: PEERS,
    });
  });

  it("reports block, time, coverage and lag of an indexed chain", async () => {
    const { mode, chains } = await statusWith([{ blockNumber: 200, blockTime: NOW_S - 10, chainHead: 207 }]);
    expect(mode).to.equal("serving");
    expect(chains[1]).to.deep.equal({
      ...{ ...CHAINS[1], indexedBlock: 200, indexedBlockHash: "0x200", indexedTime: NOW_S - 10 },
      ...{ fromBlock: 100, chainHead: 207, lagBlocks: 7, finalBlock: 168, ...SERVED },
    });
    const behind = await statusWith([{ blockNumber: 200, chainHead: 190 }]);
    expect(behind.chains[1], "the chain became shorter").to.include({ chainHead: 190, lagBlocks: 0 });
  });

  it("is stale once every indexed chain is five minutes behind the clock", async () => {
    expect(await modeOf([{ blockTime: NOW_S - 300 }])).to.equal("serving");
    expect(await modeOf([{ blockTime: NOW_S - 301 }])).to.equal("stale");
    const ethereum = (age: number) => ({ chainId: 1, blockTime: NOW_S - age });
    expect(await modeOf([{ blockTime: NOW_S - 301 }, ethereum(12)])).to.equal("serving");
    expect(await modeOf([{ blockTime: NOW_S - 301 }, ethereum(9_999)])).to.equal("stale");
  });

  it("is starting, and not ready, until what is stored was read once", async () => {
    expect(await modeOf([{ blockTime: NOW_S }], { isStarting: true })).to.equal("starting");
  });
});

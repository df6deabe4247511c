import { expect } from "chai";
import { describe, it } from "mocha";
import type { BlockWithLogs, Hex, RawLog } from "../../../shared/evm/port.ts";
import type { Factory } from "../../deployments.ts";
import { encodeLog, slipstreamAbi, slipstreamFactoryAbi } from "../../protocols/v3/testkit/encode-event.ts";
import { createFakeSource, headersUpTo } from "../../test/kit/fake-source.ts";
import { address } from "../../test/kit/rows.ts";
import { Fetcher } from "./fetcher.ts";

const POOL = address(0x900);
const factory: Factory = {
  address: address(0xfac),
  dexName: "Aerodrome Slipstream",
  family: "dexa",
  kind: "slipstream",
  fromBlock: 0,
};
const eventOf = (name: string) =>
  slipstreamAbi.find((event) => event.name === name) as (typeof slipstreamAbi)[number];
const initialize = encodeLog(eventOf("Initialize"), { sqrtPriceX96: 2n ** 96n, tick: 7 });
const created = encodeLog(slipstreamFactoryAbi[0], {
  token0: address(1),
  token1: address(2),
  tickSpacing: 100,
  pool: POOL,
});
const flash = encodeLog(eventOf("Flash"), {
  sender: address(3),
  recipient: address(3),
  amount0: 1n,
  amount1: 2n,
  paid0: 3n,
  paid1: 4n,
});

/** A chain of blocks 1.. with these logs, one transaction each. */
function chainOf(blocks: readonly (readonly { address: Hex; topics: Hex[]; data: Hex }[])[]) {
  const headers = headersUpTo(blocks.length);
  const whole = blocks.map((logs, i): BlockWithLogs => {
    const header = headers[i + 1] as (typeof headers)[number];
    return {
      ...header,
      senders: logs.map(() => address(0xa)),
      logs: logs.map(
        (log, logIndex): RawLog => ({
          ...log,
          blockNumber: header.number,
          blockHash: header.hash,
          transactionHash: header.hash,
          transactionIndex: logIndex,
          logIndex,
        }),
      ),
    };
  });
  return {
    ...createFakeSource({ headers }),
    blocksWithLogs: async (numbers: readonly number[]) => numbers.map((n) => whole[n - 1] as BlockWithLogs),
    verifyEmpty: async (_: unknown, { logs }: { logs: readonly RawLog[] }) => [...logs],
  };
}

describe("Fetcher", () => {
  it("decodes a pool's events from before its creation event, as Slipstream emits them", async () => {
    const source = chainOf([
      [
        { address: POOL, ...initialize },
        { address: factory.address, ...created },
      ],
      [
        { address: POOL, ...flash },
        { address: address(0x901), ...flash },
      ],
    ]);
    const fetcher = new Fetcher(source, {
      factories: [factory],
      known: { protocolOf: () => undefined, poolOfGauge: () => undefined, isForeign: () => false },
    });
    const [start] = await source.headers([0]);
    const batch = await fetcher.readTail({ fromBlock: 1, toBlock: 2 }, start?.hash as Hex);
    expect(batch.created.map(({ pool, fee, tickSpacing }) => [pool, fee, tickSpacing])).to.deep.equal([
      [POOL, null, 100],
    ]);
    const events = batch.blocks.flatMap((block) =>
      block.events.map(({ poolAddress, event }) => [block.number, poolAddress, event.kind]),
    );
    expect(events).to.deep.equal([
      [1, POOL, "initialize"],
      [2, POOL, "flash"],
    ]);
    expect([...batch.unknownPools]).to.deep.equal([[address(0x901), 2]]);
  });
});

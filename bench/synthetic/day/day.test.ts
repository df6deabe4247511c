import { expect } from "chai";
import { describe, it } from "mocha";
import type { PortalBlock } from "../../../deploy/devnet/portal/block.ts";
import { logDecoderOf, protocolOf } from "../../../services/evm-dex/protocols/index.ts";
import type { PoolEvent } from "../../../services/evm-dex/protocols/protocol.ts";
import { computeLogsBloom } from "../../../services/shared/evm/bloom.ts";
import type { RawLog } from "../../../services/shared/evm/port.ts";
import { computeHeaderHash } from "../../../services/shared/evm/proof/header-hash.ts";
import { firstDayBlock, SyntheticDay } from "./day.ts";
import { dayChain } from "./folder.ts";
import { type DayPool, usdAt } from "./market.ts";
import { TOPICS } from "./topics.ts";

const SIZE = { pools: 400, blocks: 60, logsPerBlock: 150 };

const makeDay = () => new SyntheticDay({ chain: dayChain(), ...SIZE });
const logsOf = (block: PortalBlock) => block.logs as unknown as RawLog[];

describe("a synthetic day", () => {
  const day = makeDay();
  const blocks = [...day.blocks()];
  const first = firstDayBlock(SIZE.pools);
  const trades = blocks.slice(first);

  it("is the same every time, and a chain that proves itself", () => {
    expect([...makeDay().blocks()].at(-1)?.header.hash).to.equal(blocks.at(-1)?.header.hash);
    for (const [i, { header, logs }] of blocks.entries()) {
      expect(header.number).to.equal(i);
      expect(computeHeaderHash(header)).to.equal(header.hash);
      expect(header.logsBloom).to.equal(computeLogsBloom(logs as unknown as RawLog[]));
      if (i > 0) expect(header.parentHash).to.equal(blocks[i - 1]?.header.hash);
    }
    expect(blocks).to.have.length(first + SIZE.blocks);
    expect(trades[1]?.header.timestamp).to.equal((trades[0]?.header.timestamp ?? 0) + 2);
  });

  it("has logs in order, each of a transaction that is there", () => {
    for (const { logs, transactions } of blocks) {
      expect(logs.map(({ logIndex }) => logIndex)).to.deep.equal(logs.map((_, i) => i));
      expect(transactions.map((each) => each.transactionIndex)).to.deep.equal(transactions.map((_, i) => i));
      for (const log of logs)
        expect(log.transactionHash).to.equal(transactions[log.transactionIndex as number]?.hash);
    }
  });

  it("has as many logs as asked for, as uneven as Zipf's law", () => {
    const counts = new Map<string, number>();
    for (const log of trades.flatMap(logsOf)) counts.set(log.address, (counts.get(log.address) ?? 0) + 1);
    const sum = [...counts.values()].reduce((all, count) => all + count, 0);
    expect(sum / SIZE.blocks).to.be.within(135, 165);
    const harmonic = Array.from({ length: SIZE.pools }, (_, i) => 1 / (i + 1)).reduce(
      (all, part) => all + part,
    );
    const [busiest, hundredth] = [day.market.pools[0], day.market.pools[99]].map(
      (pool) => (counts.get(pool?.address ?? "") ?? 0) / sum,
    ) as [number, number];
    expect(busiest * harmonic).to.be.within(0.5, 2);
    expect(busiest / hundredth).to.be.greaterThan(10);
  });

  it("has events that the product reads, every one of them, in the states that they say", () => {
    const poolOf = new Map(day.market.pools.map((pool) => [pool.address, pool]));
    const states = new Map<string, unknown>();
    const found = new Map<string, number>();
    for (const { log, header } of blocks.flatMap((block) =>
      logsOf(block).map((log) => ({ ...block, log })),
    )) {
      const pool = poolOf.get(log.address);
      if (pool === undefined) continue;
      const { protocol, facts, event } = readLog(pool, log);
      const name = `${protocol.kind} ${event.kind}`;
      found.set(name, (found.get(name) ?? 0) + 1);
      const before = states.get(log.address) ?? protocol.initialState(facts);
      const state = protocol.apply(before, event, header.timestamp);
      states.set(log.address, state);
      if (event.kind !== "swap") continue;
      const fair = usdAt(pool.token0, header.number) / usdAt(pool.token1, header.number);
      const price = protocol.price(state, facts) as number;
      expect(price / fair, `${pool.address} at block ${header.number}`).to.be.within(0.85, 1.18);
      const { amount0, amount1 } = protocol.reserves(state);
      expect([amount0 > 0n, amount1 > 0n]).to.deep.equal([true, true]);
    }
    const v3 = ["uniswap-v3", "slipstream", "pancake-v3"].flatMap((kind) =>
      ["initialize", "mint", "burn", "collect", "swap"].map((event) => `${kind} ${event}`),
    );
    const v2 = ["transfer", "sync", "mint", "burn", "fees", "swap"].map((event) => `aerodrome-v2 ${event}`);
    expect([...found.keys()]).to.have.members([...v3, ...v2]);
  });

  it("creates every pool by the event of its factory", () => {
    const factories = new Map(dayChain().factories.map((factory) => [factory.address as string, factory]));
    const made = blocks.flatMap(logsOf).flatMap((log) => {
      const factory = factories.get(log.address);
      return factory === undefined ? [] : [protocolOf(factory.kind).created.decode(log).pool];
    });
    expect(made).to.deep.equal(day.market.pools.map(({ address }) => address));
  });
});

/** Throws where no decoder of the pool's protocol reads the log. */
function readLog(pool: DayPool, log: RawLog) {
  const protocol = protocolOf(pool.factory.kind);
  const { transfer } = protocol.lpTokens ?? {};
  const isTransfer = log.topics[0] === TOPICS.transfer && transfer !== undefined;
  const event: PoolEvent | undefined = isTransfer ? transfer.decode(log) : logDecoderOf(protocol).pool(log);
  if (event === undefined) throw new Error(`No decoder of ${protocol.kind} reads ${JSON.stringify(log)}`);
  const facts = {
    ...{ poolAddress: pool.address, dexAddress: pool.factory.address, fee: pool.fee, stable: false },
    ...{ token0Address: pool.token0.address, token0Decimals: pool.token0.decimals },
    ...{ token1Address: pool.token1.address, token1Decimals: pool.token1.decimals },
  };
  return { protocol, facts, event };
}

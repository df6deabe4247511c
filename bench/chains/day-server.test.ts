import type { ChildProcess } from "node:child_process";
import { rm } from "node:fs/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { decodeDecimals, decodeText, encodeCall } from "../../services/shared/evm/abi.ts";
import { decodeAggregate3, encodeAggregate3 } from "../../services/shared/evm/multicall/abi.ts";
import { MULTICALL3 } from "../../services/shared/evm/multicall/multicall.ts";
import type { EvmSource, Hex, LogRange, RawLog } from "../../services/shared/evm/port.ts";
import { withPortal } from "../../services/shared/evm/portal/with-portal.ts";
import { createEvmSource } from "../../services/shared/evm/source/source.ts";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { end } from "../http-load/gateway-process.ts";
import { startScript } from "../script.ts";
import { buildDay, CHAIN_ID, type DayFolder, dayChain } from "../synthetic/day/folder.ts";
import { makeMarket } from "../synthetic/day/market.ts";
import { TOPICS } from "../synthetic/day/topics.ts";

const SIZE = { pools: 150, blocks: 250, logsPerBlock: 20 };

describeThorough("the process of a synthetic day", () => {
  let day: DayFolder;
  let server: ChildProcess;
  let source: EvmSource;
  let rpcUrl: string;
  const reasons: unknown[] = [];
  const filter = { topics: Object.values(TOPICS) };

  async function tell(range: LogRange): Promise<RawLog[]> {
    const told: RawLog[] = [];
    const { signal } = new AbortController();
    for await (const { blocks } of source.history?.(range, filter, signal) ?? [])
      told.push(...blocks.flatMap((block) => block.logs));
    return told;
  }

  before(async () => {
    day = await buildDay(SIZE, () => {});
    await start();
  });
  async function start(): Promise<void> {
    const script = new URL("./day-server.ts", import.meta.url);
    const started = await startScript(script, { args: [day.folder, String(SIZE.pools)] });
    server = started.child;
    const { rpc, portal } = JSON.parse(started.firstLine) as { rpc: string; portal: string };
    rpcUrl = rpc;
    const node = createEvmSource({ chainId: CHAIN_ID, urls: [rpc] });
    source = withPortal(node, { url: portal, log: (_, fields) => reasons.push(fields) });
  }
  after(async () => {
    await source?.close();
    if (server !== undefined) await end(server);
    if (day !== undefined) await rm(day.folder, { recursive: true, force: true });
  });

  it("tells the same by its portal and by its node, and as much as was made", async () => {
    const range = { fromBlock: 0, toBlock: day.expected.headNumber };
    const told = await tell(range);
    expect(reasons).to.deep.equal([]);
    expect(told).to.have.length(day.expected.logs);
    expect((await source.logs(range, filter)).map(identityOf)).to.deep.equal(told.map(identityOf));
    const [middle] = await source.headers([40]);
    const ofBlock = { fromBlock: 40, toBlock: 40, blockHash: middle?.hash as Hex };
    expect((await source.logs(ofBlock, filter)).map(identityOf)).to.deep.equal(
      told.filter(({ blockNumber }) => blockNumber === 40).map(identityOf),
    );
    const { address } = told[200] as RawLog;
    const swap = told.find((log) => log.address === address && log.topics[0] !== told[200]?.topics[0]);
    const narrow = { addresses: [address], topics: [swap?.topics[0] as Hex] };
    const narrowed = told.filter((log) => log.address === address && log.topics[0] === swap?.topics[0]);
    expect(narrowed.length).to.be.within(1, told.length / 2);
    expect((await source.logs(range, narrow)).map(identityOf)).to.deep.equal(narrowed.map(identityOf));
    const { number, hash } = await source.head();
    expect({ number, hash }).to.deep.equal({ number: day.expected.headNumber, hash: day.expected.headHash });
  });

  it("tells the same from its recording, in the next process as well", async () => {
    const range = { fromBlock: 0, toBlock: day.expected.headNumber };
    const made = await tell(range);
    await source.close();
    await end(server);
    await start();
    expect((await tell(range)).map(identityOf)).to.deep.equal(made.map(identityOf));
    expect(reasons).to.deep.equal([]);
    const { portal } = (await (await fetch(rpcUrl)).json()) as { portal: Record<string, number> };
    expect(portal).to.include({ made: 0 });
    expect(portal.recorded).to.be.above(0);
    // The rest are the metadata and the head.
    expect(portal.requests).to.be.above(portal.recorded as number);
    expect(portal.bytes).to.be.above(0);
  });

  it("answers what the ingest asks of tokens, pools and factories, one by one and together", async () => {
    const market = makeMarket(dayChain(), { pools: SIZE.pools });
    const block = day.expected.headNumber;
    const call = (to: string, data: Hex) => ({ to: to as Hex, data, block });
    const token = market.tokens.at(-1) as (typeof market.tokens)[number];
    const pool = market.pools[7] as (typeof market.pools)[number];
    const [symbol, decimals, balance, reverted, nobody] = await source.call([
      call(token.address, encodeCall("0x95d89b41")),
      call(token.address, encodeCall("0x313ce567")),
      call(pool.token0.address, encodeCall("0x70a08231", [pool.address as Hex])),
      call(pool.address, encodeCall("0x95d89b41")),
      call(`0x${"12".repeat(20)}`, encodeCall("0x95d89b41")),
    ]);
    expect([decodeText(symbol ?? null), decodeDecimals(decimals ?? null)]).to.deep.equal([
      token.symbol,
      token.decimals,
    ]);
    expect(BigInt(balance ?? 0) > 0n).to.equal(true);
    expect([reverted, nobody]).to.deep.equal([null, "0x"]);
    const inner = [
      { to: token.address as Hex, data: encodeCall("0x313ce567") },
      { to: pool.address as Hex, data: encodeCall("0x95d89b41") },
    ];
    const [together] = await source.call([call(MULTICALL3, encodeAggregate3(inner))]);
    const [first, second] = decodeAggregate3(together as Hex, 2);
    expect([first?.success, decodeDecimals(first?.data ?? null)]).to.deep.equal([true, token.decimals]);
    expect(second).to.deep.equal({ success: false, data: "0x" });
  });
});

function identityOf({ blockHash, logIndex, transactionHash, address, topics, data }: RawLog): string {
  return [blockHash, logIndex, transactionHash, address, data, ...topics].join();
}

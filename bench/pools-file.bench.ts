/**
 * Size and CPU of a file of 500,000 known pools. Last run, 2 shared cores, Node 20: see docs/pools-file.md.
 * Addresses are random, as on the chain; three of four pools bring a token of their own, with a symbol of 3 to 9 letters.
 */

import { createRandom } from "../deploy/devnet/random.ts";
import { PoolsFileWriter, readPoolsFile } from "../services/evm-dex/ingest/pools-file/format.ts";

const POOLS = Number(process.argv[2] ?? 500_000);
const { next: random } = createRandom(7);
const hex = (bytes: number) =>
  `0x${Array.from({ length: bytes }, () =>
    Math.floor(random() * 256)
      .toString(16)
      .padStart(2, "0"),
  ).join("")}`;
const contracts = Array.from({ length: 15 }, (_, i) => ({
  ...{ address: hex(20), finds: "pools" as const, protocol: "uniswap-v3" as const },
  ...{ fromBlock: 1_000_000 + i * 1_000_000, blockNumber: 54_000_000 },
}));
const own = Array.from({ length: POOLS }, (_, i) => ({
  ...{ pool: hex(20), token: hex(20), decimals: random() < 0.9 ? 18 : 6 },
  symbol: Array.from(
    { length: 3 + Math.floor(random() * 7) },
    () => "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[Math.floor(random() * 26)],
  ).join(""),
  createdBlock: 2_000_000 + Math.floor(random() * 52_000_000),
  fee: [100, 500, 3_000, 10_000][Math.floor(random() * 4)] as number,
  isNew: i === 0 || random() < 0.75,
}));

async function timed<T>(what: string, work: () => Promise<T> | T): Promise<T> {
  global.gc?.();
  const cpu = process.cpuUsage();
  const before = process.memoryUsage.rss();
  const result = await work();
  const { user, system } = process.cpuUsage(cpu);
  const grown = (process.memoryUsage.rss() - before) / 1e6;
  console.log(`${what.padEnd(28)} ${((user + system) / 1e6).toFixed(2)} CPU s, rss +${grown.toFixed(0)} MB`);
  return result;
}

const writer = new PoolsFileWriter({ chainId: 8453, genesisHash: hex(32), contracts });
await timed("collect", () => {
  for (const [i, each] of own.entries()) {
    const other = own[Math.floor(i * random())] as (typeof own)[number];
    const token0 = writer.token({
      address: each.isNew ? each.token : other.token,
      symbol: each.symbol,
      decimals: each.decimals,
    });
    const token1 = writer.token({
      address: "0x4200000000000000000000000000000000000006",
      symbol: "WETH",
      decimals: 18,
    });
    const { createdBlock, fee } = each;
    writer.pool({
      ...{
        address: each.pool,
        contract: i % 15,
        token0,
        token1,
        createdBlock,
        fee,
        tickSpacing: fee / 50,
        stable: false,
      },
      createdAt: 1_686_789_347 + 2 * createdBlock,
    });
  }
});
const { bytes } = await timed("pack (gzip, SHA-256)", () => writer.pack());
const file = await timed("read and check", () => readPoolsFile(bytes));
const count = await timed("walk all pools", () => {
  let seen = 0;
  for (const pool of file.pools()) seen += pool.createdBlock > 0 ? 1 : 0;
  return seen;
});
const { tokens } = writer.counts;
console.log(
  `${count} pools, ${tokens} tokens: ${(bytes.length / 1e6).toFixed(1)} MB, ${(bytes.length / count).toFixed(1)} bytes a pool`,
);

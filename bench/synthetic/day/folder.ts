import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChainDeployments, loadDeployments } from "../../../services/evm-dex/deployments.ts";
import { DayWriter } from "./block-files.ts";
import { firstDayBlock, SyntheticDay } from "./day.ts";
import { TOPICS } from "./topics.ts";

export const CHAIN_ID = 8453;
/** Raised with every change that makes other blocks of the same options, or writes them otherwise. */
const VERSION = 4;

export interface DaySize {
  readonly pools: number;
  readonly blocks: number;
  readonly logsPerBlock: number;
  /** DayOptions.daysAgo; absent = 0. */
  readonly daysAgo?: number;
}

/** What a right index of the day must hold. */
export interface DayExpected {
  readonly headNumber: number;
  readonly headHash: string;
  readonly firstDayBlock: number;
  readonly pools: number;
  /** Of the whole chain, with what makes the pools. */
  readonly logs: number;
  /** From the first day's block on. */
  readonly tradeLogs: number;
  readonly swaps: number;
  /** Packed. */
  readonly bytes: number;
}

export interface DayFolder {
  readonly folder: string;
  readonly deploymentsFile: string;
  readonly expected: DayExpected;
}

const SWAPS = new Set<string>([TOPICS.v3Swap, TOPICS.pancakeSwap, TOPICS.v2Swap]);

/** Base's built-in deployments on a chain that begins at block 0, without feeds: the day has no oracle. */
export function dayChain(): ChainDeployments {
  const chain = loadDeployments(undefined).find(({ chainId }) => chainId === CHAIN_ID);
  if (chain === undefined) throw new Error(`There is no chain ${CHAIN_ID} in the built-in deployments.`);
  return { ...chain, feeds: [], factories: chain.factories.map((factory) => ({ ...factory, fromBlock: 0 })) };
}

/** The recorded blocks of a synthetic day, from an earlier run or made now; a day of full size takes some two minutes. */
export async function buildDay(size: DaySize, say: (message: string) => void): Promise<DayFolder> {
  const chain = dayChain();
  const key = createHash("sha256")
    .update(JSON.stringify([VERSION, size, chain]))
    .digest("hex")
    .slice(0, 12);
  const folder = join(tmpdir(), "chaintables-bench", `day-${size.blocks}-${size.pools}-${key}`);
  const deploymentsFile = join(folder, "deployments.json");
  const expectedFile = join(folder, "expected.json");
  const saved = await readFile(expectedFile, "utf8").catch(() => undefined);
  if (saved !== undefined) return { folder, deploymentsFile, expected: JSON.parse(saved) as DayExpected };
  say(`Making ${size.blocks} blocks over ${size.pools} pools in ${folder} …`);
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
  const { stablecoins, factories, name } = chain;
  const chains = [{ chainId: CHAIN_ID, name, stablecoins, factories }];
  await writeFile(deploymentsFile, JSON.stringify({ evmDex: { chains } }));
  const expected = writeBlocks(folder, { size, chain });
  await writeFile(`${expectedFile}.tmp`, JSON.stringify(expected));
  await rename(`${expectedFile}.tmp`, expectedFile);
  return { folder, deploymentsFile, expected };
}

function writeBlocks(
  folder: string,
  { size, chain }: { size: DaySize; chain: ChainDeployments },
): DayExpected {
  const writer = new DayWriter(folder);
  let [logs, tradeLogs, swaps, headNumber, headHash] = [0, 0, 0, 0, ""];
  const first = firstDayBlock(size.pools);
  for (const block of new SyntheticDay({ chain, ...size }).blocks()) {
    writer.add(block);
    logs += block.logs.length;
    if (block.header.number >= first) tradeLogs += block.logs.length;
    for (const log of block.logs) if (SWAPS.has((log.topics as readonly string[])[0] ?? "")) swaps += 1;
    headNumber = block.header.number;
    headHash = block.header.hash;
  }
  writer.close();
  const { bytes } = writer;
  const { pools } = size;
  return { headNumber, headHash, firstDayBlock: first, pools, logs, tradeLogs, swaps, bytes };
}

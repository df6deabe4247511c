import type { EvmSource, Hex, LogRange } from "../../../shared/evm/port.ts";
import { protocolOf } from "../../protocols/index.ts";
import { matchesDecoder } from "../../protocols/protocol.ts";
import { readTokens } from "../discover/token-reader.ts";
import type { FileContract, FilePool, PoolsFile } from "./format.ts";
import { tokenAt, UnfitPoolsFile } from "./import.ts";

export interface Sampled {
  /** Pools whose creation and tokens the chain confirms. */
  readonly pools: number;
  /** Blocks whose creations the file has all. */
  readonly blocks: number;
}

/** Blocks of one request: what every provider serves. */
const WINDOW = 10;

/**
 * Compares a random part of a file with the chain: its genesis, the creations in some ranges of ten blocks (those in the
 * file, and no others), their times, and the symbols and decimals of their tokens. Throws UnfitPoolsFile at the first
 * difference. A file that lies about one pool in a hundred passes a sample of 50 with a probability of 60 %: whom it
 * comes from matters more.
 *
 * @param random numbers in [0, 1)
 */
export async function samplePools(
  source: EvmSource,
  { file, count, random }: { file: PoolsFile; count: number; random: () => number },
): Promise<Sampled> {
  const [genesis] = await source.headers([0]);
  if (genesis?.hash !== file.genesisHash)
    throw new UnfitPoolsFile(
      `Its chain ${file.chainId} begins with block ${file.genesisHash}, that of the node with ${genesis?.hash}.`,
    );
  const head = (await source.head()).number;
  const windows = pickWindows(file, { count, random });
  let [pools, blocks] = [0, 0];
  for (const { contract, range, stated } of windows) {
    await compareRange(source, { file, contract, range, stated, head });
    pools += stated.length;
    blocks += range.toBlock - range.fromBlock + 1;
  }
  return { pools, blocks };
}

interface Window {
  readonly contract: FileContract;
  readonly range: LogRange;
  /** What the file has in it. */
  readonly stated: FilePool[];
}

/** Ranges of ten blocks, each around the creation of one pool. */
function pickWindows(file: PoolsFile, { count, random }: { count: number; random: () => number }): Window[] {
  const wanted = new Set(Array.from({ length: count }, () => Math.floor(random() * file.poolCount)));
  const byContract = new Map<number, Window[]>();
  let at = 0;
  for (const { contract: index, createdBlock } of file.pools()) {
    if (!wanted.has(at++)) continue;
    const contract = file.contracts[index] as FileContract;
    const fromBlock = Math.max(contract.fromBlock, createdBlock - Math.floor(random() * WINDOW));
    const toBlock = Math.min(fromBlock + WINDOW - 1, contract.blockNumber);
    const window = { contract, range: { fromBlock, toBlock }, stated: [] };
    byContract.set(index, [...(byContract.get(index) ?? []), window]);
  }
  for (const pool of file.pools())
    for (const { range, stated } of byContract.get(pool.contract) ?? [])
      if (pool.createdBlock >= range.fromBlock && pool.createdBlock <= range.toBlock) stated.push(pool);
  return [...byContract.values()].flat();
}

async function compareRange(
  source: EvmSource,
  at: {
    file: PoolsFile;
    contract: FileContract;
    range: LogRange;
    stated: readonly FilePool[];
    head: number;
  },
): Promise<void> {
  const { file, contract, range, stated, head } = at;
  const decoder = protocolOf(contract.protocol).created;
  const logs = await source.logs(range, { topics: [decoder.topic], addresses: [contract.address as Hex] });
  const created = new Map(
    logs
      .filter((log) => matchesDecoder(log, decoder))
      .map((log) => [decoder.decode(log).pool, { ...decoder.decode(log), block: log.blockNumber }] as const),
  );
  const where = `blocks ${range.fromBlock} to ${range.toBlock}`;
  const headers = await source.headers([...new Set(stated.map(({ createdBlock }) => createdBlock))]);
  const times = new Map(
    headers.flatMap((header) => (header === null ? [] : [[header.number, header.timestamp]])),
  );
  for (const pool of stated) {
    const event = created.get(pool.address);
    const isSame =
      event !== undefined &&
      event.block === pool.createdBlock &&
      event.token0 === tokenAt(file, pool.token0).address &&
      event.token1 === tokenAt(file, pool.token1).address &&
      event.tickSpacing === pool.tickSpacing &&
      (event.stable ?? false) === pool.stable &&
      (event.fee === null || event.fee === pool.fee) &&
      times.get(pool.createdBlock) === pool.createdAt;
    if (!isSame)
      throw new UnfitPoolsFile(
        `Its pool ${pool.address} is not as ${contract.address} created it in ${where}.`,
      );
    created.delete(pool.address);
  }
  const [left] = created.keys();
  if (left !== undefined)
    throw new UnfitPoolsFile(`It lacks pool ${left}, which ${contract.address} created in ${where}.`);
  const tokens = new Map<string, ReturnType<typeof tokenAt>>();
  const poolOf = new Map<string, string>();
  for (const { address, token0, token1 } of stated) {
    for (const token of [token0, token1].map((id) => tokenAt(file, id))) {
      tokens.set(token.address, token);
      poolOf.set(token.address, address);
    }
  }
  for (const row of await readTokens(source, [...tokens.keys()], { block: head, poolOf })) {
    const token = tokens.get(row.address);
    if (token?.symbol !== row.symbol || token.decimals !== row.decimals)
      throw new UnfitPoolsFile(
        `Its token ${row.address} is ${token?.symbol} with ${token?.decimals} decimals, on the chain ${row.symbol} with ${row.decimals}.`,
      );
  }
}

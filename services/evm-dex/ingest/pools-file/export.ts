import { finalBlocks } from "../../../shared/evm/finality/finality.ts";
import { hasData } from "../../../shared/index/evm/checkpoint.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { ChainDeployments } from "../../deployments.ts";
import { protocolOf } from "../../protocols/index.ts";
import { pools } from "../../store/collections.ts";
import { getCheckpoint, readScannedTo } from "../../store/queries.ts";
import { gauges } from "../../store/v2-collections.ts";
import { type FileContract, PoolsFileWriter } from "./format.ts";

/** The store has nothing that a file could hold. */
export class NothingToExport extends Error {
  override readonly name = "NothingToExport";
}

const PAGE = 5_000;

/**
 * Packs the known pools of a chain, each factory's up to the last block that is final and wholly read: its discovery,
 * and once that is done the indexed blocks. Throws NothingToExport. Needs no lease: what is final does not change.
 */
export async function exportPools(store: Store, chain: ChainDeployments): Promise<PoolsFileWriter> {
  const { chainId } = chain;
  const checkpoint = await getCheckpoint(store, chainId);
  const final = await store.get(finalBlocks, { chainId });
  if (checkpoint === undefined)
    throw new NothingToExport(`There is no index of chain ${chainId} in this store.`);
  if (final === undefined)
    throw new NothingToExport(`The index of chain ${chainId} has no final block yet: let its ingest run on.`);
  const wholeFrom = checkpoint.fromBlock - 1;
  const indexedTo = hasData(checkpoint) ? checkpoint.blockNumber : wholeFrom;
  const contracts: FileContract[] = [];
  for (const contract of listContracts(chain)) {
    const scannedTo = await readScannedTo(store, { chainId, factory: contract.address });
    if (scannedTo === undefined) continue;
    const known = scannedTo >= wholeFrom ? Math.max(scannedTo, indexedTo) : scannedTo;
    const blockNumber = Math.min(known, final.number);
    if (blockNumber >= contract.fromBlock) contracts.push({ ...contract, blockNumber });
  }
  if (contracts.length === 0)
    throw new NothingToExport(`No factory of chain ${chainId} has been read up to a final block yet.`);
  const writer = new PoolsFileWriter({ chainId, genesisHash: checkpoint.genesisHash, contracts });
  const written = await writePools(store, { chainId, contracts, writer });
  await writeGauges(store, { chainId, contracts, writer, written });
  return writer;
}

/** The factories of a chain and the voters of their pools, as a file names them. */
export function listContracts({ factories }: ChainDeployments): Omit<FileContract, "blockNumber">[] {
  const contracts = new Map<string, Omit<FileContract, "blockNumber">>();
  for (const { address, kind, fromBlock } of factories)
    contracts.set(address, { address, finds: "pools", protocol: kind, fromBlock });
  for (const { rewards, kind, fromBlock } of factories) {
    if (rewards === undefined || protocolOf(kind).gauges === undefined) continue;
    const known = contracts.get(rewards.voter);
    const first = Math.min(known?.fromBlock ?? fromBlock, fromBlock);
    contracts.set(rewards.voter, {
      ...{ address: rewards.voter, finds: "gauges", fromBlock: first },
      protocol: known?.protocol ?? kind,
    });
  }
  return [...contracts.values()];
}

interface Target {
  readonly chainId: number;
  readonly contracts: readonly FileContract[];
  readonly writer: PoolsFileWriter;
}

/** Returns the addresses of the pools that the file has. */
async function writePools(store: Store, { chainId, contracts, writer }: Target): Promise<Set<string>> {
  const indexes = new Map(contracts.map(({ address }, i) => [address, i]));
  const written = new Set<string>();
  for (let last = ""; ; ) {
    const page = await store.find(pools, { filter: { chainId, poolAddress: { gt: last } }, limit: PAGE });
    for (const row of page) {
      const contract = indexes.get(row.dexAddress);
      if (contract === undefined || row.createdBlock > (contracts[contract]?.blockNumber ?? -1)) continue;
      written.add(row.poolAddress);
      const { poolAddress, createdBlock, createdAt, fee, tickSpacing, stable } = row;
      writer.pool({
        ...{ address: poolAddress, contract, createdBlock, createdAt, fee, tickSpacing, stable },
        token0: writer.token({
          address: row.token0Address,
          symbol: row.token0Symbol,
          decimals: row.token0Decimals,
        }),
        token1: writer.token({
          address: row.token1Address,
          symbol: row.token1Symbol,
          decimals: row.token1Decimals,
        }),
      });
    }
    if (page.length < PAGE) return written;
    last = page.at(-1)?.poolAddress as string;
  }
}

async function writeGauges(
  store: Store,
  { chainId, contracts, writer, written }: Target & { written: ReadonlySet<string> },
): Promise<void> {
  const indexes = new Map(contracts.map(({ address }, i) => [address, i]));
  for (const { gauge, poolAddress, voter, createdBlock } of await store.find(gauges, {
    filter: { chainId },
  })) {
    const contract = indexes.get(voter);
    if (contract === undefined || createdBlock > (contracts[contract]?.blockNumber ?? -1)) continue;
    if (written.has(poolAddress)) writer.gauge({ gauge, poolAddress, contract, createdBlock });
  }
}

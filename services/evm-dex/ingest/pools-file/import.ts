import { hasData } from "../../../shared/index/evm/checkpoint.ts";
import type { Guard } from "../../../shared/storage/lease.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import type { ChainDeployments, Factory } from "../../deployments.ts";
import {
  discoveries,
  type PoolRow,
  poolListings,
  pools,
  type TokenRow,
  tokens,
} from "../../store/collections.ts";
import { getCheckpoint, getPools, getTokens, readScannedTo } from "../../store/queries.ts";
import { type GaugeRow, gauges } from "../../store/v2-collections.ts";
import { toListings } from "../../views/pool-listing.ts";
import { listContracts } from "./export.ts";
import type { FileContract, FilePool, PoolsFile } from "./format.ts";

/** The file does not fit this store. */
export class UnfitPoolsFile extends Error {
  override readonly name = "UnfitPoolsFile";
}

/** What a store takes of one factory or voter: what it created after `after`, up to `to`. */
export interface ContractImport {
  readonly index: number;
  readonly contract: FileContract;
  readonly after: number;
  readonly to: number;
  /** Its progress in the store afterwards. */
  readonly progress: number;
}

const WRITE_POOLS = 20_000;

/**
 * What a store takes of a file, contract by contract, in the order of the file. Throws UnfitPoolsFile: another chain,
 * another kind of pools, blocks between store and file that neither has, or nothing that the store does not have.
 */
export async function planImport(
  store: Store,
  { file, chain }: { file: PoolsFile; chain: ChainDeployments },
): Promise<ContractImport[]> {
  const { chainId } = chain;
  if (file.chainId !== chainId)
    throw new UnfitPoolsFile(`It holds pools of chain ${file.chainId}, not of chain ${chainId}.`);
  const checkpoint = await getCheckpoint(store, chainId);
  if (checkpoint !== undefined && checkpoint.genesisHash !== file.genesisHash)
    throw new UnfitPoolsFile(
      `Its chain ${chainId} begins with block ${file.genesisHash}, the one in this store with ${checkpoint.genesisHash}.`,
    );
  // Pools of indexed blocks come with the events of those blocks.
  const last = checkpoint === undefined ? Number.POSITIVE_INFINITY : checkpoint.fromBlock - 1;
  const own = new Map(listContracts(chain).map((contract) => [contract.address, contract]));
  const taken: ContractImport[] = [];
  for (const [index, contract] of file.contracts.entries()) {
    const mine = own.get(contract.address);
    if (mine === undefined) continue;
    const scannedTo = await readScannedTo(store, { chainId, factory: contract.address });
    const range = rangeOf(contract, { mine, scannedTo, last });
    if (range === undefined) continue;
    // A factory that was added after the index began still has to be read up to its head (creation-scans.ts).
    const isLate = checkpoint !== undefined && hasData(checkpoint);
    taken.push({ index, contract, ...range, progress: isLate ? Math.min(range.to, last - 1) : range.to });
  }
  if (taken.length === 0)
    throw new UnfitPoolsFile(
      file.contracts.some(({ address }) => own.has(address))
        ? "It is older than this store, which has all that it holds."
        : "None of its factories is in the deployments of this chain.",
    );
  return taken;
}

/** The blocks that the store takes of a contract; undefined where it has them. Throws UnfitPoolsFile. */
function rangeOf(
  contract: FileContract,
  store: { mine: Omit<FileContract, "blockNumber">; scannedTo: number | undefined; last: number },
): { after: number; to: number } | undefined {
  const { mine, scannedTo = -1, last } = store;
  if (mine.finds !== contract.finds || mine.protocol !== contract.protocol)
    throw new UnfitPoolsFile(
      `Its contract ${contract.address} is one of ${contract.protocol}, in the deployments it is one of ${mine.protocol}.`,
    );
  const to = Math.min(contract.blockNumber, last);
  const after = Math.max(scannedTo, mine.fromBlock - 1);
  if (to <= after) return undefined;
  if (contract.fromBlock > after + 1)
    throw new UnfitPoolsFile(
      `It knows what ${contract.address} created from block ${contract.fromBlock} on; this store ends at block ${after}: those between would be missing.`,
    );
  return { after, to };
}

export interface Imported {
  readonly pools: number;
  readonly gauges: number;
}

/**
 * Writes what planImport chose. The progress of the factories comes last: an import that is killed is repeated, or the
 * ingest finds the rest. Symbols and decimals that the store has already read from the chain stay as they are.
 */
export async function importPools(
  store: Store,
  options: { file: PoolsFile; chain: ChainDeployments; plan: readonly ContractImport[]; guard: Guard },
): Promise<Imported> {
  const { file, chain, plan, guard } = options;
  const { chainId } = chain;
  const byIndex = new Map(plan.map((each) => [each.index, each]));
  const factories = new Map(chain.factories.map((factory) => [factory.address as string, factory]));
  const isTaken = ({ contract, createdBlock }: { contract: number; createdBlock: number }) => {
    const range = byIndex.get(contract);
    return range !== undefined && createdBlock > range.after && createdBlock <= range.to;
  };
  const counts = { pools: 0, gauges: 0 };
  const writePools = async (batch: readonly FilePool[]): Promise<void> => {
    const ids = [...new Set(batch.flatMap(({ token0, token1 }) => [token0, token1]))];
    const fresh = ids.map((id) => ({ chainId, ...tokenAt(file, id) }));
    const known = await getTokens(store, { chainId, addresses: fresh.map(({ address }) => address) });
    const facts = new Map<string, TokenRow>([...fresh, ...known].map((row) => [row.address, row]));
    const rows = batch.map((pool) => {
      const address = file.contracts[pool.contract]?.address ?? "";
      const factory = factories.get(address);
      if (factory === undefined) throw new UnfitPoolsFile(`It has pools of ${address}, which is a voter.`);
      return toPoolRow(pool, {
        chainId,
        factory,
        tokenOf: (id) => facts.get(tokenAt(file, id).address) as TokenRow,
      });
    });
    const isKnown = new Set(known.map(({ address }) => address));
    const missing = fresh.filter(({ address }) => !isKnown.has(address));
    await store.write([
      ...guard(),
      put(tokens, missing),
      put(pools, rows),
      put(poolListings, toListings(rows)),
    ]);
    counts.pools += rows.length;
  };
  for (const batch of inBatches(file.pools(), isTaken)) await writePools(batch);
  for (const batch of inBatches(file.gauges(), isTaken)) {
    const rows = batch.map(({ gauge, poolAddress, contract, createdBlock }): GaugeRow => {
      const voter = file.contracts[contract]?.address as string;
      return { chainId, gauge, poolAddress, voter, createdBlock };
    });
    const found = await getPools(store, { chainId, addresses: rows.map(({ poolAddress }) => poolAddress) });
    const ours = new Set(found.map(({ poolAddress }) => poolAddress));
    const known = rows.filter(({ poolAddress }) => ours.has(poolAddress));
    await store.write([...guard(), put(gauges, known)]);
    counts.gauges += known.length;
  }
  const progress = plan.map(({ contract, progress: blockNumber }) => ({
    ...{ chainId, factory: contract.address, blockNumber },
  }));
  await store.write([...guard(), put(discoveries, progress)]);
  return counts;
}

export function tokenAt(file: PoolsFile, id: number): PoolsFile["tokens"][number] {
  return file.tokens[id] as PoolsFile["tokens"][number];
}

function toPoolRow(
  pool: FilePool,
  { chainId, factory, tokenOf }: { chainId: number; factory: Factory; tokenOf: (id: number) => TokenRow },
): PoolRow {
  const [token0, token1] = [tokenOf(pool.token0), tokenOf(pool.token1)];
  const { createdAt, createdBlock, fee, tickSpacing, stable } = pool;
  return {
    ...{ chainId, poolAddress: pool.address, createdAt, createdBlock, fee, tickSpacing, stable },
    dexAddress: factory.address,
    dexName: factory.dexName,
    family: factory.family,
    protocol: factory.kind,
    token0Address: token0.address,
    token0Symbol: token0.symbol,
    token0Decimals: token0.decimals,
    token1Address: token1.address,
    token1Symbol: token1.symbol,
    token1Decimals: token1.decimals,
  };
}

function* inBatches<T>(items: Iterable<T>, isTaken: (item: T) => boolean): Generator<T[], void, undefined> {
  let batch: T[] = [];
  for (const item of items) {
    if (!isTaken(item)) continue;
    batch.push(item);
    if (batch.length < WRITE_POOLS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

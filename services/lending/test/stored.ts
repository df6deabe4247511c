import { put, removeWhere, type Store, type WriteStep } from "../../shared/storage/port.ts";
import { openSqliteStore } from "../../shared/storage/sqlite/store.ts";
import type { ChainDeployments } from "../deployments.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import type { LendingRow } from "../protocols/rows.ts";
import {
  type CheckpointRow,
  COLLECTIONS,
  checkpoints,
  type EntityRow,
  entities,
} from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { toStateText } from "../store/state-text.ts";
import { fakeProtocol, kindOf, stateOf } from "./fake-protocol.ts";

export const CHAIN_ID = 8453;
/** Unix seconds of block 0: two seconds a block from there. */
export const GENESIS_TIME = 1_700_000_000;

export function timeOf(block: number): number {
  return GENESIS_TIME + 2 * block;
}

/** An empty store of this service, in memory. */
export async function openTestStore(): Promise<Store> {
  const store = await openSqliteStore({ path: ":memory:" });
  await store.declare(COLLECTIONS);
  return store;
}

/** A chain with fake protocols. */
export function fakeChain(
  protocols: readonly ProtocolId[] = ["aave-v3", "euler-v2", "morpho-v1"],
  options: { chainId?: number; onRow?: () => void } = {},
): ChainDeployments {
  const { chainId = CHAIN_ID, ...protocolOptions } = options;
  return {
    chainId,
    name: `Chain ${chainId}`,
    multicall3: "0xca11bde05977b3631167028862be2a173976ca11",
    oracles: { aave: [], feeds: [] },
    protocols: protocols.map((id) => ({
      protocol: fakeProtocol(id, protocolOptions),
      deployment: undefined,
    })),
  };
}

export function checkpointRow(options: Partial<CheckpointRow> = {}): CheckpointRow {
  const blockNumber = options.blockNumber ?? 200;
  return {
    chainId: CHAIN_ID,
    blockNumber,
    blockHash: `0x${blockNumber}`,
    blockTime: timeOf(blockNumber),
    fromBlock: 100,
    fromTime: timeOf(100),
    chainHead: blockNumber,
    genesisHash: "0x0",
    version: 1,
    epoch: 0,
    ...options,
  };
}

/** An entity that contains these rows, as read at a block. */
export function unitRow(
  id: string,
  options: { rows: readonly LendingRow[]; block: number; version: number; protocol?: ProtocolId },
): EntityRow {
  return {
    chainId: CHAIN_ID,
    kind: kindOf(options.protocol ?? options.rows[0]?.protocolId ?? "morpho-v1"),
    id,
    version: options.version,
    foundBlock: options.block,
    block: options.block,
    blockHash: `0x${options.block}`,
    time: timeOf(options.block),
    state: toStateText(stateOf(options.rows)),
    failures: 0,
  };
}

/** What an ingest would write at a block. */
export interface Written {
  readonly block: number;
  /** Entities with their rows, by id. */
  readonly units?: Readonly<Record<string, readonly LendingRow[]>>;
  /** Ids of removed entities, as after a reorg. */
  readonly gone?: readonly string[];
  readonly hash?: string;
}

/** The steps of a write in their order: entities, then the checkpoint that names them. */
export async function stepsOf(store: Store, options: Written): Promise<WriteStep[]> {
  const before = await getCheckpoint(store, CHAIN_ID);
  const version = (before?.version ?? 0) + 1;
  const rows = Object.entries(options.units ?? {}).map(([id, list]) =>
    unitRow(id, { rows: list, block: options.block, version }),
  );
  const checkpoint = checkpointRow({
    blockNumber: options.block,
    version,
    epoch: (before?.epoch ?? 0) + (options.gone === undefined ? 0 : 1),
    ...(options.hash !== undefined && { blockHash: options.hash }),
  });
  const gone = (options.gone ?? []).map((id) => removeWhere(entities, { chainId: CHAIN_ID, id }));
  return [put(entities, rows), ...gone, put(checkpoints, [checkpoint])];
}

/** Writes as an ingest would. */
export async function writeBlock(store: Store, options: Written): Promise<void> {
  await store.write(await stepsOf(store, options));
}

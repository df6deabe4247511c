import { KEPT_HEADERS } from "../../../shared/evm/finality/fork.ts";
import type { BlockHeader } from "../../../shared/evm/port.ts";
import { toHeaderRow } from "../../../shared/index/evm/headers.ts";
import type { Store } from "../../../shared/storage/port.ts";
import {
  type CheckpointRow,
  type DiscoveryRow,
  type EntityHistoryRow,
  type EntityRow,
  entityHistory,
  type TokenRow,
} from "../../store/collections.ts";
import { toForkMark } from "../../store/fork-mark.ts";
import { entityKey } from "../entities/entity-key.ts";
import type { BlockBatch } from "./block-batch.ts";
import type { PassReadings } from "./pass.ts";
import type { PassRows } from "./write.ts";

const HOUR_SECONDS = 3_600;

/** The rows that a pass writes after `checkpoint` (undefined: the first pass). Pure. */
export function toPassRows({
  chainId,
  genesisHash,
  checkpoint,
  head,
  batch,
  replacedAbove,
  readings,
  lastStates,
  tokens,
  scans,
}: {
  chainId: number;
  genesisHash: string;
  checkpoint: CheckpointRow | undefined;
  head: BlockHeader;
  batch: BlockBatch;
  replacedAbove: number | undefined;
  readings: PassReadings;
  /** See findLastStates. */
  lastStates: ReadonlyMap<string, LastState>;
  tokens: readonly TokenRow[];
  /** Names of the chain's scans. */
  scans: readonly string[];
}): PassRows {
  const { view } = readings;
  const version = (checkpoint?.version ?? 0) + 1;
  const at = { block: head.number, blockHash: head.hash, time: head.timestamp };
  const entities: EntityRow[] = [];
  const history: EntityHistoryRow[] = [];
  for (const { ref, state } of readings.read) {
    const { kind, id } = ref;
    const before = view.get(ref);
    entities.push({
      chainId,
      kind,
      id,
      version,
      foundBlock: view.foundBlock(ref),
      ...at,
      state,
      failures: 0,
    });
    if (before?.state === state && !isReplaced(before, { replacedAbove, checkpoint })) continue;
    history.push({ chainId, kind, id, hour: hourOf(head.timestamp), ...at, state });
  }
  for (const { ref } of readings.failed) {
    const { kind, id } = ref;
    const before = view.get(ref);
    const { block, blockHash, time, state } = lastStates.get(entityKey(ref)) ?? before ?? NEVER_READ;
    const failures = (before?.failures ?? 0) + 1;
    const foundBlock = view.foundBlock(ref);
    entities.push({ chainId, kind, id, version, foundBlock, block, blockHash, time, state, failures });
  }
  if (replacedAbove !== undefined && checkpoint !== undefined)
    history.push(toForkMark({ chainId, hour: hourOf(head.timestamp), ...at }, { above: replacedAbove }));
  const removed = view.removed();
  return {
    entities,
    history,
    removed,
    replacedAbove,
    tokens,
    headers: batch.headers.slice(-KEPT_HEADERS).map((header) => toHeaderRow(chainId, header)),
    discoveries: scans.map((name): DiscoveryRow => ({ chainId, name, blockNumber: head.number })),
    checkpoint: {
      chainId,
      blockNumber: head.number,
      blockHash: head.hash,
      blockTime: head.timestamp,
      ...historyStart({ checkpoint, head, replacedAbove }),
      chainHead: head.number,
      genesisHash,
      version,
      epoch: (checkpoint?.epoch ?? 0) + (removed.length > 0 ? 1 : 0),
    },
  };
}

/** An entity's last reading. */
type LastState = Pick<EntityRow, "block" | "blockHash" | "time" | "state">;

const NEVER_READ: LastState = { block: null, blockHash: null, time: null, state: null };

/** For unreadable entities whose last state is of a replaced block: the last state in history before it, by entity. */
export async function findLastStates(
  store: Store,
  {
    readings,
    replacedAbove,
    checkpoint,
  }: { readings: PassReadings; replacedAbove: number | undefined; checkpoint: CheckpointRow | undefined },
): Promise<Map<string, LastState>> {
  const states = new Map<string, LastState>();
  for (const { ref } of readings.failed) {
    const before = readings.view.get(ref);
    if (replacedAbove === undefined || before === undefined) continue;
    if (!isReplaced(before, { replacedAbove, checkpoint })) continue;
    const { chainId, kind, id } = before;
    const [row] = await store.find(entityHistory, {
      filter: { chainId, kind, id, block: { lte: replacedAbove } },
      order: [{ field: "hour", direction: "desc" }],
      limit: 1,
    });
    states.set(entityKey(ref), row ?? NEVER_READ);
  }
  return states;
}

/** Whether an entity's last state is of a replaced block, or of a block that no checkpoint ever covered. */
export function isReplaced(
  row: EntityRow,
  {
    replacedAbove = Number.POSITIVE_INFINITY,
    checkpoint,
  }: { replacedAbove: number | undefined; checkpoint: CheckpointRow | undefined },
): boolean {
  return (row.block ?? -1) > Math.min(replacedAbove, checkpoint?.blockNumber ?? -1);
}

/** History begins at the first block that was read, unless that was replaced. */
function historyStart({
  checkpoint,
  head,
  replacedAbove = Number.POSITIVE_INFINITY,
}: {
  checkpoint: CheckpointRow | undefined;
  head: BlockHeader;
  replacedAbove: number | undefined;
}): Pick<CheckpointRow, "fromBlock" | "fromTime"> {
  if (checkpoint === undefined || replacedAbove < checkpoint.fromBlock)
    return { fromBlock: head.number, fromTime: head.timestamp };
  return { fromBlock: checkpoint.fromBlock, fromTime: checkpoint.fromTime };
}

function hourOf(time: number): number {
  return time - (time % HOUR_SECONDS);
}

import { KEPT_HEADERS } from "../../shared/evm/finality/fork.ts";
import type { BlockHeader } from "../../shared/evm/port.ts";
import { toHeaderRow } from "../../shared/index/evm/headers.ts";
import type { Store } from "../../shared/storage/port.ts";
import {
  type CheckpointRow,
  type DiscoveryRow,
  type TokenRow,
  type UnitHistoryRow,
  type UnitRow,
  unitHistory,
} from "../store/collections.ts";
import type { PassReadings } from "./pass.ts";
import type { Stretch } from "./stretch.ts";
import { keyOf } from "./unit-key.ts";
import type { PassRows } from "./write.ts";

const HOUR_SECONDS = 3_600;

/** The rows of what a pass has read, on top of a checkpoint, if there is one. Pure. */
export function toPassRows(of: {
  chainId: number;
  genesisHash: string;
  checkpoint: CheckpointRow | undefined;
  head: BlockHeader;
  stretch: Stretch;
  replacedAbove: number | undefined;
  readings: PassReadings;
  /** See lastStates. */
  lastStates: ReadonlyMap<string, LastState>;
  tokens: readonly TokenRow[];
  /** Names of the chain's scans. */
  scans: readonly string[];
}): PassRows {
  const { chainId, checkpoint, head, readings, replacedAbove } = of;
  const { view } = readings;
  const version = (checkpoint?.version ?? 0) + 1;
  const at = { block: head.number, blockHash: head.hash, time: head.timestamp };
  const units: UnitRow[] = [];
  const history: UnitHistoryRow[] = [];
  for (const { ref, state } of readings.read) {
    const { kind, id } = ref;
    const before = view.get(ref);
    units.push({ chainId, kind, id, version, foundBlock: view.foundBlock(ref), ...at, state, failures: 0 });
    if (before?.state === state && !isReplaced(before, { replacedAbove, checkpoint })) continue;
    history.push({ chainId, kind, id, hour: hourOf(head.timestamp), ...at, state });
  }
  for (const { ref } of readings.failed) {
    const { kind, id } = ref;
    const before = view.get(ref);
    const { block, blockHash, time, state } = of.lastStates.get(keyOf(ref)) ?? before ?? NEVER_READ;
    const failures = (before?.failures ?? 0) + 1;
    const foundBlock = view.foundBlock(ref);
    units.push({ chainId, kind, id, version, foundBlock, block, blockHash, time, state, failures });
  }
  const gone = view.gone();
  return {
    units,
    history,
    gone,
    replacedAbove,
    tokens: of.tokens,
    headers: of.stretch.headers.slice(-KEPT_HEADERS).map((header) => toHeaderRow(chainId, header)),
    discoveries: of.scans.map((name): DiscoveryRow => ({ chainId, name, blockNumber: head.number })),
    checkpoint: {
      chainId,
      blockNumber: head.number,
      blockHash: head.hash,
      blockTime: head.timestamp,
      ...beginning({ checkpoint, head, replacedAbove }),
      chainHead: head.number,
      genesisHash: of.genesisHash,
      version,
      epoch: (checkpoint?.epoch ?? 0) + (gone.length > 0 ? 1 : 0),
    },
  };
}

/** What was read of a unit last, if anything was. */
type LastState = Pick<UnitRow, "block" | "blockHash" | "time" | "state">;

const NEVER_READ: LastState = { block: null, blockHash: null, time: null, state: null };

/**
 * By unit, for those that cannot be read and whose last state is of a replaced block: what was recorded of them before
 * that, if anything was.
 */
export async function lastStates(
  store: Store,
  of: { readings: PassReadings; replacedAbove: number | undefined; checkpoint: CheckpointRow | undefined },
): Promise<Map<string, LastState>> {
  const { readings, replacedAbove } = of;
  const states = new Map<string, LastState>();
  for (const { ref } of readings.failed) {
    const before = readings.view.get(ref);
    if (replacedAbove === undefined || before === undefined || !isReplaced(before, of)) continue;
    const { chainId, kind, id } = before;
    const [row] = await store.find(unitHistory, {
      filter: { chainId, kind, id, block: { lte: replacedAbove } },
      order: [{ field: "hour", direction: "desc" }],
      limit: 1,
    });
    states.set(keyOf(ref), row ?? NEVER_READ);
  }
  return states;
}

/** Whether a unit's last state is one of replaced blocks, or of blocks that the checkpoint never came to stand on. */
export function isReplaced(
  row: UnitRow,
  of: { replacedAbove: number | undefined; checkpoint: CheckpointRow | undefined },
): boolean {
  const { replacedAbove = Number.POSITIVE_INFINITY, checkpoint } = of;
  return (row.block ?? -1) > Math.min(replacedAbove, checkpoint?.blockNumber ?? -1);
}

/** Where history begins: at the first block that was read, unless that was replaced. */
function beginning(of: {
  checkpoint: CheckpointRow | undefined;
  head: BlockHeader;
  replacedAbove: number | undefined;
}): Pick<CheckpointRow, "fromBlock" | "fromTime"> {
  const { checkpoint, head, replacedAbove = Number.POSITIVE_INFINITY } = of;
  if (checkpoint === undefined || replacedAbove < checkpoint.fromBlock)
    return { fromBlock: head.number, fromTime: head.timestamp };
  return { fromBlock: checkpoint.fromBlock, fromTime: checkpoint.fromTime };
}

function hourOf(time: number): number {
  return time - (time % HOUR_SECONDS);
}

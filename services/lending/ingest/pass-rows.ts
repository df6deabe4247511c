import { KEPT_HEADERS } from "../../shared/chain/evm/fork.ts";
import type { BlockHeader } from "../../shared/chain/evm/port.ts";
import type { CheckpointRow, DiscoveryRow, TokenRow, UnitHistoryRow, UnitRow } from "../store/collections.ts";
import type { PassReadings } from "./pass.ts";
import type { Stretch } from "./stretch.ts";
import { type PassRows, toHeaderRow } from "./write.ts";

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
    const { block = null, blockHash = null, time = null, state = null, failures = 0 } = view.get(ref) ?? {};
    const foundBlock = view.foundBlock(ref);
    const failed = { block, blockHash, time, state, failures: failures + 1 };
    units.push({ chainId, kind, id, version, foundBlock, ...failed });
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

import type { LiveHead } from "../../services/shared/grpc/types.ts";
import type { SeenCall } from "./rpc-recorder.ts";

/** When a block came past each place on its way, by performance.now. */
export interface BlockTimes {
  /** The node has answered evm_mine. */
  readonly minedMs: number;
  /** The ingest got the block as the answer to its question for the head. */
  readonly foundMs: number;
  /** It got the last answer for it: logs, state. */
  readonly readMs: number;
  /** The store has the checkpoint. */
  readonly writtenMs: number;
  /** The service has told the head. */
  readonly toldMs: number;
  /** The client has the table or the event. */
  readonly heardMs: number;
}

/** What takes the time between two of them. */
export const STAGES = [
  ["the ingest finds the block", "minedMs", "foundMs"],
  ["it reads logs and state", "foundMs", "readMs"],
  ["it computes and writes rows", "readMs", "writtenMs"],
  ["the service tells the head", "writtenMs", "toldMs"],
  ["the gateway asks, the client hears", "toldMs", "heardMs"],
] as const satisfies readonly (readonly [string, keyof BlockTimes, keyof BlockTimes])[];

/** When the ingest found a block and had read all of it, by what went between it and the node until it was written. */
export function readTimes(
  calls: readonly SeenCall[],
  { block, writtenMs }: { readonly block: number; readonly writtenMs: number },
): Pick<BlockTimes, "foundMs" | "readMs"> {
  const number = `"number":"0x${block.toString(16)}"`;
  const found = calls.find(
    ({ methods, reply }) => methods.includes("eth_getBlockByNumber") && reply.includes(number),
  );
  if (found === undefined) throw new Error(`The ingest has not asked for block ${block}.`);
  const before = calls.filter(({ endedMs }) => endedMs >= found.endedMs && endedMs <= writtenMs);
  return { foundMs: found.endedMs, readMs: Math.max(...before.map(({ endedMs }) => endedMs)) };
}

export interface StageTimes {
  readonly name: string;
  /** Milliseconds, one for each block. */
  readonly times: readonly number[];
}

export function splitStages(blocks: readonly BlockTimes[]): StageTimes[] {
  return STAGES.map(([name, from, to]) => ({
    name,
    // A client may hear of a block before the bench hears of the same: then it took no time.
    times: blocks.map((times) => Math.max(0, times[to] - times[from])),
  }));
}

/** Notes when each head was told. */
export function createHeadTimes(): {
  readonly onHead: (head: LiveHead) => void;
  toldAtMs(block: number): number | undefined;
} {
  const times = new Map<number, number>();
  return {
    onHead: ({ block }) => void times.set(block, times.get(block) ?? performance.now()),
    toldAtMs: (block) => times.get(block),
  };
}

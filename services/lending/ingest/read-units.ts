import type { DeployedProtocol } from "../deployments.ts";
import { type UnitReader, type UnitRef, type UnitState, UnreadableUnit } from "../protocols/protocol.ts";
import { toStateText } from "../store/state-text.ts";
import { keyOf } from "./unit-key.ts";

/** Units in the middle of being read: as many as keep several batches of calls full. */
const AT_ONCE = 1_000;

export interface ReadUnitsOptions {
  readonly reader: UnitReader;
  readonly protocolOf: (kind: string) => DeployedProtocol;
  /** A unit's last state. */
  readonly previous: (ref: UnitRef) => UnitState | undefined;
  /** Called for units that others name: answers whether it is to be read too. */
  readonly onFound: (ref: UnitRef) => boolean;
  /** Called after each unit. */
  readonly onDone?: (done: number, total: number) => void;
}

export interface UnitReadings {
  /** Each unit's state as text. */
  readonly read: readonly { readonly ref: UnitRef; readonly state: string }[];
  readonly failed: readonly { readonly ref: UnitRef; readonly error: Error }[];
}

/**
 * Reads units at the reader's block, and those that they name. A unit that cannot be read fails by itself; anything
 * else that goes wrong (no endpoint answers, the block is gone) ends the whole, since nothing was read at one block then.
 */
export async function readUnits(refs: Iterable<UnitRef>, of: ReadUnitsOptions): Promise<UnitReadings> {
  const queue = [...refs];
  const seen = new Set(queue.map(keyOf));
  const read: { ref: UnitRef; state: string }[] = [];
  const failed: { ref: UnitRef; error: Error }[] = [];

  async function readOne(ref: UnitRef): Promise<void> {
    const { protocol, deployment } = of.protocolOf(ref.kind);
    try {
      const previous = of.previous(ref);
      const reading = await protocol.read(ref, { reader: of.reader, previous, deployment });
      read.push({ ref, state: toStateText(reading.state) });
      for (const found of reading.found ?? []) {
        if (seen.has(keyOf(found)) || !of.onFound(found)) continue;
        seen.add(keyOf(found));
        queue.push(found);
      }
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      failed.push({ ref, error });
    }
    of.onDone?.(read.length + failed.length, queue.length);
  }

  await runAll(queue, readOne);
  return { read, failed };
}

/** Works on a queue that grows meanwhile, AT_ONCE at a time; the first failure ends it. */
function runAll<T>(queue: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let next = 0;
    let busy = 0;
    let isOver = false;
    const fail = (error: unknown) => {
      isOver = true;
      reject(error);
    };
    const pump = () => {
      while (next < queue.length && busy < AT_ONCE && !isOver) {
        busy++;
        work(queue[next++] as T).then(done, fail);
      }
      if (busy === 0) resolve();
    };
    const done = () => {
      busy--;
      pump();
    };
    pump();
  });
}

/** Also what decoding throws for words that are not what a contract of this kind would say. */
function isUnreadable(error: unknown): error is Error {
  return (
    error instanceof UnreadableUnit ||
    error instanceof RangeError ||
    error instanceof TypeError ||
    error instanceof SyntaxError
  );
}

import {
  type ContractReader,
  type EntityRef,
  type EntityState,
  UnreadableEntity,
} from "../../protocols/protocol.ts";
import { toStateText } from "../../store/state-text.ts";
import type { CallMemory } from "./call-memory.ts";
import { entityKey } from "./entity-key.ts";
import type { DeployedSource } from "./protocol-registry.ts";

/** Entities that are read concurrently: enough to fill several batches of calls. */
const CONCURRENCY = 1_000;

export interface ReadEntitiesOptions {
  readonly reader: ContractReader;
  readonly memory: CallMemory;
  readonly protocolOf: (kind: string) => DeployedSource;
  /** An entity's last state. */
  readonly previous: (ref: EntityRef) => EntityState | undefined;
  /** Called for entities that others refer to: returns whether to read them too. */
  readonly onReference: (ref: EntityRef) => boolean;
  /** Called after each entity. */
  readonly onDone?: (done: number, total: number) => void;
}

export interface EntityReadings {
  /** Each entity's state as text. */
  readonly read: readonly { readonly ref: EntityRef; readonly state: string }[];
  readonly failed: readonly { readonly ref: EntityRef; readonly error: Error }[];
}

/**
 * Reads entities and those that they refer to at the reader's block. An unreadable entity fails alone; any other error
 * (no endpoint responds, the block was replaced) ends the whole, as the readings would not be of one block.
 */
export async function readEntities(
  refs: Iterable<EntityRef>,
  { reader, memory, protocolOf, previous, onReference, onDone }: ReadEntitiesOptions,
): Promise<EntityReadings> {
  const queue = [...refs];
  const seen = new Set(queue.map(entityKey));
  const read: { ref: EntityRef; state: string }[] = [];
  const failed: { ref: EntityRef; error: Error }[] = [];

  async function readOne(ref: EntityRef): Promise<void> {
    const { protocol, deployment } = protocolOf(ref.kind);
    const own = memory.open(entityKey(ref), reader);
    try {
      const reading = await protocol.read(ref, { reader: own.reader, previous: previous(ref), deployment });
      own.done();
      read.push({ ref, state: toStateText(reading.state) });
      for (const reference of reading.references ?? []) {
        if (seen.has(entityKey(reference)) || !onReference(reference)) continue;
        seen.add(entityKey(reference));
        queue.push(reference);
      }
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      failed.push({ ref, error });
    }
    onDone?.(read.length + failed.length, queue.length);
  }

  await runAll(queue, readOne);
  return { read, failed };
}

/** Processes a growing queue, CONCURRENCY items at a time; the first failure ends it. */
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
      while (next < queue.length && busy < CONCURRENCY && !isOver) {
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

/** Includes what decoding throws for malformed return data. */
function isUnreadable(error: unknown): error is Error {
  return (
    error instanceof UnreadableEntity ||
    error instanceof RangeError ||
    error instanceof TypeError ||
    error instanceof SyntaxError
  );
}

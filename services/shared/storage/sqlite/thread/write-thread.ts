import type { Worker } from "node:worker_threads";
import { createThread, createThreadClient } from "../../../process/thread-work.ts";
import { startWithSemiSpace } from "../../../process/v8-flags.ts";
import { isDamaged } from "../../damage.ts";
import { ConflictError } from "../../port.ts";
import type { SqliteOptions } from "../open-connection.ts";
import type { Operation } from "../operations.ts";
import { BlockPool } from "../packed/blocks.ts";
import type { Change } from "../sql.ts";
import { type PackedOperation, packOperations, unpackOperation } from "./operation-packer.ts";

/** The first message to the thread: the file. */
export type WriteTask = Pick<SqliteOptions, "path" | "logBytes" | "busyTimeoutMs">;

/** One transaction, one statement, or the end: the thread closes its connection before it is ended. */
export type WriteRequest =
  | { readonly kind: "write"; readonly operations: readonly PackedOperation[] }
  | { readonly kind: "change"; readonly statement: Change }
  | { readonly kind: "close" };

/** Of an error only plain data crosses threads. */
export interface WriteFailure {
  readonly message: string;
  /** Of a ConflictError. */
  readonly collection?: string;
  /** SQLite's. */
  readonly errcode?: number;
}

/** Its texts live as long as one call of the driver. */
const SEMI_SPACE_MB = 1;

export interface WriteThreadOptions {
  /** Writes in this thread: until the other is up, and what it had not finished when it died. Every write can be repeated. */
  readonly here: (operations: readonly Operation[]) => Promise<void>;
  /** Runs a statement in this thread, as `here`; returns how many rows it changed. */
  readonly changeHere: (statement: Change) => Promise<number>;
  /** The thread has died, for this reason. */
  readonly onFailure: (reason: string) => void;
  /** Where rows wait for the thread. */
  readonly pool?: BlockPool;
  /** Injected by tests. */
  readonly startWorker?: () => Worker;
}

export interface WriteThread {
  run(operations: readonly Operation[]): Promise<void>;
  /**
   * Runs one statement after what was asked for before it; returns how many rows it changed. Where the thread dies it may be
   * run twice.
   */
  change(statement: Change): Promise<number>;
  close(): Promise<void>;
}

/** Writes to a file in a thread of its own, with a connection of its own, one write at a time. */
export function startWriteThread(
  { path, logBytes, busyTimeoutMs, onDamage }: SqliteOptions,
  { here, changeHere, onFailure, pool = new BlockPool(), startWorker = startWriteWorker }: WriteThreadOptions,
): WriteThread {
  const task: WriteTask = {
    path,
    ...(logBytes !== undefined && { logBytes }),
    ...(busyTimeoutMs !== undefined && { busyTimeoutMs }),
  };
  const thread = createThreadClient<WriteRequest>({
    worker: startWorker(),
    task,
    async fallback(request) {
      if (request.kind === "write") return here(request.operations.map(unpackOperation));
      if (request.kind === "change") return changeHere(request.statement);
    },
    toError: (failure) => toError(failure as WriteFailure, onDamage),
    onMessage: () => {},
    onFailure,
    closedError: () => new Error("Cannot use the writer: it is closed"),
  });
  return {
    async run(operations) {
      const { packed, release } = packOperations(operations, pool);
      try {
        await thread.request({ kind: "write", operations: packed });
      } finally {
        release();
      }
    },
    async change(statement) {
      return (await thread.request({ kind: "change", statement })) as number;
    },
    async close() {
      await thread.request({ kind: "close" });
      await thread.close();
    },
  };
}

export function startWriteWorker(): Worker {
  return startWithSemiSpace(SEMI_SPACE_MB, () => createThread("write.worker", import.meta.url));
}

function toError({ message, collection, errcode }: WriteFailure, onDamage = (_: unknown) => {}): Error {
  if (collection !== undefined) return new ConflictError(collection);
  const error = Object.assign(new Error(message), { errcode });
  if (isDamaged(error)) onDamage(error);
  return error;
}

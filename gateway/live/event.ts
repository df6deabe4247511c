import type { BlockRef } from "../../services/shared/grpc/types.ts";

/** The block (slot) that an event's table is of. */
export interface TableHead extends BlockRef {
  readonly chain: number;
  /** Unix seconds. */
  readonly time: number;
}

export type EventName = "snapshot" | "change" | "reorg" | "head" | "error" | "end";

/** One server-sent event. Data is one line of JSON, so that no line of it can be taken for another field. */
export function toEvent(name: EventName, data: unknown, id?: string): Buffer {
  const idLine = id === undefined ? "" : `id: ${id}\n`;
  return Buffer.from(`${idLine}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** A comment: keeps the connection open behind proxies, and shows a client that it is. */
export const HEARTBEAT = Buffer.from(":\n\n");

/** The pause before a browser connects again. */
export function toRetry(milliseconds: number): string {
  return `retry: ${milliseconds}\n\n`;
}

/** What an id says: the block that the client has, and by its entity tag which state of the table. */
export interface EventId extends BlockRef {
  readonly chain: number;
  readonly tag: string;
}

const ID = /^(\d{1,16})-(\d{1,16})-([A-Za-z0-9]{1,100})-([A-Za-z0-9_-]{1,100})$/;

/** `<chain>-<block>-<hash>-<tag>`; Solana is chain 0. */
export function toEventId({ chain, block, hash }: TableHead, etag: string): string {
  return `${chain}-${block}-${hash}-${etag.replace(/^W\/|"/g, "")}`;
}

/** Undefined for what is no id of ours. */
export function parseEventId(text: string | undefined): EventId | undefined {
  const [, chain, block, hash, tag] = ID.exec(text ?? "") ?? [];
  if (hash === undefined || tag === undefined) return undefined;
  return { chain: Number(chain), block: Number(block), hash, tag };
}

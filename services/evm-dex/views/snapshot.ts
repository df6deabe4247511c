import { VERSION } from "../../shared/process/version.ts";
import type { CheckpointRow } from "../store/collections.ts";

/** A view's row of one pool as it was at one checkpoint, kept outside the store. */
export interface Snapshot<R extends object = object> {
  /** Family of the pool: endpoints of other families do not serve it. */
  readonly family: string;
  readonly row: R;
  /** Unix milliseconds. */
  readonly computedAtMs: number;
}

/** What a row depends on: a checkpoint with the same parts gives the same row. */
export type SnapshotHead = Pick<CheckpointRow, "blockHash" | "fromBlock" | "fromTime">;

export interface PoolViewKey {
  readonly chainId: number;
  readonly poolAddress: string;
  readonly view: string;
}

/** Lifetime of a snapshot that is not replaced. It is valid until the next block, which may take long. */
export const SNAPSHOT_TTL_MS = 600_000;

/** Pools requested within this time are hot. At most `keep` are remembered per chain. */
export const REQUESTED = { ttlMs: 3_600_000, keep: 20_000 } as const;

export function snapshotKey({ chainId, poolAddress, view }: PoolViewKey): string {
  return `evm-dex:pool:${chainId}:${poolAddress}:${view}`;
}

/** Key of the set of pools requested on a chain; its members come from `requestedMember`. */
export function requestedSet(chainId: number): string {
  return `evm-dex:asked:${chainId}`;
}

export function requestedMember({ poolAddress, view }: Omit<PoolViewKey, "chainId">): string {
  return `${poolAddress} ${view}`;
}

/** Undefined for a malformed member. */
export function parseRequestedMember(member: string): Omit<PoolViewKey, "chainId"> | undefined {
  const [poolAddress, view, ...more] = member.split(" ");
  if (poolAddress === undefined || view === undefined || more.length > 0) return undefined;
  return { poolAddress, view };
}

/** First key of a stored snapshot, as earlier versions wrote it: the head of its row. */
const HEAD_KEY = "of";

/** Compact JSON. Throws where the row holds a number that JSON cannot represent (NaN, infinities). */
export function writeSnapshot(snapshot: Snapshot, head: SnapshotHead): string {
  const { family, row, computedAtMs } = snapshot;
  return JSON.stringify({ [HEAD_KEY]: headId(head), family, computedAtMs, row }, (key, value) => {
    if (typeof value === "bigint") return { bigint: `${value}` };
    if (typeof value === "number" && !Number.isFinite(value)) {
      throw new Error(`Cannot write a snapshot: ${key} holds ${value}.`);
    }
    return value;
  });
}

/**
 * The snapshot, or undefined where it is of another head: another block, another branch, an index that begins
 * elsewhere, or another version of this software, whose rows may look different. Throws on malformed text.
 */
export function readSnapshot<R extends object>(text: string, head: SnapshotHead): Snapshot<R> | undefined {
  // The first bytes reject most obsolete snapshots.
  if (!text.startsWith(`{"${HEAD_KEY}":${JSON.stringify(headId(head))},`)) {
    if (!text.startsWith(`{"${HEAD_KEY}":"`)) throw new Error("The stored snapshot is malformed.");
    return undefined;
  }
  const { family, computedAtMs, row } = JSON.parse(text, (_key, value) =>
    typeof value === "object" && value !== null && typeof value.bigint === "string"
      ? BigInt(value.bigint)
      : value,
  );
  if (typeof family !== "string" || typeof row !== "object" || row === null) {
    throw new Error("The stored snapshot is malformed.");
  }
  return { family, computedAtMs: Number(computedAtMs), row };
}

function headId({ blockHash, fromBlock, fromTime }: SnapshotHead): string {
  return `${VERSION} ${blockHash} ${fromBlock} ${fromTime}`;
}

import { VERSION } from "../../shared/process/version.ts";
import type { CheckpointRow } from "../store/collections.ts";

/** A view's row of one pool as it was at one checkpoint, kept outside the store. */
export interface Snapshot<R extends object = object> {
  /** Whose pool it is: an endpoint of another family has none there. */
  readonly family: string;
  readonly row: R;
  /** Unix milliseconds. */
  readonly computedAtMs: number;
}

/** What a row stands on: a checkpoint with the same parts gives the same row. */
export type SnapshotHead = Pick<CheckpointRow, "blockHash" | "fromBlock" | "fromTime">;

export interface PoolViewKey {
  readonly chainId: number;
  readonly poolAddress: string;
  readonly view: string;
}

/** How long a snapshot nobody replaced is kept. It is of use until the next block, which may be long in coming. */
export const SNAPSHOT_TTL_MS = 600_000;

/** Pools asked for within this time are hot. At most so many are remembered for a chain. */
export const REQUESTED = { ttlMs: 3_600_000, keep: 20_000 } as const;

export function snapshotKey({ chainId, poolAddress, view }: PoolViewKey): string {
  return `evm-dex:pool:${chainId}:${poolAddress}:${view}`;
}

/** The set of what was asked for on a chain; its members are made by `askedMember`. */
export function requestedSet(chainId: number): string {
  return `evm-dex:asked:${chainId}`;
}

export function requestedMember({ poolAddress, view }: Omit<PoolViewKey, "chainId">): string {
  return `${poolAddress} ${view}`;
}

/** Undefined for what is no member of ours. */
export function parseRequestedMember(member: string): Omit<PoolViewKey, "chainId"> | undefined {
  const [poolAddress, view, ...more] = member.split(" ");
  if (poolAddress === undefined || view === undefined || more.length > 0) return undefined;
  return { poolAddress, view };
}

/** Compact JSON. Throws where the row holds a number that JSON would change (NaN, infinities). */
export function writeSnapshot(snapshot: Snapshot, head: SnapshotHead): string {
  const { family, row, computedAtMs } = snapshot;
  return JSON.stringify({ of: headId(head), family, computedAtMs, row }, (key, value) => {
    if (typeof value === "bigint") return { bigint: `${value}` };
    if (typeof value === "number" && !Number.isFinite(value)) {
      throw new Error(`Cannot write a snapshot: ${key} holds ${value}.`);
    }
    return value;
  });
}

/**
 * The snapshot, or undefined where it is of another head: another block, another branch, an index that begins
 * elsewhere, or another version of this software, whose rows may look different. Throws on what is no snapshot.
 */
export function readSnapshot<R extends object>(text: string, head: SnapshotHead): Snapshot<R> | undefined {
  // Most that are of no use are told by their first bytes.
  if (!text.startsWith(`{"of":${JSON.stringify(headId(head))},`)) {
    if (!text.startsWith('{"of":"')) throw new Error("What is kept as a snapshot is none.");
    return undefined;
  }
  const { family, computedAtMs, row } = JSON.parse(text, (_key, value) =>
    typeof value === "object" && value !== null && typeof value.bigint === "string"
      ? BigInt(value.bigint)
      : value,
  );
  if (typeof family !== "string" || typeof row !== "object" || row === null) {
    throw new Error("What is kept as a snapshot is none.");
  }
  return { family, computedAtMs: Number(computedAtMs), row };
}

function headId({ blockHash, fromBlock, fromTime }: SnapshotHead): string {
  return `${VERSION} ${blockHash} ${fromBlock} ${fromTime}`;
}

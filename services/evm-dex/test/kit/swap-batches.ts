/** Swaps of two pools as an ingest adds them, and what a store must then have of their users and buckets. */
import { expect } from "chai";
import fc from "fast-check";
import type { Store } from "../../../shared/storage/port.ts";
import type { PreviousSwap } from "../../ingest/state/bucket-book.ts";
import { SPANS, type Span } from "../../metrics/bucket.ts";
import { poolUsers, rollups } from "../../store/collections.ts";
import { address, CHAIN_ID } from "./rows.ts";
import { anyHead, type ModelSwap, modelBuckets, swapsBefore } from "./swap-model.ts";

export const POOL = address(0x900);
export const OTHER = address(0x901);

export interface Batch {
  readonly swaps: readonly (ModelSwap & { poolAddress: string })[];
  /** Whether the ingest is started anew after it. */
  readonly restart: boolean;
}

/** Swaps of two pools in the order of time, in batches. */
export const anyBatches: fc.Arbitrary<Batch[]> = anyHead
  .chain((head) =>
    fc.tuple(
      swapsBefore(head, { age: 3 * 86_400, unpriced: true }),
      fc.array(fc.record({ size: fc.integer({ min: 1, max: 12 }), restart: fc.boolean() }), {
        minLength: 1,
        maxLength: 5,
      }),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }),
    ),
  )
  .map(([list, turns, pools]) => {
    const swaps = list.map((swap, i) => ({ ...swap, poolAddress: pools[i % pools.length] ? POOL : OTHER }));
    const batches: Batch[] = [];
    for (let at = 0; at < swaps.length; ) {
      const { size, restart } = turns[batches.length % turns.length] as (typeof turns)[0];
      batches.push({ swaps: swaps.slice(at, at + size), restart });
      at += size;
    }
    return batches;
  });

export const swapsOf = (batches: readonly Batch[]) => batches.flatMap(({ swaps }) => swaps);

export async function expectModel(
  store: Store,
  {
    poolAddress,
    swaps,
    spans = SPANS,
  }: {
    poolAddress: string;
    swaps: readonly (ModelSwap & { poolAddress: string })[];
    spans?: readonly Span[];
  },
): Promise<void> {
  const own = swaps.filter((swap) => swap.poolAddress === poolAddress);
  for (const span of spans) {
    const rows = await store.find(rollups, { filter: { chainId: CHAIN_ID, poolAddress, span } });
    const expected = modelBuckets(own, span).map((bucket) => ({
      chainId: CHAIN_ID,
      poolAddress,
      span,
      ...bucket,
    }));
    expect(rows, `span ${span}`).to.deep.equal(expected);
    const users = rows.reduce((sum, { lastSeenUsers }) => sum + lastSeenUsers, 0);
    expect(users, `users of span ${span}`).to.equal(new Set(own.map(({ user }) => user)).size);
  }
  const users = await store.find(poolUsers, { filter: { chainId: CHAIN_ID, poolAddress } });
  const lastMinutes = new Map(own.map(({ user, time }) => [user, time - (time % 60)]));
  expect(new Map(users.map(({ user, lastMinute }) => [user, lastMinute]))).to.deep.equal(lastMinutes);
}

/** Expects all that follows from batches: buckets, users, and what was told of each swap. */
export async function expectCounted(
  store: Store,
  { batches, told }: { batches: readonly Batch[]; told: readonly PreviousSwap[] },
): Promise<void> {
  const swaps = swapsOf(batches);
  for (const poolAddress of [POOL, OTHER]) await expectModel(store, { poolAddress, swaps });
  expect(told).to.deep.equal(swaps.map((swap, i) => previousOf(swaps.slice(0, i), swap)));
}

/** From the whole list before: the user's last swap, and who was seen last where this one takes them away from. */
export function previousOf(
  before: readonly (ModelSwap & { poolAddress: string })[],
  swap: { user: string; poolAddress: string; time: number },
): PreviousSwap {
  const lastOf = new Map(
    before
      .filter(({ poolAddress }) => poolAddress === swap.poolAddress)
      .map(({ user, time }) => [user, time] as const),
  );
  const last = lastOf.get(swap.user);
  if (last === undefined) return { minute: null, users: null };
  const left = SPANS.filter((span) => Math.floor(last / span) !== Math.floor(swap.time / span));
  const seen = left.map(
    (span) =>
      [...lastOf.values()].filter((time) => Math.floor(time / span) === Math.floor(last / span)).length,
  );
  return {
    minute: last - (last % 60),
    users: seen.length === 0 ? null : seen.map((count) => count.toString(16)).join(" "),
  };
}

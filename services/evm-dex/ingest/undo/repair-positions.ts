import { put, remove, type Store, type WriteStep } from "../../../shared/storage/port.ts";
import { type LpPositionRow, lpEvents, lpPositions } from "../../store/v2-collections.ts";
import { getPositions, lastLpEventUpTo } from "../../store/v2-queries.ts";
import type { RollbackTarget } from "./removed.ts";

/** The steps that roll LP positions back to the target: each to its last row up to it, or removed where it has none. */
export async function repairPositions(
  store: Store,
  { chainId, target }: { chainId: number; target: RollbackTarget },
): Promise<WriteStep[]> {
  const removed = await store.find(lpEvents, {
    filter: { chainId, blockNumber: { gt: target.number } },
    fields: ["wallet", "poolAddress"],
  });
  const holdings = new Map(
    removed.map(({ wallet, poolAddress }) => [`${poolAddress}:${wallet}`, { wallet, poolAddress }]),
  );
  const stored = await getPositions(store, { chainId, positions: [...holdings.values()] });
  const kept: LpPositionRow[] = [];
  for (const row of stored) {
    const { wallet, poolAddress } = row;
    const last = await lastLpEventUpTo(store, {
      chainId,
      wallet,
      poolAddress,
      block: target.number,
      time: target.time,
    });
    if (last === undefined) continue;
    holdings.delete(`${poolAddress}:${wallet}`);
    kept.push({ ...row, position: last.position, lastTime: last.time, lastBlock: last.blockNumber });
  }
  return [
    put(lpPositions, kept),
    remove(
      lpPositions,
      [...holdings.values()].map((holding) => ({ chainId, ...holding })),
    ),
  ];
}

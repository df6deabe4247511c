import { type PoolEventRow, poolEvents } from "../store/collections.ts";
import { OLDEST_FIRST } from "../store/queries.ts";
import { compareValues, type Finding } from "./finding.ts";
import type { AuditRpc } from "./rpc.ts";
import type { PoolScope } from "./scope.ts";

/** The senders of some events against the receipts of their transactions. */
export async function checkSenders(
  { pick, pool, sampling, store }: PoolScope,
  rpc: AuditRpc,
): Promise<Finding[]> {
  const filter = { chainId: pool.chainId, poolAddress: pool.poolAddress };
  const count = await store.count(poolEvents, filter);
  const rows: PoolEventRow[] = [];
  if (count <= sampling.transactions) rows.push(...(await store.find(poolEvents, { filter })));
  for (let i = 0; count > sampling.transactions && i < sampling.transactions; i++)
    rows.push(
      ...(await store.find(poolEvents, { filter, order: OLDEST_FIRST, skip: pick(count), limit: 1 })),
    );
  const hashes = [...new Set(rows.map((row) => row.txHash))];
  const receipts = await rpc.receipts(hashes);
  const senderOf = new Map(hashes.map((hash, i) => [hash, receipts[i]?.from]));
  return rows.map((row) =>
    compareValues(
      { pool: pool.poolAddress, at: `block ${row.blockNumber}, log ${row.logIndex}` },
      { field: "pool_events.sender", stored: row.sender, expected: senderOf.get(row.txHash) },
    ),
  );
}

import type { EvmSource } from "../../../shared/evm/port.ts";
import type { BlockBatch } from "../fetch/block-batch.ts";
import type { Indexer } from "../state/indexer.ts";

/**
 * Anchors positions in pools older than the index that a batch touches first: reads what the wallet held and had
 * staked just before that block. Where no node has that state the position starts empty. Pools must be anchored
 * before. A position without an event since the index began is not indexed.
 */
export async function anchorPositions(
  source: EvmSource,
  { indexer, batch, fromBlock }: { indexer: Indexer; batch: Pick<BlockBatch, "blocks">; fromBlock: number },
): Promise<void> {
  const absent = await indexer.preparePositions(batch.blocks);
  const requests = absent.flatMap((holding) => {
    const entry = indexer.pools.get(holding.poolAddress);
    if (entry === undefined || entry.row.createdBlock >= fromBlock) return [];
    const { protocol, row: pool, anchor } = entry;
    const state = anchor === undefined ? undefined : protocol.read(anchor);
    const calls = protocol.lpTokens?.anchorCalls(holding.wallet, { state, pool, block: holding.block - 1 });
    return calls === undefined ? [] : [{ holding, protocol, state, calls }];
  });
  if (requests.length === 0) return;
  const results = await source.call(requests.flatMap(({ calls }) => calls));
  let at = 0;
  for (const { holding, protocol, state, calls } of requests) {
    const own = results.slice(at, at + calls.length);
    at += calls.length;
    const position = protocol.lpTokens?.anchor(own, state);
    if (position !== undefined) indexer.positions.anchor(holding, position);
  }
}

import { setImmediate as nextTurn } from "node:timers/promises";
import { put, remove, removeWhere, type Store, type WriteStep } from "../../../shared/storage/port.ts";
import { feedAnswers, type PriceLinkRow, priceLinks, priceStarts } from "../../store/collections.ts";
import { toLinkRow } from "../../store/price-links.ts";
import type { MergedStores } from "./merge-buckets.ts";
import { ROWS_A_WRITE } from "./newest-rows.ts";

/**
 * First steps: what the index started from is put whole into the block before it. Whatever is put before that block
 * changes no price of the index then: its first blocks rest on what it started from, and stay as they are.
 * @param ended the chunk's last links
 */
export async function holdStart(
  { main, chunk, fromTime }: MergedStores,
  ended: ReadonlyMap<string, PriceLinkRow>,
): Promise<WriteStep[]> {
  const { chainId, to } = chunk;
  const started = await lastLinks(main, { chainId, to });
  const edge = { chainId, blockNumber: to, time: fromTime };
  const held = [...started.values()].map((row) => ({ ...row, ...edge }));
  for (const [token, { price }] of ended)
    if (!started.has(token) && price !== 0) held.push(toLinkRow({ token, link: undefined }, edge));
  return [removeWhere(priceLinks, { chainId, blockNumber: { lte: to } }), put(priceLinks, held)];
}

/** First steps where nobody is told the index's first blocks: the chunk's last links take the place of what it started from. */
export function dropStart({ chunk: { chainId, to } }: MergedStores): WriteStep[] {
  return [removeWhere(priceLinks, { chainId, blockNumber: { lte: to } })];
}

/** The chunk's links before its last block, a write's worth at a time. */
export async function* pastLinks({ past, chunk }: MergedStores): AsyncGenerator<WriteStep> {
  for await (const page of linkPages(past, { chainId: chunk.chainId, to: chunk.to - 1 }))
    yield put(priceLinks, page);
}

/** Last steps: what the index started from goes where it is what the chunk ended with. */
export async function releaseStart(
  { main, chunk }: MergedStores,
  ended: ReadonlyMap<string, PriceLinkRow>,
): Promise<WriteStep[]> {
  const { chainId, to } = chunk;
  const held = await main.find(priceLinks, { filter: { chainId, blockNumber: to } });
  const same = held.filter((row) => isSameLink(row, ended.get(row.token)));
  const own = same.flatMap(({ token }) => {
    const last = ended.get(token);
    return last?.blockNumber === to ? [last] : [];
  });
  return [
    remove(
      priceLinks,
      same.map(({ token }) => ({ chainId, token, blockNumber: to })),
    ),
    put(priceLinks, own),
  ];
}

/** What feeds said in the chunk, and what it started from. */
export async function mergeAnswers({ past, chunk: { chainId, to } }: MergedStores): Promise<WriteStep[]> {
  const before = { chainId, blockNumber: { lte: to } };
  return [
    removeWhere(feedAnswers, before),
    put(feedAnswers, await past.find(feedAnswers, { filter: before })),
    put(priceStarts, await past.find(priceStarts, { filter: { chainId } })),
  ];
}

/** The last link of every token up to a block. */
export async function lastLinks(
  store: Store,
  { chainId, to }: { chainId: number; to: number },
): Promise<Map<string, PriceLinkRow>> {
  const last = new Map<string, PriceLinkRow>();
  for await (const page of linkPages(store, { chainId, to }))
    for (const row of page) last.set(row.token, row);
  return last;
}

/** All links up to a block, by block; a day of Base has half a million, so the event loop turns between pages. */
async function* linkPages(
  store: Store,
  { chainId, to }: { chainId: number; to: number },
): AsyncGenerator<PriceLinkRow[]> {
  for (let from = -1; ; ) {
    await nextTurn();
    const page = await store.find(priceLinks, {
      filter: { chainId, blockNumber: { gt: from, lte: to } },
      order: [{ field: "blockNumber", direction: "asc" }],
      limit: ROWS_A_WRITE,
    });
    if (page.length < ROWS_A_WRITE) {
      yield page;
      return;
    }
    // The last block may go on beyond the page.
    const end = page.at(-1)?.blockNumber as number;
    const whole = page.filter(({ blockNumber }) => blockNumber < end);
    yield whole.length > 0 ? whole : await store.find(priceLinks, { filter: { chainId, blockNumber: end } });
    from = whole.length > 0 ? end - 1 : end;
  }
}

/** Whether both say the same of a token, whenever they say it. No row says that it has no price. */
function isSameLink(held: PriceLinkRow, ended: PriceLinkRow | undefined): boolean {
  if (ended === undefined) return held.price === 0;
  return textOf(held) === textOf(ended);
}

function textOf({ blockNumber: _, time: __, ...link }: PriceLinkRow): string {
  return JSON.stringify(Object.entries(link).sort());
}

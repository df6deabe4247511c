import type { Store } from "../../shared/storage/port.ts";
import type { LinkChange, MarkedPrices } from "../price/graph.ts";
import { isAnchor, type PriceLink, priceFrom, type TokenLink, type TokenPrice } from "../price/link.ts";
import { lastMark } from "../price/marks.ts";
import { type PriceLinkRow, priceLinks } from "./collections.ts";

interface LinkPlace {
  readonly chainId: number;
  readonly blockNumber: number;
  /** Unix seconds. */
  readonly time: number;
}

/** A whole literal: hundreds a block, and on Node 20 fields after a spread cost 20 times as much (docs/decisions/0084). */
export function toLinkRow({ token, link }: LinkChange, at: LinkPlace): PriceLinkRow {
  const { chainId, blockNumber, time } = at;
  const path = link === undefined || isAnchor(link) ? undefined : link;
  const ownUsd = link !== undefined && isAnchor(link) ? link.anchorUsd : 0;
  return {
    chainId,
    blockNumber,
    time,
    token,
    parent: path?.parent ?? "",
    pool: path?.pool ?? "",
    side: path?.side ?? 0,
    price: path?.price ?? ownUsd,
    hops: path?.hops ?? 0,
    deepestPool: path?.support.pool ?? "",
    depthUsd: path?.support.depthUsd ?? 0,
    restUsd: path?.support.restUsd ?? 0,
    departedAt: path?.departure?.since ?? null,
    departedUsd: path?.departure?.usd ?? null,
    agreedUsd: path?.agreedUsd ?? null,
  };
}

/** The anchors of a chain, from this block on. */
export function toAnchorRows(anchors: readonly string[], at: LinkPlace): PriceLinkRow[] {
  return anchors.map((token) => toLinkRow({ token, link: { anchorUsd: 1 } }, at));
}

/** undefined: no price. */
export function toLink(row: PriceLinkRow): TokenLink | undefined {
  const { token, parent, pool, side, price, hops, deepestPool, depthUsd, restUsd } = row;
  if (pool === "") return price > 0 ? { anchorUsd: price } : undefined;
  const { departedAt, departedUsd, agreedUsd } = row;
  return {
    token,
    parent,
    pool,
    side: side as 0 | 1,
    price,
    hops,
    support: { pool: deepestPool, depthUsd, restUsd },
    departure:
      departedAt === null || departedUsd === null ? undefined : { since: departedAt, usd: departedUsd },
    agreedUsd: agreedUsd ?? undefined,
  };
}

/** A price as it is stored. */
export interface StoredPrice extends TokenPrice {
  /** Unix seconds since which no link that it rests on has changed. */
  readonly changedAt: number;
}

/**
 * USD prices of tokens at the end of a block, by token; those without a price are left out. Takes as many rounds of
 * reads as the longest path has tokens, for any number of tokens.
 */
export async function readPrices(
  store: Store,
  query: { chainId: number; tokens: Iterable<string>; block: number },
): Promise<Map<string, StoredPrice>> {
  const tokens = new Set(query.tokens);
  const times = new Map<string, number>();
  const links = await readLinks(store, { ...query, tokens, onRow: (row) => times.set(row.token, row.time) });
  const prices = new Map<string, StoredPrice>();
  for (const token of tokens) {
    const price = priceFrom(token, (name) => links.get(name));
    if (price === undefined) continue;
    let changedAt = times.get(token) ?? 0;
    for (let { link } = price; link !== undefined; ) {
      changedAt = Math.max(changedAt, times.get(link.parent) ?? 0);
      const parent = links.get(link.parent);
      link = parent === undefined || isAnchor(parent) ? undefined : parent;
    }
    prices.set(token, { ...price, changedAt });
  }
  return prices;
}

/** The links of tokens at the end of a block, and of those they rest on, but for known ones. */
export async function readLinks(
  store: Store,
  query: {
    chainId: number;
    tokens: ReadonlySet<string>;
    block: number;
    known?: Pick<ReadonlyMap<string, unknown>, "has">;
    onRow?: (row: PriceLinkRow) => void;
  },
): Promise<Map<string, TokenLink | undefined>> {
  const { chainId, known } = query;
  const links = new Map<string, TokenLink | undefined>();
  for (let wanted = query.tokens; wanted.size > 0; ) {
    const keys = [...wanted].map((token) => ({ chainId, token, blockNumber: query.block }));
    for (const token of wanted) links.set(token, undefined);
    const rows = await store.getLast(priceLinks, keys);
    for (const row of rows) {
      links.set(row.token, toLink(row));
      query.onRow?.(row);
    }
    wanted = parentsOf(
      rows.map((row) => links.get(row.token)),
      (token) => links.has(token) || known?.has(token) === true,
    );
  }
  return links;
}

/** Tokens looked up at once. */
const PAGE = 1_000;

/** The links of many tokens as they were stored last; those without a price are left out. */
export async function readLastLinks(
  store: Store,
  { chainId, tokens }: { chainId: number; tokens: Iterable<string> },
): Promise<Map<string, TokenLink>> {
  const links = new Map<string, TokenLink>();
  let keys: { chainId: number; token: string; blockNumber: number }[] = [];
  const readPage = async () => {
    for (const row of await store.getLast(priceLinks, keys)) {
      const link = toLink(row);
      if (link !== undefined) links.set(row.token, link);
    }
    keys = [];
  };
  for (const token of tokens) {
    keys.push({ chainId, token, blockNumber: Number.MAX_SAFE_INTEGER });
    if (keys.length === PAGE) await readPage();
  }
  if (keys.length > 0) await readPage();
  return links;
}

/** The latest changed link of each token after a block, up to another. */
export async function findChangedLinks(
  store: Store,
  { chainId, after, upTo }: { chainId: number; after: number; upTo: number },
): Promise<Map<string, TokenLink | undefined>> {
  const rows = await store.find(priceLinks, {
    filter: { chainId, blockNumber: { gt: after, lte: upTo } },
    order: [{ field: "blockNumber", direction: "asc" }],
  });
  return new Map(rows.map((row) => [row.token, toLink(row)]));
}

/**
 * The prices in use at the last mark before a block, whose links are the last ones stored: of the tokens with a price now
 * and of those that have lost it since.
 * @param time Unix seconds of the block
 * @param priced tokens with a price at it
 */
export async function readMarkedPrices(
  store: Store,
  {
    chainId,
    block,
    time,
    priced,
  }: { chainId: number; block: number; time: number; priced: Iterable<string> },
): Promise<MarkedPrices> {
  const usd = new Map<string, number>();
  const [last] = await store.find(priceLinks, {
    filter: { chainId, time: { lt: lastMark(time) } },
    order: [{ field: "blockNumber", direction: "desc" }],
    limit: 1,
    fields: ["blockNumber"],
  });
  if (last === undefined) return { now: time, usd };
  const changed = await findChangedLinks(store, { chainId, after: last.blockNumber, upTo: block });
  const tokens = [...new Set([...priced, ...changed.keys()])];
  for (let from = 0; from < tokens.length; from += PAGE) {
    const page = tokens.slice(from, from + PAGE);
    for (const [token, price] of await readPrices(store, { chainId, tokens: page, block: last.blockNumber }))
      usd.set(token, price.usd);
  }
  return { now: time, usd };
}

/** The tokens that links rest on and that are not known yet. */
export function parentsOf(
  links: Iterable<TokenLink | undefined>,
  isKnown: (token: string) => boolean,
): Set<string> {
  const isLink = (link: TokenLink | undefined): link is PriceLink => link !== undefined && !isAnchor(link);
  const parents = [...links].filter(isLink).map((link) => link.parent);
  return new Set(parents.filter((parent) => !isKnown(parent)));
}

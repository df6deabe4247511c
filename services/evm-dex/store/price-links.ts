import type { Store } from "../../shared/storage/port.ts";
import type { LinkChange } from "../price/graph.ts";
import {
  baseOf,
  type Hop,
  type PriceLink,
  priceFrom,
  type TokenLink,
  type TokenPrice,
} from "../price/link.ts";
import { type PriceLinkRow, priceLinks } from "./collections.ts";

const NO_LINK = {
  parent: "",
  pool: "",
  side: 0,
  price: 0,
  depth: 0,
  detour: null,
  isAnchored: false,
} as const;

export function toLinkRow(change: LinkChange, at: { chainId: number; blockNumber: number }): PriceLinkRow {
  const { token, link } = change;
  const { chainId, blockNumber } = at;
  if (link === undefined) return { chainId, blockNumber, token, ...NO_LINK };
  const { parent, pool, side, price, depth, detour, isAnchored } = link;
  return {
    chainId,
    blockNumber,
    token,
    parent,
    pool,
    side,
    price,
    depth,
    detour: detour.length === 0 ? null : writeDetour(detour),
    isAnchored,
  };
}

/** The anchors of a chain, from this block on. */
export function toAnchorRows(
  anchors: readonly string[],
  at: { chainId: number; blockNumber: number },
): PriceLinkRow[] {
  return anchors.map((token) => ({ ...at, token, ...NO_LINK, price: 1, isAnchored: true }));
}

/** undefined: no price. */
export function toLink(row: PriceLinkRow): TokenLink | undefined {
  const { token, parent, pool, side, price, depth, detour, isAnchored } = row;
  if (pool === "") return isAnchored ? "anchor" : undefined;
  return {
    token,
    parent,
    pool,
    side: side as 0 | 1,
    price,
    depth,
    detour: detour === null ? [] : readDetour(detour),
    isAnchored,
  };
}

function writeDetour(detour: readonly Hop[]): string {
  return JSON.stringify(
    detour.map(({ parent, pool, side, price, depth }) => [parent, pool, side, price, depth]),
  );
}

function readDetour(text: string): Hop[] {
  const hops = JSON.parse(text) as [string, string, 0 | 1, number, number][];
  return hops.map(([parent, pool, side, price, depth]) => ({ parent, pool, side, price, depth }));
}

/**
 * USD prices of tokens at the end of a block, by token; those without a price are left out. Takes as many rounds of
 * reads as the longest path has pools, at most four, for any number of tokens.
 */
export async function readPrices(
  store: Store,
  query: { chainId: number; tokens: Iterable<string>; block: number },
): Promise<Map<string, TokenPrice>> {
  const tokens = new Set(query.tokens);
  const links = await readLinks(store, { ...query, tokens });
  const prices = new Map<string, TokenPrice>();
  for (const token of tokens) {
    const price = priceFrom(token, (name) => links.get(name));
    if (price !== undefined) prices.set(token, price);
  }
  return prices;
}

/** The links of tokens at the end of a block, and of their bases, but for known ones. */
export async function readLinks(
  store: Store,
  {
    chainId,
    block,
    known,
    tokens,
  }: {
    chainId: number;
    tokens: ReadonlySet<string>;
    block: number;
    known?: ReadonlyMap<string, TokenLink | undefined>;
  },
): Promise<Map<string, TokenLink | undefined>> {
  const links = new Map<string, TokenLink | undefined>();
  for (let wanted = tokens; wanted.size > 0; ) {
    const keys = [...wanted].map((token) => ({ chainId, token, blockNumber: block }));
    for (const token of wanted) links.set(token, undefined);
    const rows = await store.getLast(priceLinks, keys);
    for (const row of rows) links.set(row.token, toLink(row));
    wanted = basesOf(
      rows.map((row) => links.get(row.token)),
      (base) => links.has(base) || known?.has(base) === true,
    );
  }
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

/** The bases of links that are not known yet. */
export function basesOf(
  links: Iterable<TokenLink | undefined>,
  isKnown: (token: string) => boolean,
): Set<string> {
  const isOpen = (link: TokenLink | undefined): link is PriceLink =>
    typeof link === "object" && !link.isAnchored;
  return new Set(
    [...links]
      .filter(isOpen)
      .map(baseOf)
      .filter((base) => !isKnown(base)),
  );
}

import type { Pacer } from "../../../shared/service/pacer.ts";
import type { OrderBy, Store } from "../../../shared/storage/port.ts";
import { type TokenRow, tokenFragments, tokens } from "../../store/token-collections.ts";
import { FRAGMENT_LENGTH } from "../../store/token-search.ts";

/** Candidates read together. */
const CANDIDATES_PER_READ = 500;

type TokenKey = Pick<TokenRow, "symbol" | "number">;
const BY_SYMBOL: readonly OrderBy<TokenRow>[] = [
  { field: "symbol", direction: "asc" },
  { field: "number", direction: "asc" },
];

export interface TokenPage {
  /** Only tokens whose symbol or name contains it, in any letter case. */
  readonly filter?: string | undefined;
  readonly skip: number;
  readonly limit: number;
  readonly pacer: Pacer;
}

/** A page of the known tokens by symbol, then by when they were first seen: copies of a token come after it. */
export async function findTokens(store: Store, query: TokenPage): Promise<TokenRow[]> {
  const { skip, limit } = query;
  if (query.filter === undefined) {
    // Skipping uses the index; only the page's tokens are read.
    const order = BY_SYMBOL;
    return readInOrder(store, await store.find(tokens, { order, skip, limit, fields: ["symbol", "number"] }));
  }
  const wanted = query.filter.toLowerCase();
  const characters = Array.from(wanted);
  if (characters.length <= FRAGMENT_LENGTH)
    return readInOrder(store, await findByFragment(store, { fragment: wanted, skip, limit }));
  return findByComparing(store, { ...query, wanted, characters });
}

async function findByFragment(
  store: Store,
  query: { fragment: string; from?: string | undefined; skip: number; limit: number },
): Promise<TokenKey[]> {
  const { fragment, from, skip, limit } = query;
  const found = await store.find(tokenFragments, {
    filter: { fragment, ...(from !== undefined && { symbol: { gte: from } }) },
    order: [
      { field: "symbol", direction: "asc" },
      { field: "token", direction: "asc" },
    ],
    fields: ["symbol", "token"],
    via: tokenFragments.key,
    skip,
    limit,
  });
  return found.map(({ symbol, token }) => ({ symbol, number: token }));
}

/** Longer texts: reads tokens with the rarest fragment of the text, and compares them. */
async function findByComparing(
  store: Store,
  query: TokenPage & { wanted: string; characters: readonly string[] },
): Promise<TokenRow[]> {
  const fragment = await rarestFragment(store, query.characters);
  const found: TokenRow[] = [];
  if (fragment === undefined) return found;
  let passed = 0;
  let skip = 0;
  for (let from: string | undefined; ; ) {
    const keys = await findByFragment(store, { fragment, from, skip, limit: CANDIDATES_PER_READ });
    for (const token of await readInOrder(store, keys)) {
      if (!holds(token, query.wanted) || passed++ < query.skip) continue;
      found.push(token);
      if (found.length === query.limit) return found;
    }
    const last = keys[CANDIDATES_PER_READ - 1];
    if (last === undefined) return found;
    // The next ones have the last one's symbol, or a later one.
    const ofSymbol = keys.filter(({ symbol }) => symbol === last.symbol).length;
    skip = last.symbol === from ? skip + ofSymbol : ofSymbol;
    from = last.symbol;
    await query.pacer.step();
  }
}

/** Undefined if no token has one of them. */
async function rarestFragment(store: Store, characters: readonly string[]): Promise<string | undefined> {
  const fragments = new Set<string>();
  for (let at = 0; at + FRAGMENT_LENGTH <= characters.length; at++)
    fragments.add(characters.slice(at, at + FRAGMENT_LENGTH).join(""));
  let rarest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const fragment of fragments) {
    const count = await store.count(tokenFragments, { fragment }, { via: tokenFragments.key });
    if (count === 0) return undefined;
    if (count < least) [rarest, least] = [fragment, count];
  }
  return rarest;
}

function holds({ symbol, name }: TokenRow, wanted: string): boolean {
  return symbol.toLowerCase().includes(wanted) || name.toLowerCase().includes(wanted);
}

async function readInOrder(store: Store, keys: readonly TokenKey[]): Promise<TokenRow[]> {
  if (keys.length === 0) return [];
  const rows = await store.find(tokens, { filter: { number: { in: keys.map(({ number }) => number) } } });
  const byNumber = new Map(rows.map((row) => [row.number, row]));
  return keys.flatMap(({ number }) => byNumber.get(number) ?? []);
}

import { expect } from "chai";
import { segments } from "../store/collections.ts";
import {
  type HolderRow,
  holderAccounts,
  holderRequests,
  holders,
  type TokenRow,
  tokenFragments,
  tokens,
} from "../store/token-collections.ts";

type Contents = Record<string, unknown[]>;

/** An index that read accounts while it ran equals one that read none, as far as the chain's blocks alone decide. */
export function expectEqualIndexes(found: Contents, fresh: Contents): void {
  const read = (found[tokens.name] as TokenRow[]).filter(({ holdersSlot }) => holdersSlot !== null);
  const left = new Set(read.map(({ mint }) => mint));
  const own = comparable(found, left);
  for (const [name, rows] of Object.entries(comparable(fresh, left)))
    expect(own[name], name).to.deep.equal(rows);
}

/**
 * Without what depends on when accounts were read and slots became final: what tokens' accounts say, who holds tokens
 * whose largest accounts were read, and how far lists are counted.
 */
function comparable(found: Record<string, unknown[]>, read: ReadonlySet<string>): Record<string, unknown[]> {
  const { [segments.name]: _, [tokenFragments.name]: __, [holderRequests.name]: ___, ...rest } = found;
  const all = found[tokens.name] as TokenRow[];
  const left = new Set(all.filter(({ mint }) => read.has(mint)).map(({ number }) => number));
  const moved = (name: string) => (found[name] as HolderRow[]).filter(({ token }) => !left.has(token));
  const met = all
    .filter(({ mint }) => !read.has(mint))
    .map(({ mint, number, decimals, foundSlot, holderCount, held, balanceCounts }) => ({
      ...{ mint, number, decimals, foundSlot, holderCount, held, balanceCounts },
    }));
  return {
    ...rest,
    [tokens.name]: met,
    [holders.name]: moved(holders.name),
    [holderAccounts.name]: moved(holderAccounts.name),
  };
}

import type { Store } from "../../shared/storage/port.ts";
import { isAnchor, priceFrom, type TokenLink, type TokenPrice } from "../price/link.ts";
import { priceLinks } from "./collections.ts";
import { toLink } from "./price-links.ts";
import { RowsByBlock } from "./rows-by-block.ts";

interface TokenAtBlock {
  readonly token: string;
  readonly block: number;
}

/**
 * USD prices of tokens, each at the end of a block of its own: what readPrices says of each block, in as many rounds of
 * reads as the longest path has tokens.
 */
export async function readPricesAtBlocks(
  store: Store,
  { chainId, places }: { chainId: number; places: readonly TokenAtBlock[] },
): Promise<(token: string, block: number) => TokenPrice | undefined> {
  const links = new Map<number, Map<string, TokenLink | undefined>>();
  for (let wanted = places; wanted.length > 0; ) {
    const keys = wanted.map(({ token, block }) => ({ chainId, token, blockNumber: block }));
    const rows = new RowsByBlock(await store.getLast(priceLinks, keys), ({ token }) => token);
    const parents: TokenAtBlock[] = [];
    for (const { token, block } of wanted) {
      const ofBlock = links.get(block) ?? new Map<string, TokenLink | undefined>();
      links.set(block, ofBlock);
      const row = rows.upTo(token, block);
      const link = row === undefined ? undefined : toLink(row);
      ofBlock.set(token, link);
      if (link !== undefined && !isAnchor(link)) parents.push({ token: link.parent, block });
    }
    wanted = parents.filter(({ token, block }) => links.get(block)?.has(token) !== true);
  }
  return (token, block) => priceFrom(token, (name) => links.get(block)?.get(name));
}

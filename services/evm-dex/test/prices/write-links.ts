import { put, type Store } from "../../../shared/storage/port.ts";
import { type PriceLinkRow, priceLinks } from "../../store/collections.ts";
import { toAnchorRows, toLinkRow } from "../../store/price-links.ts";
import { address, CHAIN_ID } from "../kit/rows.ts";

/** A token's link from a block on, `price` in its parent's; without a parent: the end of its price. */
interface LinkAt {
  readonly blockNumber: number;
  readonly token: string;
  readonly parent?: string;
  readonly price?: number;
  readonly depth?: number;
}

/** Stores the anchors as they are from the start, and links. */
export async function writeLinks(
  store: Store,
  {
    chainId = CHAIN_ID,
    anchors,
    links,
  }: { chainId?: number; anchors: readonly string[]; links: readonly LinkAt[] },
): Promise<void> {
  const rows = links.map(({ blockNumber, token, parent, price = 1, depth = 1e6 }): PriceLinkRow => {
    const hops = parent !== undefined && anchors.includes(parent) ? 1 : 2;
    const support = { pool: address(0x900), depthUsd: depth, restUsd: depth };
    const link =
      parent === undefined
        ? undefined
        : { token, parent, price, pool: address(0x900), side: 0 as const, hops, support };
    return toLinkRow({ token, link }, { chainId, blockNumber, time: blockNumber });
  });
  await store.write([
    put(priceLinks, [...toAnchorRows(anchors, { chainId, blockNumber: 0, time: 0 }), ...rows]),
  ]);
}

import type { CuratorRegistry } from "../../curators.ts";
import type { TextColumn } from "../columns/row-columns.ts";
import { StringDictionary } from "../columns/string-dictionary.ts";
import { NO_CURATOR, type VaultColumns } from "./layouts.ts";

/** Who curates each vault, by position. */
export interface Curation {
  readonly curator: TextColumn;
  /** 1 where more than the vault itself says so. */
  readonly curated: Float64Array;
}

/**
 * A vault's curator: the one that a public list attributes it to, else the one that the vault names. The latter is a mere
 * claim of the vault's owner unless the protocol lists the vault, or the curator has made it.
 */
export function findCuration(
  vaults: VaultColumns,
  { curators, chainId }: { curators: CuratorRegistry; chainId: number },
): Curation {
  const [address, claimed] = [vaults.text("address"), vaults.text("curator")];
  const [listed, isOfCurator] = [vaults.number("listed"), vaults.number("isOfCurator")];
  const dictionary = new StringDictionary();
  const ids = new Uint32Array(vaults.count);
  const curated = new Float64Array(vaults.count);
  for (let at = 0; at < vaults.count; at++) {
    const named = claimed.dictionary.textOf(claimed.ids[at] as number);
    const vault = address.dictionary.textOf(address.ids[at] as number);
    const attributed = curators.curatorOf(chainId, { vault, claimed: named });
    const curator = attributed ?? named;
    ids[at] = dictionary.intern(curator);
    const isKnown = attributed !== undefined || listed[at] === 1 || isOfCurator[at] === 1;
    curated[at] = Number(isKnown && curator !== NO_CURATOR);
  }
  return { curator: { ids, dictionary }, curated };
}

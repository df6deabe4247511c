import { rewardTokens } from "../../views/v2-facts.ts";
import type { StoreDeps } from "../deps.ts";
import { V2HeadTable } from "./v2-head-table.ts";

/** The tables of all chains; each is loaded when it is first read. */
export function createV2Tables({ store, chains }: StoreDeps): ReadonlyMap<number, V2HeadTable> {
  const rewards = rewardTokens(chains);
  return new Map(chains.map(({ chainId }) => [chainId, new V2HeadTable(store, { chainId, rewards })]));
}

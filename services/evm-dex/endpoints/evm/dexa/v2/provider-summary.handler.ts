import { toCells } from "../../../../../shared/contract/cells.ts";
import type { Handler } from "../../../../../shared/contract/endpoint.ts";
import { versionOf } from "../../../../../shared/index/evm/checkpoint.ts";
import type { ServeDeps } from "../../../../serve/deps.ts";
import { readAtHead } from "../../../../serve/head.ts";
import { readProviderSummary } from "../../../../serve/provider-summary.ts";
import { rewardTokens } from "../../../../views/v2-facts.ts";
import { endpoint } from "./provider-summary.endpoint.ts";

export function dexaProviderSummaryHandler({ store, chains }: ServeDeps): Handler<typeof endpoint> {
  const rewards = rewardTokens(chains);
  return async ({ chain_id: chainId, wallet_address: wallet }) => {
    const found = await readAtHead(store, {
      chainId,
      read: (checkpoint) => readProviderSummary(store, { wallet, checkpoint, rewards }),
    });
    if (found === undefined) return { rows: [] };
    return { rows: [toCells(endpoint, found.value)], version: versionOf(found.checkpoint) };
  };
}

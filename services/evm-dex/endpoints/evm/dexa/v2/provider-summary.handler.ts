import { toCells } from "../../../../../shared/contract/cells.ts";
import type { Handler } from "../../../../../shared/contract/endpoint.ts";
import { versionOf } from "../../../../../shared/index/evm/checkpoint.ts";
import type { ServeDeps } from "../../../../serve/deps.ts";
import { readProviderSummary } from "../../../../serve/provider/summary.ts";
import { WalletMemory } from "../../../../serve/provider/wallet-memory.ts";
import { rewardTokens } from "../../../../views/v2-facts.ts";
import { endpoint } from "./provider-summary.endpoint.ts";

export function dexaProviderSummaryHandler(
  { store, chains, v2Tables, wallets }: ServeDeps,
  { memory = new WalletMemory(), ...options }: { fewPositions?: number; memory?: WalletMemory } = {},
): Handler<typeof endpoint> {
  const rewards = rewardTokens(chains);
  return async ({ chain_id: chainId, wallet_address: wallet }, { signal }) => {
    const table = v2Tables.get(chainId);
    const found = await readProviderSummary(store.within(signal), {
      ...options,
      wallet,
      chainId,
      rewards,
      table,
      memory,
    });
    if (found === undefined) return { rows: [] };
    const { row, isComplete, checkpoint } = found;
    if (!isComplete) wallets.request({ chainId, wallet });
    const version = versionOf(checkpoint);
    return {
      rows: [toCells(endpoint, row)],
      version: isComplete
        ? { ...version, positionsFromBlock: checkpoint.fromBlock }
        : { ...version, tag: "incomplete" },
    };
  };
}

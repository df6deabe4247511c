/** Layouts as the facts beside the repository have them, out of the programs' own IDLs and sources. */
import { existsSync, readFileSync } from "node:fs";
import type { Context } from "mocha";

const FACTS = new URL("../../../../../shared/facts/solana-instructions.json", import.meta.url);

export interface FactsRow {
  readonly instruction: string;
  readonly category: string;
  readonly discriminator_hex: string;
  readonly pool_account_index: number | readonly number[] | null;
  readonly vault_indexes: Readonly<Record<string, number>>;
  readonly accounts: readonly string[];
}

export interface FactsProgram {
  readonly program_id: string;
  readonly rows: readonly FactsRow[];
  readonly events: readonly { readonly name: string; readonly discriminator_hex: string }[];
}

export function hasFacts(): boolean {
  return existsSync(FACTS);
}

export function needFacts(running: Context): void {
  if (hasFacts()) return;
  console.log("      pending: the facts are not beside the repository");
  running.skip();
}

export function readFacts(): Readonly<Record<string, FactsProgram>> {
  return JSON.parse(readFileSync(FACTS, "utf8")).programs;
}

/** Token accounts of a row that hold the pool's tokens; of Meteora's dynamic vaults the vault accounts hold none. */
export function vaultsOf(row: FactsRow): number[] {
  return Object.entries(row.vault_indexes)
    .filter(([name]) => name !== "a_vault" && name !== "b_vault")
    .map(([, index]) => index);
}

/** Of facts, instructions that give no row, and why. */
export const WITHOUT_ROWS: Readonly<Record<string, string>> = {
  "raydium-amm-v4 initialize": "before 2022; the tokens were there before the instruction",
  "raydium-clmm open_limit_order": "the swaps that fill an order are the trades",
  "raydium-clmm increase_limit_order": "as above",
  "raydium-clmm decrease_limit_order": "as above",
  "raydium-clmm settle_limit_order": "as above",
  "raydium-clmm close_limit_order": "as above",
  "raydium-clmm create_pool": "created empty",
  "raydium-clmm create_customizable_pool": "created empty",
  "raydium-launchlab initialize": "a curve's tokens are minted, not provided",
  "raydium-launchlab initialize_v2": "as above",
  "raydium-launchlab initialize_with_token_2022": "as above",
  "raydium-launchlab migrate_to_amm": "the pool that it opens gives the row",
  "raydium-launchlab migrate_to_cpswap": "as above",
  "orca-whirlpool initialize_pool": "created empty",
  "orca-whirlpool initialize_pool_v2": "created empty",
  "orca-whirlpool initialize_pool_with_adaptive_fee": "created empty",
  "meteora-dlmm place_limit_order": "the swaps that fill an order are the trades",
  "meteora-dlmm cancel_limit_order": "as above",
  "meteora-dlmm initialize_lb_pair": "created empty",
  "meteora-dlmm initialize_lb_pair2": "created empty",
  "meteora-dlmm initialize_permission_lb_pair": "created empty",
  "meteora-dlmm initialize_customizable_permissionless_lb_pair": "created empty",
  "meteora-dlmm initialize_customizable_permissionless_lb_pair2": "created empty",
  "meteora-damm-v1 initialize_permissioned_pool": "created empty, then bootstrapped",
  "meteora-damm-v2 create_position": "a position without liquidity",
  "meteora-damm-v2 close_position": "a position without liquidity",
  "meteora-dbc initialize_virtual_pool_with_spl_token": "a curve's tokens are minted, not provided",
  "meteora-dbc initialize_virtual_pool_with_token2022": "as above",
  "meteora-dbc migrate_meteora_damm": "the pool that it opens gives the row",
  "meteora-dbc migration_damm_v2": "as above",
  "pump-fun create": "a curve's tokens are minted, not provided",
  "pump-fun create_v2": "as above",
  "pump-fun migrate": "the pool that it opens gives the row",
  "pump-fun migrate_v2": "as above",
};

/** Instructions that facts do not have yet, and where they are documented. */
export const BEYOND_FACTS: Readonly<Record<string, string>> = {
  "meteora-dbc swap2_with_transfer_hook": "IDL of Meteora's SDK 1.5",
  "pump-fun buy_v3": "pump-public-docs, TRADE_V3.md",
  "pump-fun sell_v3": "pump-public-docs, TRADE_V3.md",
  "pump-fun buy_exact_quote_in_v3": "pump-public-docs, TRADE_V3.md",
  "pumpswap buy_v2": "pump-public-docs, PUMP_SWAP_TRADE_V2.md",
  "pumpswap sell_v2": "pump-public-docs, PUMP_SWAP_TRADE_V2.md",
  "pumpswap buy_exact_quote_in_v2": "pump-public-docs, PUMP_SWAP_TRADE_V2.md",
  "pumpswap multi_hop_swap": "pump-public-docs, MULTI_HOP_SWAP.md",
};

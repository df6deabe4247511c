import { boolean, chainId, evmAddress, evmPage, integer, oneOf, text } from "../../shared/contract/param.ts";

const USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
const WETH = "0x4200000000000000000000000000000000000006";

export const lendingChain = { chain_id: chainId([1, 8453]) } as const;

/** What every lending list filters by; `example` is the protocol behind the path. */
export function listFilters(example: string) {
  return {
    ...lendingChain,
    protocol_id: text({
      description: "Only rows of this lending protocol, as protocolId names it.",
      example,
    }).optional(),
    min_tvl_usd: integer(
      { min: 0 },
      { description: "Minimum TVL in USD; rows whose TVL has no price are left out.", example: "1000000" },
    ).optional(),
    listed: oneOf(["true", "false", "all"], {
      description:
        "true: only rows that the protocol itself lists, false: only the others, as the column listed says. An addition to the specification.",
      example: "true",
    }).default("all"),
  } as const;
}

export const borrowableFilter = {
  borrowable: boolean({
    description: "When true, only rows with borrowing enabled; false filters nothing.",
    example: "true",
  }).optional(),
} as const;

export const underlyingFilter = {
  underlying_address: evmAddress({
    description: "Only rows whose underlying token is this one.",
    example: USDC,
  }).optional(),
} as const;

/** Filters of a list of markets. */
export const pairFilters = {
  loan_address: evmAddress({ description: "Only markets that lend this token.", example: USDC }).optional(),
  collateral_address: evmAddress({
    description: "Only markets with this token as collateral.",
    example: WETH,
  }).optional(),
} as const;

/** Parameters of the vaults of one curator; `example` is one who curates vaults of the protocol. */
export function curatorVaults(protocol: string, example: string) {
  return {
    curator_address: evmAddress({ description: "Address of the curator.", example }),
    ...underlyingFilter,
    ...listFilters(protocol),
    ...evmPage(),
  } as const;
}

/** Parameters of a list of vaults. */
export function vaultList(protocol: string, example: string) {
  return {
    vault_address: evmAddress({ description: "Only the vault with this address.", example }).optional(),
    ...underlyingFilter,
    ...listFilters(protocol),
    ...borrowableFilter,
    ...evmPage(),
  } as const;
}

/** Chain and vault of the markets of one vault. */
export function oneVault(example: string) {
  return {
    ...lendingChain,
    vault_address: evmAddress({ description: "Address of the vault.", example }),
  } as const;
}

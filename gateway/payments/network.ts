import type { Network } from "@x402/core/types";

/** Base. @x402/evm knows its USDC and how to sign for it. */
export const NETWORK: Network = "eip155:8453";
export const CHAIN_ID = 8453;

/** How much longer than offered an authorization may be valid: the payer's clock may be ahead. */
export const VALID_BEFORE_MARGIN_SECONDS = 60;

import type { Network } from "@x402/core/types";

/** Base. Its USDC, and how that is signed for, are known to @x402/evm. */
export const NETWORK: Network = "eip155:8453";
export const CHAIN_ID = 8453;

/** What an authorization may be good for beyond the time that was offered: the payer's clock may be ahead of ours. */
export const VALID_BEFORE_MARGIN_SECONDS = 60;

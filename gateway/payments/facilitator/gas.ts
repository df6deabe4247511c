import type { Hex } from "viem";

/** Gas caps of a settlement, by the payer's kind of wallet. */
export interface GasCaps {
  /** For a wallet with a key. */
  readonly eoa: bigint;
  /** For a wallet that is a contract; 0 = contracts are refused. */
  readonly contract: bigint;
}

/** Codes besides those of @x402/evm; reasons.ts has their texts. */
export const GAS_OVER_CAP = "invalid_exact_evm_gas_over_cap";
export const CONTRACT_REFUSED = "invalid_exact_evm_contract_wallet_refused";
export const CONTRACT_FAILED = "invalid_exact_evm_contract_wallet_failed";

/** A transaction that would exceed the gas cap; it was not sent. */
export class GasOverCap extends Error {
  override readonly name = "GasOverCap";
  constructor(cap: bigint) {
    super(`${GAS_OVER_CAP}: more than ${cap}`);
  }
}

/** Margin over the estimate: the cost of a transfer depends a little on other transfers since. */
const MARGIN_PERCENT = 120n;

/** The gas limit of a transaction, which bounds its cost: never above the cap. Throws GasOverCap. */
export function limitGas(estimate: bigint, cap: bigint): bigint {
  if (estimate > cap) throw new GasOverCap(cap);
  const limit = (estimate * MARGIN_PERCENT) / 100n;
  return limit < cap ? limit : cap;
}

/** Whether an error of a node means out of gas, by the known messages. */
export function isOutOfGas(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; depth += 1) {
    const { details } = at as { details?: unknown };
    if (
      /out ?of ?gas|gas required exceeds|exceeds (?:the )?(?:gas )?allowance/i.test(
        `${details ?? ""} ${at.message}`,
      )
    )
      return true;
    at = at.cause;
  }
  return false;
}

/** Gas that the token itself uses besides the check of the signature. */
export const TRANSFER_GAS = 100_000n;

/** isValidSignature(bytes32,bytes) of ERC-1271. */
export const signatureCheckAbi = [
  {
    type: "function",
    name: "isValidSignature",
    stateMutability: "view",
    inputs: [
      { name: "hash", type: "bytes32" },
      { name: "signature", type: "bytes" },
    ],
    outputs: [{ name: "", type: "bytes4" }],
  },
] as const;

export interface FailedWallets {
  add(payer: Hex): void;
  has(payer: Hex): boolean;
}

const REMEMBERED_MS = 3_600_000;
const MAX_REMEMBERED = 10_000;

/**
 * Contract wallets whose settlement failed on the chain. A wallet may be cheap in every simulation and burn the gas in the
 * transaction: that costs its cap once an hour, not with every request. Refusing contracts is a setting, not the default.
 */
export function createFailedWallets(now: () => number = () => performance.now()): FailedWallets {
  const failedAtMs = new Map<string, number>();
  return {
    add(payer) {
      const oldest = failedAtMs.keys().next();
      if (failedAtMs.size >= MAX_REMEMBERED && oldest.done !== true) failedAtMs.delete(oldest.value);
      failedAtMs.set(payer.toLowerCase(), now());
    },
    has(payer) {
      const atMs = failedAtMs.get(payer.toLowerCase());
      return atMs !== undefined && now() - atMs < REMEMBERED_MS;
    },
  };
}

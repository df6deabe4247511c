import type { x402Facilitator } from "@x402/core/facilitator";
import type { Hex } from "viem";
import { type FailedWallets, GAS_OVER_CAP } from "./gas.ts";
import type { Wallet } from "./wallet.ts";

type Facilitator = Pick<x402Facilitator, "verify" | "settle" | "getSupported">;

/** The library's code for a reverted transaction, whose gas is lost. */
const FAILED = "invalid_exact_evm_transaction_failed";

/** Reports settlements over the gas cap with their own code, and remembers contract wallets whose transaction failed. */
export function settleWithinCaps(
  facilitator: Facilitator,
  { wallet, failures }: { readonly wallet: Pick<Wallet, "hasCode">; readonly failures: FailedWallets },
): Facilitator {
  const hasCode = (payer: string) => wallet.hasCode(payer as Hex).catch(() => false);
  return {
    verify: (...args) => facilitator.verify(...args),
    getSupported: () => facilitator.getSupported(),
    async settle(...args) {
      const result = await facilitator.settle(...args);
      const { success, errorReason, transaction, payer } = result;
      if (success) return result;
      if (`${(result as { errorMessage?: unknown }).errorMessage}`.includes(GAS_OVER_CAP))
        return { ...result, errorReason: GAS_OVER_CAP };
      if (errorReason === FAILED && transaction !== "" && payer && (await hasCode(payer)))
        failures.add(payer as Hex);
      return result;
    },
  };
}

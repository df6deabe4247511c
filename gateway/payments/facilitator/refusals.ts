import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { authorizationTypes } from "@x402/evm";
import { type Hex, hashTypedData } from "viem";
import { ServiceError } from "../../../services/shared/errors.ts";
import { CHAIN_ID, NETWORK, VALID_BEFORE_MARGIN_SECONDS } from "../network.ts";
import { CONTRACT_FAILED, CONTRACT_REFUSED, type FailedWallets, GAS_OVER_CAP, type GasCaps } from "./gas.ts";
import type { Wallet } from "./wallet.ts";

export interface RefusalCheckDeps {
  readonly wallet: Pick<Wallet, "isContract" | "hasCode" | "isCheckAffordable">;
  readonly failures: Pick<FailedWallets, "has">;
  readonly gasCaps: GasCaps;
  /** The only address that payments are settled for: nobody else's gas is paid. */
  readonly payTo: string;
  /** The only asset: the code of any other one is somebody else's. */
  readonly asset: string;
}

/**
 * What this facilitator refuses whatever the library would say, for verifying and settling alike: the code of the
 * reason, undefined where there is none. Codes are those of @x402/evm, and ours of gas.ts.
 */
export type FindRefusal = (
  payload: PaymentPayload,
  requirements: PaymentRequirements,
) => Promise<string | undefined>;

export function createRefusalCheck(deps: RefusalCheckDeps): FindRefusal {
  const { wallet } = deps;

  /**
   * Looked up before the library does: it asks for the asset's code without waiting for the answer, so that a chain
   * which cannot be asked would end the process (2.27.0). What is known here it does not ask the chain for.
   */
  const findNoContract = async ({ asset }: PaymentRequirements): Promise<string | undefined> =>
    (await wallet.isContract(asset as Hex)) ? undefined : "asset_not_deployed_contract";

  /** A contract decides by itself what the check of its signature costs. */
  const findCostlyPayer = async (
    payload: PaymentPayload,
    requirements: PaymentRequirements,
  ): Promise<string | undefined> => {
    const signed = readSigned(payload, requirements);
    // What cannot be read the library refuses without a question to the chain.
    if (signed === undefined || !(await wallet.hasCode(signed.from))) return undefined;
    if (deps.gasCaps.contract === 0n) return CONTRACT_REFUSED;
    if (deps.failures.has(signed.from)) return CONTRACT_FAILED;
    return (await wallet.isCheckAffordable(signed.from, signed)) ? undefined : GAS_OVER_CAP;
  };

  return async (payload, requirements) => {
    const misuse = findMisuse(payload, requirements, deps);
    if (misuse !== undefined) return misuse;
    try {
      return (await findNoContract(requirements)) ?? (await findCostlyPayer(payload, requirements));
    } catch (cause) {
      throw new ServiceError("unavailable", "The chain cannot be asked at the moment.", { cause });
    }
  };
}

function findMisuse(
  { payload }: PaymentPayload,
  requirements: PaymentRequirements,
  { payTo, asset }: Pick<RefusalCheckDeps, "payTo" | "asset">,
): string | undefined {
  if (requirements.network !== NETWORK) return "invalid_exact_evm_network_mismatch";
  if (requirements.payTo.toLowerCase() !== payTo.toLowerCase()) return "invalid_exact_evm_recipient_mismatch";
  if (requirements.asset.toLowerCase() !== asset.toLowerCase()) return "invalid_exact_evm_asset_mismatch";
  // Permit2 goes through contracts that would have to be trusted with more than one payment.
  const { authorization } = payload as { authorization?: { validBefore?: unknown } };
  if (authorization === undefined) return "unsupported_payload_type";
  const latest = Date.now() / 1000 + requirements.maxTimeoutSeconds + VALID_BEFORE_MARGIN_SECONDS;
  return Number(authorization?.validBefore) > latest ? "invalid_exact_evm_valid_before_too_late" : undefined;
}

/** Who is said to have signed, and what; undefined where the form is not that of an authorization. */
function readSigned({ payload }: PaymentPayload, { asset, extra }: PaymentRequirements) {
  try {
    const { authorization, signature } = payload as {
      authorization: Record<"from" | "to" | "nonce", Hex> & Record<string, string>;
      signature: Hex;
    };
    const { from, to, nonce, value = "", validAfter = "", validBefore = "" } = authorization;
    const { name, version } = extra as { name: string; version: string };
    const digest = hashTypedData({
      domain: { name, version, chainId: CHAIN_ID, verifyingContract: asset as Hex },
      types: authorizationTypes,
      primaryType: "TransferWithAuthorization",
      message: {
        from,
        to,
        nonce,
        value: BigInt(value),
        validAfter: BigInt(validAfter),
        validBefore: BigInt(validBefore),
      },
    });
    return /^0x(?:[0-9a-f]{2})+$/i.test(signature) ? { from, digest, signature } : undefined;
  } catch {
    return undefined;
  }
}

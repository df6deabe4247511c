import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { authorizationTypes } from "@x402/evm";
import { type Hex, hashTypedData } from "viem";
import { ServiceError } from "../../../services/shared/errors.ts";
import { CHAIN_ID, NETWORK, VALID_BEFORE_MARGIN_SECONDS } from "../network.ts";
import { CONTRACT_FAILED, CONTRACT_REFUSED, type FailedWallets, GAS_OVER_CAP, type GasCaps } from "./gas.ts";
import type { Wallet } from "./wallet.ts";

interface RefusalCheckDeps {
  readonly wallet: Pick<Wallet, "isContract" | "hasCode" | "isCheckAffordable">;
  readonly failures: Pick<FailedWallets, "has">;
  readonly gasCaps: GasCaps;
  /** The only address that payments are settled for: the wallet pays gas for no other. */
  readonly payTo: string;
  /** The only asset: the code of others is not trusted. */
  readonly asset: string;
}

/**
 * Returns the code of the reason why this facilitator refuses a payment, before the library checks it, for /verify and
 * /settle alike; undefined if it does not refuse. Codes are those of @x402/evm and of gas.ts.
 */
type FindRefusal = (
  payload: PaymentPayload,
  requirements: PaymentRequirements,
) => Promise<string | undefined>;

export function createRefusalCheck(deps: RefusalCheckDeps): FindRefusal {
  const { wallet } = deps;

  /**
   * Reads the code before the library does: the library reads the asset's code without awaiting it, so an unreachable
   * chain would end the process (2.27.0). It does not read what is cached here.
   */
  const findNoContract = async ({ asset }: PaymentRequirements): Promise<string | undefined> =>
    (await wallet.isContract(asset as Hex)) ? undefined : "asset_not_deployed_contract";

  /** A contract wallet decides what the check of its signature costs. */
  const findCostlyPayer = async (
    payload: PaymentPayload,
    requirements: PaymentRequirements,
  ): Promise<string | undefined> => {
    const signed = readSignature(payload, requirements);
    // The library refuses an unreadable payload without a request to the chain.
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
      throw new ServiceError("unavailable", "The chain is unreachable at the moment.", { cause });
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
  // Permit2 needs contracts that would have to be trusted with more than one payment.
  const { authorization } = payload as { authorization?: { validBefore?: unknown } };
  if (authorization === undefined) return "unsupported_payload_type";
  const latest = Date.now() / 1000 + requirements.maxTimeoutSeconds + VALID_BEFORE_MARGIN_SECONDS;
  return Number(authorization?.validBefore) > latest ? "invalid_exact_evm_valid_before_too_late" : undefined;
}

/** Returns the claimed signer, the digest and the signature; undefined if the form is not an authorization's. */
function readSignature({ payload }: PaymentPayload, { asset, extra }: PaymentRequirements) {
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

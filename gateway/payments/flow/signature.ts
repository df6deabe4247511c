import { authorizationTypes } from "@x402/evm";
import { hashTypedData, recoverAddress } from "viem";
import type { Hex } from "../../../services/shared/evm/port.ts";
import { CHAIN_ID } from "../network.ts";
import type { PaymentChain } from "../settlement/chain.ts";
import type { PaidRequest } from "./paid-request.ts";

/** Half the order of the curve: each signature has a second form with a larger s, which the token refuses. */
const MAX_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const PLAIN_SIGNATURE_DIGITS = 2 + 2 * 65;

/**
 * Whether the payer has signed a paid request: the signature is of the payer's key, or accepted by its contract, and the
 * authorization is unused. Checks all that a facilitator checks except the balance, for payments that are not charged. A
 * used authorization proves nothing: its signature is public on the chain. Rejects if the chain is unreachable.
 */
export async function isSignedByPayer(
  { payment, offer }: PaidRequest,
  chain: Pick<PaymentChain, "readStates" | "isAcceptedByContract">,
): Promise<boolean> {
  const { authorization, signature } = payment;
  const { requirements } = offer;
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const { name, version } = requirements.extra as { name: string; version: string };
  const asset = requirements.asset.toLowerCase() as Hex;
  const digest = hashTypedData({
    domain: { name, version, chainId: CHAIN_ID, verifyingContract: asset },
    types: authorizationTypes,
    primaryType: "TransferWithAuthorization",
    message: { from, to, value, validAfter: BigInt(validAfter), validBefore: BigInt(validBefore), nonce },
  });
  const isSigned =
    (await isSignedByKey(from, { digest, signature })) ||
    (await chain.isAcceptedByContract({ wallet: from, digest, signature }));
  if (!isSigned) return false;
  const [state] = await chain.readStates([{ asset, from, nonce, to, value }]);
  return state?.isUsed === false;
}

async function isSignedByKey(
  address: Hex,
  { digest, signature }: { readonly digest: Hex; readonly signature: Hex },
): Promise<boolean> {
  if (signature.length !== PLAIN_SIGNATURE_DIGITS) return false;
  if (BigInt(`0x${signature.slice(66, 130)}`) > MAX_S) return false;
  try {
    return (await recoverAddress({ hash: digest, signature })).toLowerCase() === address;
  } catch {
    return false;
  }
}

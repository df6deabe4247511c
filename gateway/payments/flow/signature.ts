import { authorizationTypes } from "@x402/evm";
import { hashTypedData, recoverAddress } from "viem";
import type { Hex } from "../../../services/shared/evm/port.ts";
import { CHAIN_ID } from "../network.ts";
import type { PaymentChain } from "../settlement/chain.ts";
import type { PaidRequest } from "./paid-request.ts";

/** Half the order of the curve: the token refuses the upper one of the two signatures that anybody can make of one. */
const MAX_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const PLAIN_SIGNATURE_DIGITS = 2 + 2 * 65;

/**
 * Whether the payer of an order has signed it just now: the signature is of the key, or accepted by the contract, at
 * the address that pays, and the authorization is unused. Everything that a facilitator checks but the balance, for
 * payments that will not be charged. A used authorization proves nothing: its signature stands on the chain for all to
 * read. Rejects where the chain cannot be asked.
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
    (await isOfKey(from, { digest, signature })) ||
    (await chain.isAcceptedByContract({ wallet: from, digest, signature }));
  if (!isSigned) return false;
  const [state] = await chain.readStates([{ asset, from, nonce, to, value }]);
  return state?.isUsed === false;
}

async function isOfKey(
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

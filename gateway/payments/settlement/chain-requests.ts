import { encodeCall } from "../../../services/shared/evm/abi.ts";
import { parseBytes, parseHash, toQuantity } from "../../../services/shared/evm/hex.ts";
import { decodeAggregate3, encodeAggregate3 } from "../../../services/shared/evm/multicall/abi.ts";
import type { Hex } from "../../../services/shared/evm/port.ts";
import { parseHeader, untrustedFault } from "../../../services/shared/evm/source/parse.ts";
import type { RpcResponse } from "../../../services/shared/rpc-client/endpoint/transport.ts";
import type { Outcome, RpcRequest } from "../../../services/shared/rpc-client/pending-request.ts";

/** An authorization of EIP-3009, by what makes it what it is. */
interface AuthorizationId {
  readonly asset: Hex;
  readonly from: Hex;
  readonly nonce: Hex;
}

export interface AuthorizationState {
  readonly isUsed: boolean;
  /** Of the block in which that was so, Unix seconds; it may have been so for longer. */
  readonly time: number;
}

/** A signature that a contract may accept as its own. */
export interface WalletSignature {
  readonly wallet: Hex;
  /** What was signed. */
  readonly digest: Hex;
  readonly signature: Hex;
}

/** authorizationState(address,bytes32) of EIP-3009. */
const AUTHORIZATION_STATE: Hex = "0xe94a0102";
/** isValidSignature(bytes32,bytes) of ERC-1271; also what it returns for a good one. */
const IS_VALID_SIGNATURE: Hex = "0x1626ba7e";
/** Where nearly every chain has its Multicall3, Base among them. */
const MULTICALL3: Hex = "0xca11bde05977b3631167028862be2a173976ca11";
/** Authorizations that one call looks up: some 15,000 gas each, and 200 bytes. */
export const STATES_PER_CALL = 100;
/** Above what checks of passkeys need; a check that never ends is over in milliseconds. */
const SIGNATURE_CHECK_GAS = 500_000;

/** Reads the block first: the result of the call is then at least as new as its time. */
export function authorizationStateRequest(authorization: AuthorizationId): RpcRequest<AuthorizationState> {
  return callAtLatestRequest(callOf(authorization), (result, time) => {
    const word = parseHash(result);
    if (word === undefined) return untrustedFault("authorizationState gave no word");
    return { value: { isUsed: BigInt(word) !== 0n, time } };
  });
}

/** Many at once; undefined where the chain has no Multicall3. */
export function authorizationStatesRequest(
  authorizations: readonly AuthorizationId[],
): RpcRequest<AuthorizationState[] | undefined> {
  const data = encodeAggregate3(authorizations.map(callOf));
  return callAtLatestRequest({ to: MULTICALL3, data }, (result, time) => {
    const returned = parseBytes(result);
    if (returned === "0x") return { value: undefined };
    try {
      const words = decodeAggregate3(returned ?? "0x", authorizations.length);
      return {
        value: words.map(({ success, data: word }) => {
          if (!success || parseHash(word) === undefined) throw new RangeError("no word");
          return { isUsed: BigInt(word) !== 0n, time };
        }),
      };
    } catch {
      return untrustedFault("authorizationState of many gave no words");
    }
  });
}

/** False also where nothing is at the address, or the check fails or takes too much gas. */
export function contractSignatureRequest({
  wallet,
  digest,
  signature,
}: WalletSignature): RpcRequest<boolean> {
  const bytes = signature.slice(2);
  const length = bytes.length / 2;
  const head = encodeCall(IS_VALID_SIGNATURE, [digest, 64, length]);
  const data = `${head}${bytes.padEnd(Math.ceil(length / 32) * 64, "0")}`;
  const call = { to: wallet, data, gas: toQuantity(SIGNATURE_CHECK_GAS) };
  return {
    calls: [{ method: "eth_call", params: [call, "latest"] }],
    read([reply]) {
      // Nodes have many words for a call that ran out of gas.
      if (reply?.ok === false && (reply.fault.kind === "reverted" || /gas/i.test(reply.fault.message)))
        return { value: false };
      return readReply(reply, (result) => ({
        value: parseHash(result)?.startsWith(IS_VALID_SIGNATURE) === true,
      }));
    },
  };
}

function callOf({ asset, from, nonce }: AuthorizationId): { to: Hex; data: Hex } {
  return { to: asset, data: encodeCall(AUTHORIZATION_STATE, [from, nonce]) };
}

function callAtLatestRequest<T>(
  call: { readonly to: Hex; readonly data: Hex },
  read: (result: unknown, time: number) => Outcome<T>,
): RpcRequest<T> {
  return {
    calls: [
      { method: "eth_getBlockByNumber", params: ["latest", false] },
      { method: "eth_call", params: [call, "latest"] },
    ],
    read([block, reply]) {
      const header = readReply(block, (result) => parseHeader(result, "latest"));
      if ("fault" in header) return header;
      return readReply(reply, (result) => read(result, header.value.timestamp));
    },
  };
}

export function readReply<T>(
  reply: RpcResponse | undefined,
  read: (result: unknown) => Outcome<T>,
): Outcome<T> {
  if (reply === undefined) return untrustedFault("a reply is missing");
  return reply.ok ? read(reply.result) : { fault: reply.fault };
}

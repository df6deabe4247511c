import { type FacilitatorEvmSigner, toFacilitatorEvmSigner } from "@x402/evm";
import {
  createPublicClient,
  createWalletClient,
  decodeFunctionResult,
  defineChain,
  encodeFunctionData,
  fallback,
  type Hex,
  http,
  numberToHex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { createNonceManager, jsonRpc } from "viem/nonce";
import { type GasCaps, GasOverCap, isOutOfGas, limitGas, signatureCheckAbi, TRANSFER_GAS } from "./gas.ts";

/** The wallet that settles payments and pays for their gas. */
export interface Wallet {
  readonly address: Hex;
  readonly signer: FacilitatorEvmSigner;
  /** Whether there is a contract at an address; caches contracts. Rejects while the chain is unreachable. */
  isContract(address: Hex): Promise<boolean>;
  /** Whether a payer is a contract now; it may become one at any time. Rejects while the chain is unreachable. */
  hasCode(address: Hex): Promise<boolean>;
  /** Whether a contract's signature check stays within the gas cap; ignores its verdict. */
  isCheckAffordable(
    contract: Hex,
    signed: { readonly digest: Hex; readonly signature: Hex },
  ): Promise<boolean>;
  /** Wei of the chain's own coin. */
  balance(): Promise<bigint>;
}

interface WalletOptions {
  readonly chainId: number;
  /** http(s) URLs, the preferred one first. */
  readonly rpcUrls: readonly string[];
  readonly privateKey: Hex;
  /** How long to wait for a settlement until it is reported as pending. */
  readonly receiptTimeoutMs: number;
  /** Gas caps of settlements, and of calls. */
  readonly gasCaps: GasCaps;
}

const POLLING_MS = 200;
const RPC_TIMEOUT_MS = 5_000;
/** Assets that payments name: one, unless clients invent others. */
const MAX_CONTRACTS = 1_000;

export function createWallet(options: WalletOptions): Wallet {
  const { chainId, rpcUrls, privateKey, receiptTimeoutMs, gasCaps } = options;
  const nonceManager = createNonceManager({ source: jsonRpc() });
  const account = privateKeyToAccount(privateKey, { nonceManager });
  const chain = defineChain({
    id: chainId,
    name: `chain ${chainId}`,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: rpcUrls } },
  });
  // One retry per endpoint and none over all: the caller has a time limit, too.
  const transports = rpcUrls.map((url) => http(url, { timeout: RPC_TIMEOUT_MS, retryCount: 1 }));
  const transport = fallback(transports, { retryCount: 0 });
  const access = { chain, transport, pollingInterval: POLLING_MS, cacheTime: 0 };
  const reader = createPublicClient(access);
  const writer = createWalletClient({ ...access, account });
  const inTurn = createQueue();
  const contracts = new Map<string, Hex>();

  const isContract: Wallet["isContract"] = async (address) => {
    const name = address.toLowerCase();
    if (contracts.has(name)) return true;
    const code = await reader.getCode({ address });
    if (code === undefined || code === "0x") return false;
    if (contracts.size >= MAX_CONTRACTS) contracts.clear();
    contracts.set(name, code);
    return true;
  };

  const hasCode: Wallet["hasCode"] = async (address) => {
    const code = await reader.getCode({ address });
    return code !== undefined && code !== "0x";
  };

  type EncodeOptions = Parameters<typeof encodeFunctionData>[0];
  type Read = Parameters<FacilitatorEvmSigner["readContract"]>[0];
  /** A foreign contract must not decide how long a call takes. */
  const readContract = async ({ address, abi, functionName, args }: Read): Promise<unknown> => {
    const call = { abi, functionName, args: args ?? [] } as EncodeOptions;
    const gas = gasCaps.eoa > gasCaps.contract ? gasCaps.eoa : gasCaps.contract;
    const { data } = await reader.call({ to: address, data: encodeFunctionData(call), gas });
    return decodeFunctionResult({ ...call, data: data ?? "0x" } as Parameters<
      typeof decodeFunctionResult
    >[0]);
  };
  const isCheckAffordable: Wallet["isCheckAffordable"] = async (contract, { digest, signature }) => {
    const gas = gasCaps.contract - TRANSFER_GAS;
    if (gas <= 0n) return false;
    const call = { abi: signatureCheckAbi, functionName: "isValidSignature" } as const;
    const data = encodeFunctionData({ ...call, args: [digest, signature] });
    try {
      await reader.call({ to: contract, data, gas });
      return true;
    } catch (error) {
      return !isOutOfGas(error);
    }
  };

  type Write = Parameters<FacilitatorEvmSigner["writeContract"]>[0];
  /** The cap by payer, the first argument of every transfer by authorization. */
  const capOf = async ({ args }: Write): Promise<bigint> =>
    (await hasCode(args[0] as Hex)) ? gasCaps.contract : gasCaps.eoa;
  /** Estimates with the cap as limit, which viem's own estimate does not pass on: a node would use all the gas of a block. */
  const estimateGas = async (
    { address, dataSuffix = "0x", ...call }: Write,
    cap: bigint,
  ): Promise<bigint> => {
    const data: Hex = `${encodeFunctionData(call as EncodeOptions)}${dataSuffix.slice(2)}`;
    const transaction = { from: account.address, to: address, data, gas: numberToHex(cap) };
    try {
      return BigInt(await reader.request({ method: "eth_estimateGas", params: [transaction] }));
    } catch (error) {
      throw isOutOfGas(error) ? new GasOverCap(cap) : error;
    }
  };
  const writeContract = async (call: Write): Promise<Hex> => {
    const cap = await capOf(call);
    // A transfer that would fail fails here, before it takes a nonce that later ones would wait behind.
    const gas = limitGas(await estimateGas(call, cap), cap);
    return inTurn(() => writer.writeContract({ ...call, gas, account, chain }));
  };

  const signer = toFacilitatorEvmSigner(
    {
      address: account.address,
      readContract,
      verifyTypedData: (typed) =>
        reader.verifyTypedData(typed as Parameters<typeof reader.verifyTypedData>[0]),
      writeContract,
      // Would deploy a payer's wallet through a factory of the payer's choice: refused.
      sendTransaction: () => Promise.reject(new Error("Only transfers by authorization are sent")),
      waitForTransactionReceipt: (query) => reader.waitForTransactionReceipt(query),
      getCode: async (query) => contracts.get(query.address.toLowerCase()) ?? reader.getCode(query),
    },
    { confirmationTimeoutMs: receiptTimeoutMs },
  );
  return {
    address: account.address,
    signer,
    isContract,
    hasCode,
    isCheckAffordable,
    balance: () => reader.getBalance({ address: account.address }),
  };
}

/** Runs one task after the other: a rejected transaction then leaves no nonce gap before the next. */
function createQueue(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const running = last.then(task);
    last = running.catch(() => {});
    return running;
  };
}

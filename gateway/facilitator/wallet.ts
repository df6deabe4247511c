import { type FacilitatorEvmSigner, toFacilitatorEvmSigner } from "@x402/evm";
import { createPublicClient, createWalletClient, defineChain, fallback, type Hex, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { createNonceManager, jsonRpc } from "viem/nonce";

/** The wallet that settles payments and pays for their gas. */
export interface Wallet {
  readonly address: Hex;
  readonly signer: FacilitatorEvmSigner;
  /** Whether there is a contract at an address. Rejects while the chain cannot be asked; what was found is remembered. */
  isContract(address: Hex): Promise<boolean>;
  /** Wei of the chain's own coin. */
  balance(): Promise<bigint>;
}

export interface WalletOptions {
  readonly chainId: number;
  /** http(s) URLs, the preferred one first. */
  readonly rpcUrls: readonly string[];
  readonly privateKey: Hex;
  /** How long a settlement is waited for until it is called pending. */
  readonly receiptTimeoutMs: number;
}

const POLLING_MS = 200;
const RPC_TIMEOUT_MS = 5_000;
/** Beyond the estimate: what a transfer costs depends a little on who else has moved since. */
const GAS_MARGIN = 120n;
/** Assets that payments name: one, but for clients that make some up. */
const MAX_CONTRACTS = 1_000;

export function createWallet({ chainId, rpcUrls, privateKey, receiptTimeoutMs }: WalletOptions): Wallet {
  const nonceManager = createNonceManager({ source: jsonRpc() });
  const account = privateKeyToAccount(privateKey, { nonceManager });
  const chain = defineChain({
    id: chainId,
    name: `chain ${chainId}`,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: rpcUrls } },
  });
  // Tried once more each, and not all of them again: whoever asks has a time limit, too.
  const transports = rpcUrls.map((url) => http(url, { timeout: RPC_TIMEOUT_MS, retryCount: 1 }));
  const transport = fallback(transports, { retryCount: 0 });
  const options = { chain, transport, pollingInterval: POLLING_MS, cacheTime: 0 };
  const reader = createPublicClient(options);
  const writer = createWalletClient({ ...options, account });
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

  type Write = Parameters<FacilitatorEvmSigner["writeContract"]>[0];
  const writeContract = async (call: Write): Promise<Hex> => {
    // What would fail fails here, before it has a nonce that others would then wait behind.
    const estimate = await reader.estimateContractGas({ ...call, account: account.address });
    const gas = (estimate * GAS_MARGIN) / 100n;
    return inTurn(() => writer.writeContract({ ...call, gas, account, chain }));
  };

  const signer = toFacilitatorEvmSigner(
    {
      address: account.address,
      readContract: (call) => reader.readContract(call),
      verifyTypedData: (typed) =>
        reader.verifyTypedData(typed as Parameters<typeof reader.verifyTypedData>[0]),
      writeContract,
      sendTransaction: (transaction) =>
        inTurn(() => writer.sendTransaction({ ...transaction, account, chain })),
      waitForTransactionReceipt: (of) => reader.waitForTransactionReceipt(of),
      getCode: async (of) => contracts.get(of.address.toLowerCase()) ?? reader.getCode(of),
    },
    { confirmationTimeoutMs: receiptTimeoutMs },
  );
  return {
    address: account.address,
    signer,
    isContract,
    balance: () => reader.getBalance({ address: account.address }),
  };
}

/** Runs one task after the other: a transaction that is not taken then leaves no gap before the next. */
function createQueue(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const running = last.then(task);
    last = running.catch(() => {});
    return running;
  };
}

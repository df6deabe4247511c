import { createPublicClient, type Hex, http, type PublicClient } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { stablecoinAbi } from "../contracts/stablecoin.ts";
import { type Anvil, startAnvil } from "../node/anvil.ts";
import { installMulticall } from "../node/multicall.ts";
import type { Address } from "../node/transactions.ts";
import { fundWithEther, installUsdc, mintUsdc, USDC } from "./usdc.ts";

/** A private chain with USDC at its real address that mines each transaction at once, at the time of the clock. */
export interface PaymentChain {
  readonly url: string;
  readonly anvil: Anvil;
  readonly client: PublicClient;
  /** A key that has ether and nothing else. */
  createWallet(): Promise<{ readonly key: Hex; readonly address: Address }>;
  /** Accounts with so many millionths of a dollar each. */
  createPayers(count: number, amount?: bigint): Promise<PrivateKeyAccount[]>;
  balanceOf(holder: Address): Promise<bigint>;
  /** Stops or goes on mining by itself. */
  setMining(isOn: boolean): Promise<void>;
  mine(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPaymentChain(): Promise<PaymentChain> {
  const anvil = await startAnvil({ accounts: 1 });
  const { rpc } = anvil;
  const client = createPublicClient({ transport: http(anvil.url), cacheTime: 0 });
  const setMining = async (isOn: boolean) => void (await rpc.call("evm_setAutomine", [isOn]));
  await installMulticall(rpc);
  await installUsdc(rpc, {});
  // Blocks two seconds apart would soon lie beyond what clients sign for.
  await rpc.call("anvil_removeBlockTimestampInterval");
  await rpc.call("anvil_setTime", [Math.floor(Date.now() / 1000)]);
  await setMining(true);
  return {
    url: anvil.url,
    anvil,
    client,
    async createWallet() {
      const key = generatePrivateKey();
      const { address } = privateKeyToAccount(key);
      await fundWithEther(rpc, address);
      return { key, address };
    },
    async createPayers(count, amount = 1_000_000n) {
      const payers = Array.from({ length: count }, () => privateKeyToAccount(generatePrivateKey()));
      await mintUsdc(rpc, Object.fromEntries(payers.map(({ address }) => [address, amount])));
      return payers;
    },
    balanceOf: (holder) =>
      client.readContract({ address: USDC, abi: stablecoinAbi, functionName: "balanceOf", args: [holder] }),
    setMining,
    async mine() {
      await rpc.call("evm_mine");
    },
    stop: () => anvil.stop(),
  };
}

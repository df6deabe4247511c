import type { Hex, PublicClient } from "viem";
import type { Rpc } from "../node/rpc.ts";
import { type Address, sendTransactions, type Transaction } from "../node/transactions.ts";
import { approve, fundEuler } from "./deposits.ts";
import type { EulerVaultName } from "./market.ts";
import { type EulerDeployment, type EulerEarn, type EulerVault, vaultNamed } from "./plan.ts";

/** Euler on a test chain. What it can do is in `transactions.ts`; what it is, viem reads with `contracts/euler/abi.ts`. */
export interface EulerKit {
  readonly client: PublicClient;
  readonly deployment: EulerDeployment;
  vault(name: EulerVaultName): EulerVault;
  earn(symbol: string): EulerEarn;
  /** Queues transactions, in order; nothing is mined. */
  send(...transactions: readonly Transaction[]): Promise<Hex[]>;
  /** Tokens for an account, and its leave for a vault to take them; to be sent. */
  fund(options: { account: Address; vault: EulerVault | EulerEarn; amount: bigint }): Transaction[];
}

export function createEulerKit(options: {
  rpc: Rpc;
  client: PublicClient;
  deployment: EulerDeployment;
}): EulerKit {
  const { rpc, client, deployment } = options;
  return {
    client,
    deployment,
    vault: (name) => vaultNamed(deployment.vaults, name),
    earn(symbol) {
      const found = deployment.earnVaults.find(({ spec }) => spec.symbol === symbol);
      if (!found) throw new Error(`No earn vault is called ${symbol}`);
      return found;
    },
    send: (...transactions) => sendTransactions(rpc, transactions),
    fund: ({ account, vault, amount }) => [
      fundEuler(deployment, { account, token: vault.asset, amount }),
      approve(account, vault.asset, vault.address),
    ],
  };
}

import type { Hex } from "viem";
import type { Rpc } from "./rpc.ts";

export type Address = Hex;

/** An eth_sendTransaction object for one of anvil's own accounts; hex quantities, as JSON-RPC wants them. */
export interface Transaction {
  readonly from: Address;
  /** Absent = creates a contract. */
  readonly to?: Address;
  readonly data: Hex;
  readonly gas: Hex;
  readonly value?: Hex;
  readonly nonce?: Hex;
}

export function toHex(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

/** Queues the transactions in order by one request; answers the hashes. */
export async function sendTransactions(rpc: Rpc, transactions: readonly Transaction[]): Promise<Hex[]> {
  const senders = new Set(transactions.map(({ from }) => from));
  const nonces = new Map<Address, bigint>();
  if (senders.size < transactions.length) {
    // The node numbers transactions itself, but two of one sender in one batch could race.
    const known = [...senders];
    const counts = await rpc.batch<Hex>(
      known.map((sender) => ({ method: "eth_getTransactionCount", params: [sender, "pending"] })),
    );
    for (const [i, sender] of known.entries()) nonces.set(sender, BigInt(counts[i] ?? 0));
  }
  return rpc.batch<Hex>(
    transactions.map((transaction) => {
      const nonce = nonces.get(transaction.from);
      if (nonce === undefined) return { method: "eth_sendTransaction", params: [transaction] };
      nonces.set(transaction.from, nonce + 1n);
      return { method: "eth_sendTransaction", params: [{ ...transaction, nonce: toHex(nonce) }] };
    }),
  );
}

/** Sends the transactions, mines them into one block, and throws where one of them failed. */
export async function mineTransactions(rpc: Rpc, transactions: readonly Transaction[]): Promise<void> {
  const hashes = await sendTransactions(rpc, transactions);
  await rpc.call("evm_mine");
  const receipts = await rpc.batch<{ status: Hex } | null>(
    hashes.map((hash) => ({ method: "eth_getTransactionReceipt", params: [hash] })),
  );
  const failed = receipts.findIndex((receipt) => receipt?.status !== "0x1");
  if (failed >= 0)
    throw new Error(`Transaction ${failed} of ${hashes.length} in a block failed: ${hashes[failed]}`);
}

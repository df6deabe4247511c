import { type Anvil, startAnvil } from "../../../../deploy/devnet/node/anvil.ts";
import type { Hex } from "../port.ts";

/** Two contracts that log one topic each on every call. */
export const EMITTERS: readonly { readonly address: Hex; readonly topic: Hex }[] = [
  { address: `0x${"e1".repeat(20)}`, topic: `0x${"a1".repeat(32)}` },
  { address: `0x${"e2".repeat(20)}`, topic: `0x${"a2".repeat(32)}` },
];

/** A contract that reverts. */
export const REVERTER: Hex = `0x${"ee".repeat(20)}`;

export interface EmitterChain {
  readonly anvil: Anvil;
  /** Mines one block with `counts[i]` logs of emitter i. */
  mine(counts: readonly number[]): Promise<void>;
  /** The first of anvil's accounts: the sender of every transaction. */
  readonly sender: Hex;
}

/** An anvil chain whose blocks hold a chosen number of logs. */
export async function startEmitterChain(): Promise<EmitterChain> {
  const anvil = await startAnvil({ chainId: 8453, keptStates: 1000 });
  const { rpc } = anvil;
  for (const { address, topic } of EMITTERS) {
    // PUSH32 topic, PUSH1 0, PUSH1 0, LOG1, STOP
    await rpc.call("anvil_setCode", [address, `0x7f${topic.slice(2)}60006000a100`]);
  }
  // PUSH1 0, PUSH1 0, REVERT
  await rpc.call("anvil_setCode", [REVERTER, "0x60006000fd"]);
  const [sender] = await rpc.call<Hex[]>("eth_accounts");
  if (sender === undefined) throw new Error("anvil has no account");
  return {
    anvil,
    sender,
    async mine(counts) {
      const calls = counts.flatMap((count, i) => Array<Hex | undefined>(count).fill(EMITTERS[i]?.address));
      const transactions = calls.map((to) => ({
        method: "eth_sendTransaction",
        params: [{ from: sender, to, gas: "0x7530" }],
      }));
      await rpc.batch([...transactions, { method: "evm_mine", params: [] }]);
    },
  };
}

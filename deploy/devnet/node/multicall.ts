import type { Hex } from "viem";
import { multicall3 } from "../contracts/multicall/artifacts.ts";
import type { Rpc } from "./rpc.ts";
import type { Address } from "./transactions.ts";

/** Where nearly every chain has its Multicall3. */
export const MULTICALL3: Address = "0xca11bde05977b3631167028862be2a173976ca11";

/** Puts ours there, without a transaction: on a fresh chain it is part of every block from 1 on. */
export async function installMulticall(rpc: Rpc): Promise<void> {
  // What the constructor returns is the code that stays.
  const code = await rpc.call<Hex>("eth_call", [{ data: multicall3.bytecode }, "latest"]);
  await rpc.call("anvil_setCode", [MULTICALL3, code]);
}

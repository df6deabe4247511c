import { type Environment, readSettings } from "./config.ts";

/** JSON-RPC endpoints by chain id, of the EVM chains that have some. */
export function readRpcUrls(env: Environment): ReadonlyMap<number, readonly string[]> {
  const { EVM_RPC_1, EVM_RPC_8453 } = readSettings(env, ["EVM_RPC_1", "EVM_RPC_8453"]);
  const all = [
    [1, EVM_RPC_1],
    [8453, EVM_RPC_8453],
  ] as const;
  return new Map(all.flatMap(([chainId, urls]) => (urls === undefined ? [] : [[chainId, urls] as const])));
}

import { ConfigError, collectConfigErrors, type Environment, readSettings } from "./settings.ts";

/** JSON-RPC endpoints by chain id, of the EVM chains that have some. Throws ConfigError. */
export function readRpcUrls(env: Environment): ReadonlyMap<number, readonly string[]> {
  const [ofEthereum, ofBase] = collectConfigErrors(
    () => readUrls(env, "EVM_RPC_1"),
    () => readUrls(env, "EVM_RPC_8453"),
  );
  const all = [
    [1, ofEthereum],
    [8453, ofBase],
  ] as const;
  return new Map(all.flatMap(([chainId, urls]) => (urls === undefined ? [] : [[chainId, urls] as const])));
}

/** JSON-RPC endpoints of Solana, where there are some. Throws ConfigError. */
export function readSolanaUrls(env: Environment): readonly string[] | undefined {
  return readUrls(env, "SOLANA_RPC");
}

function readUrls(
  env: Environment,
  name: "EVM_RPC_1" | "EVM_RPC_8453" | "SOLANA_RPC",
): readonly string[] | undefined {
  const urls = readSettings(env, [name])[name];
  if (urls !== undefined && !urls.some((url) => /^https?:/i.test(url)))
    throw new ConfigError([
      `Cannot use ${name}: it must name an http or https endpoint; ws and wss ones only announce new blocks`,
    ]);
  return urls;
}

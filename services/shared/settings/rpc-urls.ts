import { readChainSetting } from "./chain-settings.ts";
import { ConfigError, type Environment, readSettings } from "./settings.ts";

/** JSON-RPC endpoints by chain id, of the EVM chains that have some. Throws ConfigError. */
export function readRpcUrls(env: Environment): ReadonlyMap<number, readonly string[]> {
  const all = readChainSetting(env, "EVM_RPC");
  const problems = [...all].flatMap(([id, urls]) => problemsOf(`EVM_RPC_${id}`, urls));
  if (problems.length > 0) throw new ConfigError(problems);
  return all;
}

/** Portals of history by chain id, of the EVM chains that have one. Throws ConfigError. */
export function readPortalUrls(env: Environment): ReadonlyMap<number, string> {
  return readChainSetting(env, "EVM_PORTAL");
}

/** First blocks to index by chain id, of the EVM chains for which one is set. Throws ConfigError. */
export function readStartBlocks(env: Environment): ReadonlyMap<number, number> {
  return readChainSetting(env, "START_BLOCK");
}

/** JSON-RPC endpoints of Solana, where there are some. Throws ConfigError. */
export function readSolanaUrls(env: Environment): readonly string[] | undefined {
  const { SOLANA_RPC } = readSettings(env, ["SOLANA_RPC"]);
  const problems = SOLANA_RPC === undefined ? [] : problemsOf("SOLANA_RPC", SOLANA_RPC);
  if (problems.length > 0) throw new ConfigError(problems);
  return SOLANA_RPC;
}

const isUrl = (value: string): boolean => value.includes("://") && /^https?:/i.test(value);

/** The Yellowstone gRPC server that streams Solana's blocks, where SOLANA_GRPC names one by a URL. Throws ConfigError. */
export function readSolanaStream(
  env: Environment,
): { readonly url: string; readonly token: string | undefined } | undefined {
  const settings = readSettings(env, ["SOLANA_GRPC", "SOLANA_GRPC_TOKEN"]);
  const [url, ...more] = settings.SOLANA_GRPC.filter(isUrl);
  if (more.length > 0)
    throw new ConfigError(["Cannot use SOLANA_GRPC: it must name one Yellowstone gRPC server"]);
  return url === undefined ? undefined : { url, token: settings.SOLANA_GRPC_TOKEN };
}

/** The gRPC addresses of the solana service; the usual one where SOLANA_GRPC names a stream only. */
export function readSolanaPeers(env: Environment): readonly string[] {
  const addresses = readSettings(env, ["SOLANA_GRPC"]).SOLANA_GRPC.filter((value) => !isUrl(value));
  return addresses.length > 0 ? addresses : readSettings({}, ["SOLANA_GRPC"]).SOLANA_GRPC;
}

function problemsOf(name: string, urls: readonly string[]): string[] {
  return urls.some((url) => /^https?:/i.test(url))
    ? []
    : [
        `Cannot use ${name}: it must name an http or https endpoint; ws and wss ones only announce new blocks`,
      ];
}

import { EVM_CHAINS, type EvmChainId } from "../evm/chains.ts";
import { ConfigError, collectConfigErrors, type Environment, readSettings } from "./settings.ts";

/** JSON-RPC endpoints by chain id, of the EVM chains that have some. Throws ConfigError. */
export function readRpcUrls(env: Environment): ReadonlyMap<number, readonly string[]> {
  const all = collectConfigErrors(
    ...EVM_CHAINS.map(
      ({ id }) =>
        () =>
          [id, readUrls(env, `EVM_RPC_${id}`)] as const,
    ),
  );
  return new Map(all.flatMap(([chainId, urls]) => (urls === undefined ? [] : [[chainId, urls] as const])));
}

/** Portals of history by chain id, of the EVM chains that have one. Throws ConfigError. */
export function readPortalUrls(env: Environment): ReadonlyMap<number, string> {
  const all = collectConfigErrors(
    ...EVM_CHAINS.map(({ id }) => () => {
      const name = `EVM_PORTAL_${id}` as const;
      return [id, readSettings(env, [name])[name]] as const;
    }),
  );
  return new Map(all.flatMap(([chainId, url]) => (url === undefined ? [] : [[chainId, url] as const])));
}

/** First blocks to index by chain id, of the EVM chains for which one is set. Throws ConfigError. */
export function readStartBlocks(env: Environment): ReadonlyMap<number, number> {
  const all = collectConfigErrors(
    ...EVM_CHAINS.map(({ id }) => () => {
      const name = `START_BLOCK_${id}` as const;
      return [id, readSettings(env, [name])[name]] as const;
    }),
  );
  return new Map(all.flatMap(([chainId, block]) => (block === undefined ? [] : [[chainId, block] as const])));
}

/** JSON-RPC endpoints of Solana, where there are some. Throws ConfigError. */
export function readSolanaUrls(env: Environment): readonly string[] | undefined {
  return readUrls(env, "SOLANA_RPC");
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

function readUrls(
  env: Environment,
  name: `EVM_RPC_${EvmChainId}` | "SOLANA_RPC",
): readonly string[] | undefined {
  const urls = readSettings(env, [name])[name];
  if (urls !== undefined && !urls.some((url) => /^https?:/i.test(url)))
    throw new ConfigError([
      `Cannot use ${name}: it must name an http or https endpoint; ws and wss ones only announce new blocks`,
    ]);
  return urls;
}

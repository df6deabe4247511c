import { listEvmChains } from "../evm/chains.ts";
import { knowDeployedChains } from "../evm/deployed-chains.ts";
import { collectConfigErrors, type Environment, integer, list, readEnv, type Setting, url } from "./env.ts";

export const rpcUrls = list(url(["http", "https", "ws", "wss"]));
export const blockNumber = integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
export const portalUrl = url(["http", "https", "file"]);

/** Settings of one EVM chain each: `<name>_<chain id>`. */
const CHAIN_SETTINGS = {
  EVM_RPC: { parse: rpcUrls, secret: true, meaning: "JSON-RPC endpoints", usedBy: ["ingest"] },
  EVM_PORTAL: { parse: portalUrl, secret: true, meaning: "SQD Portal", usedBy: ["ingest"] },
  START_BLOCK: { parse: blockNumber, meaning: "First block to index", usedBy: ["ingest"] },
} as const;

export type ChainSetting = keyof typeof CHAIN_SETTINGS;
export const CHAIN_SETTING_NAMES = Object.keys(CHAIN_SETTINGS) as readonly ChainSetting[];

/** The names of a setting for all known chains, those of the environment's DEPLOYMENTS_FILE among them. */
export function listChainSettings(env: Environment, setting: ChainSetting): readonly string[] {
  knowDeployedChains(env.DEPLOYMENTS_FILE);
  return listEvmChains().map(({ id }) => `${setting}_${id}`);
}

/** A setting's values by chain id, of the known chains for which it is set. Throws ConfigError. */
export function readChainSetting<N extends ChainSetting>(
  env: Environment,
  setting: N,
): ReadonlyMap<number, ReturnType<(typeof CHAIN_SETTINGS)[N]["parse"]>> {
  knowDeployedChains(env.DEPLOYMENTS_FILE);
  type Value = ReturnType<(typeof CHAIN_SETTINGS)[N]["parse"]>;
  const row: Setting<Value> = CHAIN_SETTINGS[setting] as never;
  const read = listEvmChains().map(({ id }) => () => {
    const name = `${setting}_${id}`;
    return [id, readEnv(env, { [name]: row })[name] as Value | undefined] as const;
  });
  const all = collectConfigErrors(...read);
  return new Map(all.flatMap(([id, value]) => (value === undefined ? [] : [[id, value] as const])));
}

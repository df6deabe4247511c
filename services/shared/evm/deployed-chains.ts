import { readFileSync, statSync } from "node:fs";
import { addEvmChains, type EvmChain } from "./chains.ts";

/** Where a file does not say it: the block time of most rollups. */
const BLOCK_SECONDS = 2;

/** The file that was read last, as it was then: a start asks for its chains half a dozen times. */
let lastRead: string | undefined;

/**
 * Makes the chains of a deployments file known (DEPLOYMENTS_FILE; undefined = the built-in registry, which has those of
 * the specification alone). A chain is an entry of `evmDex.chains` or `lending.chains`: chainId, name and blockSeconds,
 * the latter optional. What is no such entry is left to the reader of its section, which names the fault.
 */
export function knowDeployedChains(path: string | undefined): void {
  const file = path?.trim();
  if (file === undefined || file === "") return;
  const version = versionOf(file);
  if (version !== undefined && version === lastRead) return;
  lastRead = version;
  const sections = readSections(file);
  addEvmChains(sections.flatMap(({ chains }) => (Array.isArray(chains) ? chains.flatMap(readChain) : [])));
}

/** Differs once the file has changed; undefined where there is none. */
function versionOf(file: string): string | undefined {
  try {
    const { ino, size, mtimeNs } = statSync(file, { bigint: true });
    return `${file} ${ino} ${size} ${mtimeNs}`;
  } catch {
    return undefined;
  }
}

function readSections(file: string): readonly { chains?: unknown }[] {
  try {
    const { evmDex, lending } = JSON.parse(readFileSync(file, "utf8")) ?? {};
    return [evmDex, lending].filter((section) => typeof section === "object" && section !== null);
  } catch {
    return [];
  }
}

function readChain(value: unknown): EvmChain[] {
  const { blockSeconds = BLOCK_SECONDS, chainId, name } = (value ?? {}) as Record<string, unknown>;
  const isChain =
    Number.isSafeInteger(chainId) && typeof name === "string" && typeof blockSeconds === "number";
  return isChain && blockSeconds > 0 ? [{ id: chainId as number, name, blockSeconds }] : [];
}

import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../../services/shared/logging/log.ts";
import type { Environment } from "../../services/shared/settings/settings.ts";
import { startDevnetProcess, startSolanaDevnetProcess } from "./devnet-process.ts";
import { CHAIN_STOP_MS, type Parts } from "./parts.ts";

export interface LocalChain {
  readonly url: string;
  /** A pool to try, with its name. */
  readonly pool: string;
  readonly poolName: string;
  /** Settings by which services and ingests find the chain. */
  readonly env: Environment;
}

export interface LocalChainOptions {
  /** Folder of chains and indexes. */
  readonly dataDir: string;
  /** 0 = a free one. */
  readonly port: number;
  readonly withSolana: boolean;
  readonly parts: Parts;
  readonly log: Log;
  readonly say: (line: string) => void;
}

/** Both at once; where one fails, the other has started too by then, and is stopped with the rest. */
export async function openLocalChains(
  options: LocalChainOptions,
): Promise<[LocalChain, Environment | undefined]> {
  const opening = [
    openLocalChain(options),
    options.withSolana ? openLocalSolana(options) : undefined,
  ] as const;
  await Promise.allSettled(opening);
  return Promise.all(opening);
}

async function openLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const { dataDir, say } = options;
  say(
    "No RPC endpoint is configured: starting a local chain (the first time with a week of history, some seconds).",
  );
  const ready = await startDevnetProcess(processOptions(options, options.port));
  // Another chain than the one that was indexed: the index is worthless, and made again within seconds.
  if (!ready.resumed) for (const name of ["evm-dex", "lending"]) await removeIndex(dataDir, name);
  const [first] = ready.pools;
  return {
    url: ready.url,
    pool: first?.address ?? "",
    poolName: first?.name ?? "",
    env: {
      EVM_RPC_8453: `${ready.url},${ready.wsUrl}`,
      // A portal knows nothing of this chain.
      EVM_PORTAL_8453: "",
      START_BLOCK_8453: "0",
      DEPLOYMENTS_FILE: ready.deploymentsFile,
    },
  };
}

/** The environment by which the Solana ingest finds it. */
async function openLocalSolana(options: LocalChainOptions): Promise<Environment> {
  const { dataDir } = options;
  const ready = await startSolanaDevnetProcess(processOptions(options, 0));
  if (!ready.resumed) await removeIndex(dataDir, "solana");
  return { SOLANA_RPC: `${ready.url},${ready.wsUrl}`, START_BLOCK_SOLANA: "0", DATA_DIR: dataDir };
}

function processOptions({ dataDir, log, say, parts }: LocalChainOptions, port: number) {
  return { dataDir, port, log, say, parts, stopTimeoutMs: CHAIN_STOP_MS };
}

async function removeIndex(dataDir: string, service: string): Promise<void> {
  for (const suffix of ["", "-wal", "-shm"])
    await rm(join(dataDir, `${service}.sqlite${suffix}`), { force: true });
}

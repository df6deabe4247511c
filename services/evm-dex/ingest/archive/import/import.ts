import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ArchiveFolder } from "../../../../shared/evm/archive/folder-client.ts";
import { listEvmChains } from "../../../../shared/evm/chains.ts";
import { pause } from "../../../../shared/process/pause.ts";
import type { Environment } from "../../../../shared/settings/env.ts";
import { readSettings } from "../../../../shared/settings/settings.ts";
import { openStore } from "../../../../shared/storage/open.ts";
import type { Store } from "../../../../shared/storage/port.ts";
import { checkpoints } from "../../../store/collections.ts";
import { getCheckpoint } from "../../../store/queries.ts";
import { SQLITE_FILE } from "../../../store/sqlite-file.ts";
import { startIngest } from "../../service.ts";

const LOOK_MS = 500;

/** The index begins behind the folder's blocks: what is before it is read backwards, while the ingest runs. */
export class IndexedBackwards extends Error {
  override readonly name = "IndexedBackwards";
  constructor(
    folder: string,
    { chainId, index, first }: { chainId: number; index: { fromBlock: number }; first: number },
  ) {
    super(
      `Cannot import blocks from ${first} on: the index of chain ${chainId} begins with block ${index.fromBlock}. ` +
        `Start its ingest with EVM_PORTAL_${chainId}=${pathToFileURL(resolve(folder)).href}, and history grows back from there.`,
    );
  }
}

/**
 * Indexes recorded blocks by the ingest itself, with the folder in place of a portal, until the index holds the last one.
 * An empty index begins with the first recorded block. Returns the last indexed block. Throws ConfigError.
 */
export async function importArchive(
  { folder, first, last }: ArchiveFolder,
  {
    chainId,
    env,
    signal,
    say,
  }: { chainId: number; env: Environment; signal: AbortSignal; say: (text: string) => void },
): Promise<number> {
  const { DATA_DIR: dataDir, MONGODB_URL: mongodbUrl } = readSettings(env, ["DATA_DIR", "MONGODB_URL"]);
  const store = await openStore({
    service: "evm-dex",
    dataDir,
    ...SQLITE_FILE,
    ...(mongodbUrl !== undefined && { mongodbUrl }),
  });
  try {
    await store.declare([checkpoints]);
    const index = await getCheckpoint(store, chainId);
    const begun = index?.blockNumber;
    if (index !== undefined && index.blockNumber >= last.number) {
      if (index.fromBlock > first.number)
        throw new IndexedBackwards(folder, { chainId, index, first: first.number });
      say(`The index holds block ${begun}: there is nothing to import up to block ${last.number}.`);
      return index.blockNumber;
    }
    if (begun !== undefined && begun + 1 < first.number)
      say(`Blocks ${begun + 1} to ${first.number - 1} are not in the folder: they are read from the node.`);
    const settings = settingsFor(env, {
      folder,
      chainId,
      ...(begun === undefined && { startBlock: first.number }),
    });
    const ingest = await startIngest(settings);
    try {
      for (;;) {
        const block = await lastBlock(store, chainId);
        if (signal.aborted || (block ?? -1) >= last.number) return block ?? -1;
        await pause(LOOK_MS, signal);
      }
    } finally {
      await ingest.stop();
    }
  } finally {
    await store.close();
  }
}

async function lastBlock(store: Store, chainId: number): Promise<number | undefined> {
  return (await getCheckpoint(store, chainId))?.blockNumber;
}

/** The ingest's own, for this chain alone. */
function settingsFor(
  env: Environment,
  { chainId, folder, startBlock }: { chainId: number; folder: string; startBlock?: number },
): Environment {
  const others = listEvmChains()
    .filter(({ id }) => id !== chainId)
    .map(({ id }) => [`EVM_RPC_${id}`, ""]);
  const start = `START_BLOCK_${chainId}`;
  return {
    ...env,
    ...Object.fromEntries(others),
    [`EVM_PORTAL_${chainId}`]: pathToFileURL(resolve(folder)).href,
    ...(startBlock !== undefined && { [start]: env[start] || String(startBlock) }),
  };
}

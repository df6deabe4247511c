import type { ServiceError } from "../errors.ts";
import type { ChainReading } from "../grpc/types.ts";
import type { Log } from "../logging/log.ts";
import { readRpcUrls } from "../settings/rpc-urls.ts";
import { type Environment, readSettings } from "../settings/settings.ts";
import type { Store } from "../storage/port.ts";
import { deriveChainReading, justReadError, notReadYetError } from "./chain-state.ts";
import { ingestStatus } from "./status-row.ts";
import { IngestWatch } from "./status-watcher.ts";

/** What a service says of the reading of its chains. */
export interface ChainReadings {
  /** `hasData`: whether the store holds a block of the chain. */
  get(chainId: number, hasData: boolean): ChainReading;
  /** The 503 of a table that was answered without a single block; `hasData`: it has some by now. */
  missingDataError(chainId: number, hasData: boolean): ServiceError;
  close(): void;
}

/**
 * Watches what the ingest says in this service's store, whose collection it declares. Resolves when the store has
 * answered once or has failed to.
 */
export async function openChainReadings(options: {
  readonly store: Store;
  readonly chainIds: readonly number[];
  /** The subject of messages about tables that were never read, in the plural. */
  readonly what: string;
  readonly env: Environment;
  readonly log: Log;
}): Promise<ChainReadings> {
  const { store, chainIds, what, log } = options;
  await store.declare([ingestStatus]);
  const expected = expectedChains(options.env);
  let isFailing = false;
  const watch = new IngestWatch({
    store,
    chainIds,
    onFailure(err) {
      if (!isFailing) log.warn({ err }, "what the ingest says cannot be read");
      isFailing = true;
    },
  });
  await watch.started;
  const get = (chainId: number, hasData: boolean) =>
    deriveChainReading({ hasData, seen: watch.current(chainId), isExpected: expected.has(chainId), chainId });
  return {
    get,
    missingDataError: (chainId, hasData) =>
      hasData ? justReadError(what) : notReadYetError(what, { chainId, reading: get(chainId, false) }),
    close: () => watch.close(),
  };
}

/**
 * Chains that the environment names a source for. A serving process of its own has no such variables and needs none:
 * where everything runs on one machine (npm start) they tell an ingest that is on its way from none at all.
 */
function expectedChains(env: Environment): ReadonlySet<number> {
  const { SOLANA_RPC } = readSettings(env, ["SOLANA_RPC"]);
  return new Set([...readRpcUrls(env).keys(), ...(SOLANA_RPC === undefined ? [] : [0])]);
}

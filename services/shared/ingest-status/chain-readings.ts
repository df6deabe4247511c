import type { ServiceError } from "../errors.ts";
import type { ChainReading } from "../grpc/types.ts";
import type { Log } from "../logging/log.ts";
import { readRpcUrls } from "../settings/rpc-urls.ts";
import { type Environment, readSettings } from "../settings/settings.ts";
import type { Store } from "../storage/port.ts";
import { deriveChainReading, justReadError, notConfiguredError, notReadYetError } from "./chain-state.ts";
import { ingestStatus } from "./status-row.ts";
import { IngestStatusWatcher } from "./status-watcher.ts";

/** The reading state of a service's chains. */
export interface ChainReadings {
  /** `hasData`: whether the store holds a block of the chain. */
  get(chainId: number, hasData: boolean): ChainReading;
  /**
   * The error of a table without a block: 503, or 404 where the chain is not configured and so never will have one.
   * `hasData`: it has one by now.
   */
  missingDataError(chainId: number, hasData: boolean): ServiceError;
  close(): void;
}

/**
 * Watches the ingest's status rows in this service's store, whose collection it declares. Resolves after the first read,
 * whether it succeeded or not.
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
  const watch = new IngestStatusWatcher({
    store,
    chainIds,
    onFailure(err) {
      if (!isFailing) log.warn({ err }, "the ingest's status cannot be read");
      isFailing = true;
    },
  });
  await watch.started;
  const openedMs = performance.now();
  const get = (chainId: number, hasData: boolean) => {
    const isExpected = expected.has(chainId);
    const waitedMs = performance.now() - openedMs;
    return deriveChainReading({ hasData, seen: watch.current(chainId), isExpected, waitedMs, chainId });
  };
  /** Without an ingest's word, an environment without any source says nothing: the ingest may have one of its own. */
  const isAbsent = (chainId: number) =>
    !chainIds.includes(chainId) ||
    watch.current(chainId)?.row.state === "no_source" ||
    (watch.current(chainId) === undefined && expected.size > 0 && !expected.has(chainId));
  return {
    get,
    missingDataError(chainId, hasData) {
      if (hasData) return justReadError(what);
      if (isAbsent(chainId))
        return notConfiguredError(
          chainId,
          chainIds.filter((id) => !isAbsent(id)),
        );
      return notReadYetError(what, { chainId, reading: get(chainId, false) });
    },
    close: () => watch.close(),
  };
}

/**
 * Chains with a source in the environment. A separate serving process has no such variables and needs none: on one machine
 * (npm start) they distinguish an ingest that is about to start from no ingest.
 */
function expectedChains(env: Environment): ReadonlySet<number> {
  const { SOLANA_RPC } = readSettings(env, ["SOLANA_RPC"]);
  return new Set([...readRpcUrls(env).keys(), ...(SOLANA_RPC === undefined ? [] : [0])]);
}

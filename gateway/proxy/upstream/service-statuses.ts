import type { Family } from "../../../services/shared/contract/endpoint.ts";
import { createStatusClient } from "../../../services/shared/grpc/client.ts";
import type { ChainStatus, StatusSource } from "../../../services/shared/grpc/types.ts";
import type { UpstreamAddress } from "../../config.ts";

const DEADLINE_MS = 1_000;
/** The last status still counts for this long after a service has stopped responding; its health is polled anyway. */
const REMEMBERED_MS = 10_000;
/** However often /readyz is requested, services are queried no more often than this. */
const CACHED_MS = 500;

/** Status of the chains by family; undefined for a service whose status cannot be read. */
export type ChainsByFamily = ReadonlyMap<Family, readonly ChainStatus[] | undefined>;

export interface ServiceStatuses {
  /** Queries all services at once. Never rejects. */
  read(): Promise<ChainsByFamily>;
  /** Software versions of the services that have answered so far. */
  versions(): ReadonlyMap<Family, string>;
  close(): void;
}

interface Clients {
  readonly family: Family;
  readonly client: Pick<StatusSource, "getStatus"> & { close(): void };
}

/**
 * Queries services for their status on request only; health is polled elsewhere. Replicas share a store, so that the
 * response of one is that of all.
 */
export function createServiceStatuses(
  addresses: Readonly<Partial<Record<Family, readonly UpstreamAddress[]>>>,
  {
    serviceToken,
    now = () => performance.now(),
  }: { readonly serviceToken?: string | undefined; readonly now?: () => number } = {},
): ServiceStatuses {
  const clients = Object.entries(addresses).map(([family, replicas]): Clients => {
    const targets = replicas.map(({ grpc }) => grpc);
    const client = createStatusClient(targets, { deadlineMs: DEADLINE_MS, serviceToken });
    return { family: family as Family, client };
  });
  const last = new Map<Family, { readonly atMs: number; readonly chains: readonly ChainStatus[] }>();
  const versions = new Map<Family, string>();
  let kept: { readonly atMs: number; readonly chains: Promise<ChainsByFamily> } | undefined;

  const readAll = async (): Promise<ChainsByFamily> =>
    new Map(
      await Promise.all(
        clients.map(async ({ family, client }) => {
          const status = await client.getStatus().catch(() => undefined);
          if (status !== undefined) {
            last.set(family, { atMs: now(), chains: status.chains });
            versions.set(family, status.version);
          }
          const known = last.get(family);
          const isRecent = known !== undefined && now() - known.atMs <= REMEMBERED_MS;
          return [family, isRecent ? known.chains : undefined] as const;
        }),
      ),
    );

  return {
    read() {
      if (kept === undefined || now() - kept.atMs > CACHED_MS) kept = { atMs: now(), chains: readAll() };
      return kept.chains;
    },
    versions: () => versions,
    close() {
      for (const { client } of clients) client.close();
    },
  };
}

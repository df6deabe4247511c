import type { Family } from "../../../services/shared/contract/endpoint.ts";
import { createStatusClient } from "../../../services/shared/grpc/client.ts";
import type { ChainStatus, StatusSource } from "../../../services/shared/grpc/types.ts";
import type { UpstreamAddress } from "../../config.ts";

const DEADLINE_MS = 1_000;
/** What was last said still counts for this long after a service has stopped answering: its health says the rest. */
const REMEMBERED_MS = 10_000;
/** However often /readyz is asked for, services are not asked more often than this. */
const KEPT_MS = 500;

/** What services say of their chains, by family; undefined of a service whose status cannot be read. */
export type ChainsByFamily = ReadonlyMap<Family, readonly ChainStatus[] | undefined>;

export interface ServiceStatuses {
  /** Asks every service at once. Never rejects. */
  read(): Promise<ChainsByFamily>;
  close(): void;
}

interface Clients {
  readonly family: Family;
  readonly client: Pick<StatusSource, "getStatus"> & { close(): void };
}

/**
 * Asks services for their status when somebody wants to know, and not otherwise: health is another matter, and polled.
 * Replicas share a store and say the same, so that one that answers speaks for all.
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
  let kept: { readonly atMs: number; readonly chains: Promise<ChainsByFamily> } | undefined;

  const readAll = async (): Promise<ChainsByFamily> =>
    new Map(
      await Promise.all(
        clients.map(async ({ family, client }) => {
          const status = await client.getStatus().catch(() => undefined);
          if (status !== undefined) last.set(family, { atMs: now(), chains: status.chains });
          const known = last.get(family);
          const isRecent = known !== undefined && now() - known.atMs <= REMEMBERED_MS;
          return [family, isRecent ? known.chains : undefined] as const;
        }),
      ),
    );

  return {
    read() {
      if (kept === undefined || now() - kept.atMs > KEPT_MS) kept = { atMs: now(), chains: readAll() };
      return kept.chains;
    },
    close() {
      for (const { client } of clients) client.close();
    },
  };
}

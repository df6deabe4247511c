import type { Work } from "./estimate.ts";

/** The parts of the deployments that say what is scanned. */
export interface Deployed {
  readonly factories: readonly { readonly address: string; readonly fromBlock: number }[];
  /** First blocks of lending's scans. */
  readonly lendingScans: readonly { readonly fromBlock: number }[];
}

interface LendingChain {
  readonly chainId: number;
  readonly protocols: readonly {
    readonly protocol: { scans(deployment: never): readonly { readonly fromBlock: number }[] };
    readonly deployment: unknown;
  }[];
}

interface DexChain {
  readonly chainId: number;
  readonly factories: Deployed["factories"];
}

/** Of every chain, by the services that read them. */
export interface Deployments {
  readonly evmDex: readonly DexChain[];
  readonly lending: readonly LendingChain[];
}

/** What the deployments of both services have on a chain; undefined where that is nothing. */
export function deployedOn(chainId: number, { evmDex, lending }: Deployments): Deployed | undefined {
  const factories = evmDex.filter((each) => each.chainId === chainId).flatMap((each) => each.factories);
  const lendingScans = lending
    .filter((each) => each.chainId === chainId)
    .flatMap(({ protocols }) =>
      protocols.flatMap(({ protocol, deployment }) => protocol.scans(deployment as never)),
    );
  return factories.length + lendingScans.length === 0 ? undefined : { factories, lendingScans };
}

export function workOf(
  { factories, lendingScans }: Deployed,
  { head, historyDays, rawDays }: Pick<Work, "head" | "historyDays" | "rawDays">,
): Work {
  return { head, historyDays, rawDays, poolsFrom: firstOf(factories), lendingFrom: firstOf(lendingScans) };
}

function firstOf(scans: readonly { readonly fromBlock: number }[]): number | undefined {
  return scans.length === 0 ? undefined : Math.min(...scans.map(({ fromBlock }) => fromBlock));
}

/** As the ingest: services/evm-dex/ingest/service.ts. */
const DEFAULT_DAYS = { byPortal: 400, byNodes: 7 };
const DEFAULT_RAW_DAYS = 8;

/** Days that a first start reads: by START_BLOCK_<chain>, HISTORY_DAYS, or the default of the ingest. */
export function historyDaysOf(
  env: Readonly<Record<string, string | undefined>>,
  { chainId, head, blockSeconds }: { chainId: number; head: number; blockSeconds: number },
): number {
  const startBlock = env[`START_BLOCK_${chainId}`]?.trim();
  if (startBlock) return (Math.max(0, head - Number(startBlock)) * blockSeconds) / 86_400;
  const hasPortal = Boolean(env[`EVM_PORTAL_${chainId}`]?.trim());
  return Number(env.HISTORY_DAYS?.trim() || (hasPortal ? DEFAULT_DAYS.byPortal : DEFAULT_DAYS.byNodes));
}

/** Days whose events are kept as rows: as services/shared/settings/settings.ts. */
export function rawDaysOf(env: Readonly<Record<string, string | undefined>>): number {
  return Number(env.EVM_RAW_DAYS?.trim() || DEFAULT_RAW_DAYS) || Number.POSITIVE_INFINITY;
}

import type { ChainStatus } from "../../services/shared/grpc/types.ts";
import { sendText } from "../../services/shared/http/exchange.ts";
import { type ShownChain, showChains } from "../../services/shared/ingest-status/show-chains.ts";
import { VERSION } from "../../services/shared/process/version.ts";
import type { Page } from "../request/routes.ts";
import type { ReadinessSources } from "./readiness.ts";

/** How fast the indexed block moves: measured between two readings at least this far apart. */
const RATE_SECONDS = 10;

interface StatusDeps extends Pick<ReadinessSources, "groups" | "isDraining"> {
  readonly statuses: Pick<ReadinessSources["statuses"], "read"> & {
    versions(): ReadonlyMap<string, string>;
  };
  readonly nowMs?: () => number;
}

/** A chain as one service has indexed it. */
interface IndexedChain extends ShownChain {
  readonly lagBlocks?: number;
  /** First indexed block: nothing before it is covered. */
  readonly fromBlock?: number;
  /** Blocks a second, over the last readings. */
  readonly blocksPerSecond?: number;
}

/**
 * GET /status: versions, services, and each chain as each service has it. Unlike /readyz it judges nothing and is always
 * 200: what people and dashboards look at.
 */
export function createStatusPage({ groups, statuses, isDraining, nowMs = Date.now }: StatusDeps): Page {
  const rates = new Map<
    string,
    { readonly atMs: number; readonly block: number; rate: number | undefined }
  >();

  const rateOf = (name: string, block: number): number | undefined => {
    const before = rates.get(name);
    const seconds = before === undefined ? 0 : (nowMs() - before.atMs) / 1000;
    if (before !== undefined && seconds < RATE_SECONDS) return before.rate;
    const moved = before === undefined ? undefined : (block - before.block) / seconds;
    // Not after a rollback.
    const rate = moved === undefined || moved < 0 ? undefined : Math.round(moved * 100) / 100;
    rates.set(name, { atMs: nowMs(), block, rate });
    return rate;
  };

  const showChain = (family: string, chain: ChainStatus): [string, IndexedChain] => {
    const [name = "", shown] = Object.entries(showChains([chain], nowMs()))[0] ?? [];
    const { lagBlocks, fromBlock, indexedBlock } = chain;
    const rate = indexedBlock === null ? undefined : rateOf(`${family} ${name}`, indexedBlock);
    return [
      name,
      {
        ...(shown as ShownChain),
        ...(lagBlocks !== null && { lagBlocks }),
        ...(fromBlock !== null && { fromBlock }),
        ...(rate !== undefined && { blocksPerSecond: rate }),
      },
    ];
  };

  return async (_req, res) => {
    const read = await statuses.read();
    const versions = statuses.versions();
    const chains: Record<string, Record<string, IndexedChain>> = {};
    const services: Record<string, unknown> = {};
    for (const [family, { members }] of groups) {
      const serving = members.filter(({ state }) => state === "serving").length;
      services[family] = { serving, replicas: members.length, version: versions.get(family) ?? null };
      for (const chain of read.get(family) ?? []) {
        const [name, shown] = showChain(family, chain);
        chains[name] = { ...chains[name], [family]: shown };
      }
    }
    const body = { version: VERSION, time: isoOf(nowMs()), draining: isDraining(), services, chains };
    res.setHeader("Cache-Control", "no-store");
    sendText(res, { status: 200, type: "application/json", text: JSON.stringify(body) });
  };
}

function isoOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

import { ReorgDetected } from "../../chain-errors.ts";
import type { Clock } from "../../rpc-client/endpoint/clock.ts";
import type { Pool } from "../../rpc-client/pool.ts";
import type { BlockHeader, LogFilter, LogRange, RawLog } from "../port.ts";
import { createHeaderRequest } from "./requests.ts";
import { createBlockLogsRequest } from "./verify-requests.ts";

/** A new block reaches the machines behind a load balancer one after the other. */
const ATTEMPTS = 4;
const PAUSE_MS = 250;

/**
 * The filter's logs of one block by its hash. Waits a little for endpoints that do not know the block yet. Throws
 * ReorgDetected where it was replaced, or none comes to know it.
 */
export async function readBlockLogs(
  { pool, clock, lifetime }: { pool: Pool; clock: Clock; lifetime: AbortSignal },
  block: Pick<BlockHeader, "number" | "hash"> & Pick<LogRange, "isLinked">,
  filter: LogFilter,
): Promise<RawLog[]> {
  const about = `eth_getLogs block ${block.number}`;
  for (let attempt = 1; ; attempt++) {
    const [logs] = await pool.request([createBlockLogsRequest(block, filter)], about);
    if (logs !== undefined && logs !== "gone") return [...logs];
    const [now] = await pool.request([createHeaderRequest(block.number)], about);
    const isReplaced = now !== null && now?.hash !== block.hash;
    if (isReplaced || attempt === ATTEMPTS)
      throw new ReorgDetected(`Block ${block.number} is no longer ${block.hash}.`);
    await clock.sleep(PAUSE_MS * 2 ** (attempt - 1), lifetime);
  }
}

import { ReorgDetected } from "../../chain-errors.ts";
import type { Voter } from "../../rpc-client/client.ts";
import type { Clock } from "../../rpc-client/endpoint/clock.ts";
import type { Pool } from "../../rpc-client/pool.ts";
import { findSuspectBlocks } from "../bloom.ts";
import { type BlockHeader, type LogFilter, type RawLog, UpstreamError } from "../port.ts";
import { compareLogs } from "./parse.ts";
import { createHeaderRequest } from "./requests.ts";
import { type BlockLogs, createBlockLogsRequest, createReceiptLogsRequest } from "./verify-requests.ts";

interface Vote {
  readonly voter: Voter;
  readonly responses: readonly (readonly RawLog[])[] | undefined;
  readonly error: unknown;
}

interface VerifyEmptyOptions {
  readonly pool: Pool;
  /** Each endpoint by itself, since agreement counts endpoints. */
  readonly voters: readonly Voter[];
  readonly clock: Clock;
  /** Empty responses required of a single endpoint; of two endpoints one each is enough. */
  readonly agreeingAnswers: number;
  readonly pauseMs: number;
  readonly lifetime: AbortSignal;
}

/** Receipts are large: a few blocks per request. */
const RECEIPT_BATCH = 10;

type VerifyEmpty = (
  headers: readonly BlockHeader[],
  response: { logs: readonly RawLog[]; filter: LogFilter },
) => Promise<RawLog[]>;

/** Reads blocks again whose bloom contradicts an empty response; see EvmSource.verifyEmpty. */
export function createVerifyEmpty(options: VerifyEmptyOptions): VerifyEmpty {
  const { pool, voters, clock } = options;

  async function decide(suspects: readonly BlockHeader[], filter: LogFilter): Promise<RawLog[]> {
    const about = `eth_getBlockReceipts ${describeBlocks(suspects)}`;
    const found = await pool.request(
      suspects.map((header) => createReceiptLogsRequest(header, filter)),
      about,
      { maxBatch: RECEIPT_BATCH },
    );
    const undecided = suspects.filter((_, i) => found[i] === "unavailable");
    const logs = found.flatMap((each) => (each === "unavailable" ? [] : each));
    return undecided.length === 0 ? logs : [...logs, ...(await agree(undecided, filter))];
  }

  /** Without receipts: reads the logs of each block by its hash, until enough responses agree that there are none. */
  async function agree(suspects: readonly BlockHeader[], filter: LogFilter): Promise<RawLog[]> {
    const found = new Map<number, RawLog[]>();
    const votes = new Map<Voter, number>();
    let failure: unknown;
    for await (const { voter, responses, error } of collectVotes(suspects, filter)) {
      failure = error;
      if (responses === undefined) continue;
      for (const [i, logs] of responses.entries()) if (logs.length > 0) found.set(i, [...logs]);
      votes.set(voter, (votes.get(voter) ?? 0) + 1);
      const isSettled = votes.size > 1 || Math.max(...votes.values()) >= options.agreeingAnswers;
      if (isSettled || found.size === suspects.length) return [...found.values()].flat();
    }
    throw (
      failure ?? new UpstreamError(`logs of ${describeBlocks(suspects)}: no endpoint in service to confirm`)
    );
  }

  /** Queries every endpoint in service in turn, round after round with growing pauses. */
  async function* collectVotes(suspects: readonly BlockHeader[], filter: LogFilter): AsyncGenerator<Vote> {
    const requests = suspects.map((header) => createBlockLogsRequest(header, filter));
    const about = `eth_getLogs ${describeBlocks(suspects)}`;
    for (let round = 0; round < options.agreeingAnswers; round++) {
      if (round > 0) await clock.sleep(options.pauseMs * 2 ** (round - 1), options.lifetime);
      for (const voter of voters.filter((each) => voters.length === 1 || each.isUsable())) {
        try {
          const responses = await voter.pool.request(requests, about);
          yield { voter, responses: await resolveGone(suspects, responses), error: undefined };
        } catch (error) {
          if (error instanceof ReorgDetected) throw error;
          yield { voter, responses: undefined, error };
        }
      }
    }
  }

  /** Pruned nodes report "not found" for the hash of a block on the chain: that is no response, not an empty one. */
  async function resolveGone(
    suspects: readonly BlockHeader[],
    responses: readonly BlockLogs[],
  ): Promise<(readonly RawLog[])[]> {
    const gone = suspects.filter((_, i) => responses[i] === "gone");
    if (gone.length > 0) {
      const now = await pool.request(
        gone.map((header) => createHeaderRequest(header.number)),
        `eth_getBlockByNumber ${describeBlocks(gone)}`,
      );
      const pruned = gone.find((header, i) => now[i]?.hash === header.hash);
      const replaced = gone.find((header, i) => now[i]?.hash !== header.hash);
      if (replaced !== undefined)
        throw new ReorgDetected(`Block ${replaced.number} is no longer ${replaced.hash}.`);
      if (pruned !== undefined)
        throw new UpstreamError(`logs of block ${pruned.number} are not available from any endpoint`);
    }
    return responses.map((response) => (response === "gone" ? [] : response));
  }

  return async (headers, { logs, filter }) => {
    const numbers = new Set(findSuspectBlocks(headers, logs, filter));
    if (numbers.size === 0) return [...logs];
    const found = await decide(
      headers.filter((header) => numbers.has(header.number)),
      filter,
    );
    return found.length === 0 ? [...logs] : [...logs, ...found].sort(compareLogs);
  };
}

function describeBlocks(headers: readonly BlockHeader[]): string {
  const [first, last] = [headers[0], headers[headers.length - 1]];
  return headers.length === 1
    ? `block ${first?.number}`
    : `${headers.length} blocks from ${first?.number} to ${last?.number}`;
}

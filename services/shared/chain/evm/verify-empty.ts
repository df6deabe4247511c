import { bloomOfLogs, suspectEmpty } from "./bloom.ts";
import type { Clock } from "./clock.ts";
import { toQuantity } from "./hex.ts";
import type { Pool } from "./pool.ts";
import { type BlockHeader, type LogFilter, type RawLog, UpstreamError } from "./port.ts";
import { readFirst, toRpcFilter } from "./questions.ts";
import { compareLogs, distrust, readLog, readLogs } from "./read.ts";
import type { Question } from "./work.ts";

export interface Voter {
  readonly pool: Pool;
  isUsable(): boolean;
}

interface Vote {
  readonly voter: Voter;
  readonly answers: readonly RawLog[][] | undefined;
  readonly error: unknown;
}

export interface VerifyEmptyOptions {
  readonly pool: Pool;
  /** Each endpoint alone: agreement needs to know who says it. */
  readonly voters: readonly Voter[];
  readonly clock: Clock;
  /** Empty answers one endpoint alone has to give; of two endpoints one each is enough. */
  readonly agreeingAnswers: number;
  readonly pauseMs: number;
  readonly lifetime: AbortSignal;
}

/** Receipts are large: a few blocks a request. */
const RECEIPT_BATCH = 10;
/** How long the absence of eth_getBlockReceipts is remembered. */
const RECEIPTS_RETRY_MS = 600_000;

export type VerifyEmpty = (
  headers: readonly BlockHeader[],
  answer: { logs: readonly RawLog[]; filter: LogFilter },
) => Promise<RawLog[]>;

/** The second look at blocks whose bloom contradicts an empty answer; see EvmSource.verifyEmpty. */
export function createVerifyEmpty(options: VerifyEmptyOptions): VerifyEmpty {
  const { pool, voters, clock } = options;
  let noReceiptsUntil = Number.NEGATIVE_INFINITY;

  async function decide(suspects: readonly BlockHeader[], filter: LogFilter): Promise<RawLog[]> {
    if (clock.now() < noReceiptsUntil) return agree(suspects, filter);
    const about = `eth_getBlockReceipts ${describeBlocks(suspects)}`;
    const found = await pool.ask(
      suspects.map((header) => askReceiptLogs(header, filter)),
      about,
      { maxBatch: RECEIPT_BATCH },
    );
    const undecided = suspects.filter((_, i) => found[i] === "unavailable");
    if (undecided.length === suspects.length) noReceiptsUntil = clock.now() + RECEIPTS_RETRY_MS;
    const logs = found.flatMap((each) => (each === "unavailable" ? [] : each));
    return undecided.length === 0 ? logs : [...logs, ...(await agree(undecided, filter))];
  }

  /** Without receipts: the logs of each block by its hash, until enough answers say that there are none. */
  async function agree(suspects: readonly BlockHeader[], filter: LogFilter): Promise<RawLog[]> {
    const found = new Map<number, RawLog[]>();
    const votes = new Map<Voter, number>();
    let failure: unknown;
    for await (const { voter, answers, error } of collectVotes(suspects, filter)) {
      failure = error;
      if (answers === undefined) continue;
      for (const [i, logs] of answers.entries()) if (logs.length > 0) found.set(i, logs);
      votes.set(voter, (votes.get(voter) ?? 0) + 1);
      const isSettled = votes.size > 1 || Math.max(...votes.values()) >= options.agreeingAnswers;
      if (isSettled || found.size === suspects.length) return [...found.values()].flat();
    }
    throw (
      failure ?? new UpstreamError(`logs of ${describeBlocks(suspects)}: no endpoint in service to confirm`)
    );
  }

  /** Asks every endpoint in service in turn, round after round with growing pauses. */
  async function* collectVotes(suspects: readonly BlockHeader[], filter: LogFilter): AsyncGenerator<Vote> {
    const questions = suspects.map((header) => askBlockLogs(header, filter));
    const about = `eth_getLogs ${describeBlocks(suspects)}`;
    for (let round = 0; round < options.agreeingAnswers; round++) {
      if (round > 0) await clock.sleep(options.pauseMs * 2 ** (round - 1), options.lifetime);
      for (const voter of voters.filter((each) => voters.length === 1 || each.isUsable())) {
        try {
          yield { voter, answers: await voter.pool.ask(questions, about), error: undefined };
        } catch (error) {
          yield { voter, answers: undefined, error };
        }
      }
    }
  }

  return async (headers, { logs, filter }) => {
    const numbers = new Set(suspectEmpty(headers, logs, filter));
    if (numbers.size === 0) return [...logs];
    const found = await decide(
      headers.filter((header) => numbers.has(header.number)),
      filter,
    );
    return found.length === 0 ? [...logs] : [...logs, ...found].sort(compareLogs);
  };
}

/** The filter's logs of one block from its receipts, proven by the bloom; "unavailable" where nobody gives them. */
function askReceiptLogs(header: BlockHeader, filter: LogFilter): Question<readonly RawLog[] | "unavailable"> {
  return {
    calls: [{ method: "eth_getBlockReceipts", params: [toQuantity(header.number)] }],
    read: (replies) =>
      readFirst(replies, (receipts) => {
        if (!Array.isArray(receipts))
          return { fault: { kind: "missing", message: `no receipts of block ${header.number}` } };
        if (receipts.some((receipt) => receipt?.blockHash?.toLowerCase() !== header.hash)) {
          return { fault: { kind: "missing", message: `another block ${header.number}` } };
        }
        const logs: RawLog[] = [];
        for (const entry of receipts.flatMap((receipt) => receipt.logs ?? [])) {
          const log = readLog(entry);
          if (log === undefined)
            return distrust(`a log in the receipts of block ${header.number} is malformed`);
          logs.push(log);
        }
        if (bloomOfLogs(logs) !== header.logsBloom)
          return distrust(`the receipts of block ${header.number} do not give its bloom`);
        const range = { fromBlock: header.number, toBlock: header.number };
        return readLogs(
          receipts.flatMap((receipt) => receipt.logs ?? []).filter((entry) => matches(entry, filter)),
          range,
          filter,
        );
      }),
    conclude: (refusals) => ({
      value: refusals.every(({ kind }) => kind === "missing") ? [] : "unavailable",
    }),
  };
}

function matches(entry: unknown, filter: LogFilter): boolean {
  const log = readLog(entry);
  if (log === undefined) return false;
  if (filter.topics.length > 0 && !filter.topics.some((topic) => topic.toLowerCase() === log.topics[0]))
    return false;
  return (
    filter.addresses === undefined ||
    filter.addresses.some((address) => address.toLowerCase() === log.address)
  );
}

/** The filter's logs of one block by its hash; a block that is gone has none. */
function askBlockLogs(header: BlockHeader, filter: LogFilter): Question<RawLog[]> {
  const range = { fromBlock: header.number, toBlock: header.number };
  return {
    calls: [{ method: "eth_getLogs", params: [{ blockHash: header.hash, ...toRpcFilter(filter) }] }],
    read(replies) {
      const reply = replies[0];
      if (reply?.ok === false && reply.fault.kind === "behind")
        return { fault: { kind: "missing", message: reply.fault.message } };
      const outcome = readFirst(replies, (result) => readLogs(result, range, filter));
      if ("value" in outcome && outcome.value.some((log) => log.blockHash !== header.hash)) {
        return distrust(`logs of another block ${header.number}`);
      }
      return outcome;
    },
    conclude: (refusals) => (refusals.every(({ kind }) => kind === "missing") ? { value: [] } : undefined),
  };
}

function describeBlocks(headers: readonly BlockHeader[]): string {
  const numbers = headers.map((header) => header.number);
  return numbers.length === 1
    ? `block ${numbers[0]}`
    : `blocks ${Math.min(...numbers)}-${Math.max(...numbers)}`;
}

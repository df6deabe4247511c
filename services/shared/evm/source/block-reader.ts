import type { Clock } from "../../rpc-client/endpoint/clock.ts";
import type { Pool } from "../../rpc-client/pool.ts";
import type { BlockWithLogs, BlockWithSenders, LogFilter } from "../port.ts";
import {
  createBlockByReceiptsRequest,
  createBlockLogsByReceiptsRequest,
  createBlockRequest,
} from "./requests.ts";

interface BlockReaderOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  /** Blocks per request. */
  readonly maxBatch: number;
  /** Never requests receipts. */
  readonly withoutReceipts?: boolean;
}

type ReadMethod = "transactions" | "receipts";

/**
 * Blocks of one trial of each method: a node that recovers senders takes milliseconds for each block, so more would
 * delay the first batch. A call with fewer blocks leaves the second trial to the next call.
 */
const TRIAL_BLOCKS = 8;
/** Both methods are timed again after this many calls. */
const TRIAL_EVERY_CALLS = 128;
/** Receipts hold every log and are several times the size of the block: only a clear lead pays for that. */
const CLEAR_LEAD = 2;

/**
 * Reads blocks with senders from full blocks or, where that is much faster, from receipts: a node that recovers
 * senders from signatures for every response (anvil) returns receipts several times faster, any other node the
 * smaller full blocks. From time to time one request runs each way, and the faster method does the rest. The first
 * trial of full blocks is repeated, because it pays for the connection and for cold code.
 */
export function createBlockReader({ pool, clock, maxBatch, withoutReceipts = false }: BlockReaderOptions) {
  const msPerBlock: Record<ReadMethod, number> = { transactions: 0, receipts: Number.POSITIVE_INFINITY };
  const trials: { readonly way: ReadMethod; readonly isSecond?: boolean }[] = [];
  let calls = 0;
  /** Other calls wait for a trial: their requests would slow it down. */
  let trial: Promise<unknown> = Promise.resolve();

  async function readReceipts(
    numbers: readonly number[],
    about: string,
  ): Promise<BlockWithSenders[] | undefined> {
    const requests = numbers.map(createBlockByReceiptsRequest);
    return allOrNone(
      await pool.request(requests, `eth_getBlockReceipts ${about}`, { maxBatch: 2 * maxBatch }),
    );
  }

  /** Blocks with receipts, or undefined where one lacks them: then receipts are not requested until the next trial. */
  function allOrNone<T>(blocks: readonly (T | null)[]): T[] | undefined {
    const found = blocks.filter((block) => block !== null);
    if (found.length === blocks.length) return found;
    msPerBlock.receipts = Number.POSITIVE_INFINITY;
    return undefined;
  }

  async function read(
    way: ReadMethod,
    numbers: readonly number[],
    about: string,
  ): Promise<BlockWithSenders[]> {
    const blocks = way === "receipts" ? await readReceipts(numbers, about) : undefined;
    return (
      blocks ?? pool.request(numbers.map(createBlockRequest), `eth_getBlockByNumber ${about}`, { maxBatch })
    );
  }

  /** Times one request of each pending trial; few blocks leave the rest to the next calls. */
  async function runTrials(numbers: readonly number[], about: string): Promise<BlockWithSenders[]> {
    // The same number of blocks each way, else a request's fixed cost would count against the smaller trial.
    const isEnough = numbers.length >= TRIAL_BLOCKS;
    const share = isEnough ? Math.floor(numbers.length / trials.length) : TRIAL_BLOCKS;
    const size = Math.min(maxBatch, TRIAL_BLOCKS, share);
    let blocks: BlockWithSenders[] = [];
    while (blocks.length < numbers.length) {
      const trial = trials.shift();
      if (trial === undefined) break;
      const part = numbers.slice(blocks.length, blocks.length + size);
      blocks = blocks.concat(await runTrial(trial, part, about));
    }
    return blocks;
  }

  async function runTrial(
    { way, isSecond = false }: (typeof trials)[number],
    numbers: readonly number[],
    about: string,
  ): Promise<BlockWithSenders[]> {
    const startedAt = clock.now();
    if (way === "receipts") msPerBlock.receipts = 0;
    const blocks = await read(way, numbers, about);
    const ms = (clock.now() - startedAt) / numbers.length;
    if (Number.isFinite(msPerBlock[way])) msPerBlock[way] = isSecond ? Math.min(ms, msPerBlock[way]) : ms;
    return blocks;
  }

  const isReceiptsFaster = () => msPerBlock.receipts * CLEAR_LEAD < msPerBlock.transactions;

  /** Undefined where full blocks are faster, or no endpoint has receipts. */
  async function readWithLogs(
    numbers: readonly number[],
    { about, filter }: { filter: LogFilter; about: string },
  ): Promise<BlockWithLogs[] | undefined> {
    // The first call reads a few blocks both ways only to time them.
    if (calls === 0 && !withoutReceipts) await readBlocks(numbers.slice(0, 3 * TRIAL_BLOCKS), about);
    await trial;
    if (!isReceiptsFaster()) return undefined;
    const requests = numbers.map((number) => createBlockLogsByReceiptsRequest(number, filter));
    return allOrNone(
      await pool.request(requests, `eth_getBlockReceipts ${about}`, { maxBatch: 2 * maxBatch }),
    );
  }

  /** In the order of `numbers`; `about` names the blocks in errors. */
  async function readBlocks(numbers: readonly number[], about: string): Promise<BlockWithSenders[]> {
    let blocks: BlockWithSenders[] = [];
    if (calls % TRIAL_EVERY_CALLS === 0 && !withoutReceipts) {
      trials.push({ way: "transactions" }, { way: "receipts" });
      if (calls === 0) trials.push({ way: "transactions", isSecond: true });
    }
    calls += 1;
    if (trials.length > 0) {
      const tried = trial.then(() => runTrials(numbers, about));
      // A failed trial fails the call that ran it, not those that waited for it.
      trial = tried.catch(() => {});
      blocks = await tried;
    } else await trial;
    if (blocks.length === numbers.length) return blocks;
    const rest = await read(
      isReceiptsFaster() ? "receipts" : "transactions",
      numbers.slice(blocks.length),
      about,
    );
    return blocks.concat(rest);
  }

  return { readBlocks, readWithLogs };
}

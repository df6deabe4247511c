import type { Clock } from "../../rpc-client/clock.ts";
import type { Pool } from "../../rpc-client/pool.ts";
import type { BlockWithLogs, BlockWithSenders, LogFilter } from "../port.ts";
import {
  createBlockByReceiptsRequest,
  createBlockLogsByReceiptsRequest,
  createBlockRequest,
} from "./requests.ts";

export interface BlockReaderOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  /** Blocks a request. */
  readonly maxBatch: number;
  /** Never asks for receipts, whatever they would cost. */
  readonly withoutReceipts?: boolean;
}

type ReadMethod = "transactions" | "receipts";

/**
 * Blocks that each way is tried with: a node that recovers senders takes milliseconds for each, so that more would hold
 * up the first run for long. Of fewer than these, a call leaves the second way to the next one.
 */
const TRIAL_BLOCKS = 8;
/** Both ways are tried again after so many calls. */
const TRIAL_EVERY_CALLS = 128;
/** Receipts hold every log and are some times the size of the block: only a clear lead is worth that. */
const CLEAR_LEAD = 2;

/**
 * Blocks with senders, from full blocks or, where those come much sooner, from receipts: a node that recovers senders
 * from signatures for every answer (anvil) gives receipts several times faster, any other the smaller full blocks. Now
 * and then one request is made each way, and the better way does the rest. The first time full blocks have a second one:
 * their first pays for the connection and for code that has not run yet.
 */
export function createBlockReader({ pool, clock, maxBatch, withoutReceipts = false }: BlockReaderOptions) {
  const msPerBlock: Record<ReadMethod, number> = { transactions: 0, receipts: Number.POSITIVE_INFINITY };
  const trials: { readonly way: ReadMethod; readonly isSecond?: boolean }[] = [];
  let calls = 0;
  /** Requests of other calls would stand in the way of a trial and be counted as its time: they wait. */
  let trial: Promise<unknown> = Promise.resolve();

  async function readReceipts(
    numbers: readonly number[],
    about: string,
  ): Promise<BlockWithSenders[] | undefined> {
    const questions = numbers.map(createBlockByReceiptsRequest);
    return allOrNone(await pool.ask(questions, `eth_getBlockReceipts ${about}`, { maxBatch: 2 * maxBatch }));
  }

  /** Receipts of every block, or none: then they are not asked for until the next trial. */
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
    return blocks ?? pool.ask(numbers.map(createBlockRequest), `eth_getBlockByNumber ${about}`, { maxBatch });
  }

  /** One request each way, with a look at the clock; few blocks leave the other ways to the next calls. */
  async function runTrials(numbers: readonly number[], about: string): Promise<BlockWithSenders[]> {
    // As many blocks each way: a request's fixed cost would else speak against the smaller one.
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

  /** Undefined where full blocks are the better way, or receipts are not to be had. */
  async function readWithLogs(
    numbers: readonly number[],
    { about, filter }: { filter: LogFilter; about: string },
  ): Promise<BlockWithLogs[] | undefined> {
    // Nothing is known yet: a few blocks are read both ways for it, and thrown away.
    if (calls === 0 && !withoutReceipts) await readBlocks(numbers.slice(0, 3 * TRIAL_BLOCKS), about);
    await trial;
    // Tried, and not the faster way.
    if (!isReceiptsFaster()) return undefined;
    const questions = numbers.map((number) => createBlockLogsByReceiptsRequest(number, filter));
    return allOrNone(await pool.ask(questions, `eth_getBlockReceipts ${about}`, { maxBatch: 2 * maxBatch }));
  }

  /** In the order asked; `about` names the blocks in errors. */
  async function readBlocks(numbers: readonly number[], about: string): Promise<BlockWithSenders[]> {
    let blocks: BlockWithSenders[] = [];
    if (calls % TRIAL_EVERY_CALLS === 0 && !withoutReceipts) {
      trials.push({ way: "transactions" }, { way: "receipts" });
      if (calls === 0) trials.push({ way: "transactions", isSecond: true });
    }
    calls += 1;
    if (trials.length > 0) {
      const tried = trial.then(() => runTrials(numbers, about));
      // A trial that fails fails the call that made it, not those that waited for it.
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

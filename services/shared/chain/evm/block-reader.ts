import type { Clock } from "./clock.ts";
import type { Pool } from "./pool.ts";
import type { BlockWithLogs, BlockWithSenders, LogFilter } from "./port.ts";
import { askBlock, askBlockByReceipts, askBlockLogsByReceipts } from "./questions.ts";

export interface BlockReaderOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  /** Blocks a request. */
  readonly maxBatch: number;
}

type Way = "transactions" | "receipts";

/** Both ways are tried again after so many calls. */
const TRY_EVERY = 128;

/**
 * Blocks with senders, from full blocks or from receipts, whichever is faster where we are: a node that recovers
 * senders from signatures for every answer (anvil) gives receipts ten times faster, a provider far away gives the
 * smaller full blocks sooner. Now and then one request is made each way, and the faster way does the rest.
 */
export function createBlockReader({ pool, clock, maxBatch }: BlockReaderOptions) {
  const msPerBlock: Record<Way, number> = { transactions: 0, receipts: Number.POSITIVE_INFINITY };
  const trials: Way[] = [];
  let calls = 0;

  async function readReceipts(
    numbers: readonly number[],
    about: string,
  ): Promise<BlockWithSenders[] | undefined> {
    const questions = numbers.map(askBlockByReceipts);
    const blocks = await pool.ask(questions, `eth_getBlockReceipts ${about}`, { maxBatch: 2 * maxBatch });
    const found = blocks.filter((block) => block !== null);
    if (found.length === numbers.length) return found;
    msPerBlock.receipts = Number.POSITIVE_INFINITY;
    return undefined;
  }

  async function read(way: Way, numbers: readonly number[], about: string): Promise<BlockWithSenders[]> {
    const blocks = way === "receipts" ? await readReceipts(numbers, about) : undefined;
    return blocks ?? pool.ask(numbers.map(askBlock), `eth_getBlockByNumber ${about}`, { maxBatch });
  }

  /** One request one way, with a look at the clock. */
  async function tryOut(way: Way, numbers: readonly number[], about: string): Promise<BlockWithSenders[]> {
    const startedAt = clock.now();
    if (way === "receipts") msPerBlock.receipts = 0;
    const blocks = await read(way, numbers, about);
    if (Number.isFinite(msPerBlock[way])) msPerBlock[way] = (clock.now() - startedAt) / numbers.length;
    return blocks;
  }

  /** Undefined where full blocks are the faster way, or receipts are not to be had. */
  async function readWithLogs(
    numbers: readonly number[],
    of: { filter: LogFilter; about: string },
  ): Promise<BlockWithLogs[] | undefined> {
    // Not yet tried, or tried and slower: `blocks` finds out.
    if (!(msPerBlock.receipts < msPerBlock.transactions)) return undefined;
    const questions = numbers.map((number) => askBlockLogsByReceipts(number, of.filter));
    const blocks = await pool.ask(questions, `eth_getBlockReceipts ${of.about}`, { maxBatch: 2 * maxBatch });
    const found = blocks.filter((block) => block !== null);
    if (found.length === numbers.length) return found;
    msPerBlock.receipts = Number.POSITIVE_INFINITY;
    return undefined;
  }

  /** In the order asked; `about` names the blocks in errors. */
  async function readBlocks(numbers: readonly number[], about: string): Promise<BlockWithSenders[]> {
    if (calls % TRY_EVERY === 0) trials.push("transactions", "receipts");
    calls += 1;
    let blocks: BlockWithSenders[] = [];
    while (blocks.length < numbers.length) {
      const trial = trials.shift();
      const end = trial === undefined ? numbers.length : blocks.length + maxBatch;
      const part = numbers.slice(blocks.length, end);
      const faster = msPerBlock.receipts < msPerBlock.transactions ? "receipts" : "transactions";
      blocks = blocks.concat(
        trial === undefined ? await read(faster, part, about) : await tryOut(trial, part, about),
      );
    }
    return blocks;
  }

  return { readBlocks, readWithLogs };
}

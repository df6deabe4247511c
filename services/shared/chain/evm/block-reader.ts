import type { Clock } from "./clock.ts";
import type { Pool } from "./pool.ts";
import type { BlockWithSenders } from "./port.ts";
import { askBlock, askBlockByReceipts } from "./questions.ts";

export interface BlockReaderOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  /** Blocks a request. */
  readonly maxBatch: number;
}

type Way = "transactions" | "receipts";

/** Every so many calls the slower way is measured again. */
const REMEASURE_EVERY = 128;
const SMOOTHING = 0.3;

/**
 * Blocks with senders, from full blocks or from receipts, whichever is faster where we are: a node that recovers
 * senders from signatures for every answer (anvil) gives receipts ten times faster, a provider far away gives the
 * smaller full blocks sooner. Both are measured, the faster one is used.
 */
export function createBlockReader({ pool, clock, maxBatch }: BlockReaderOptions) {
  const msPerBlock = new Map<Way, number>();
  let calls = 0;

  function choose(): Way {
    calls += 1;
    const [transactions, receipts] = [msPerBlock.get("transactions"), msPerBlock.get("receipts")];
    if (transactions === undefined) return "transactions";
    if (receipts === undefined) return "receipts";
    const isReceiptsFaster = receipts < transactions;
    const isFaster = calls % REMEASURE_EVERY !== 0;
    return isReceiptsFaster === isFaster ? "receipts" : "transactions";
  }

  function measure(way: Way, ms: number): void {
    const before = msPerBlock.get(way);
    const isKnown = before !== undefined && Number.isFinite(before);
    msPerBlock.set(way, isKnown ? before * (1 - SMOOTHING) + ms * SMOOTHING : ms);
  }

  async function readReceipts(
    numbers: readonly number[],
    about: string,
  ): Promise<BlockWithSenders[] | undefined> {
    const startedAt = clock.now();
    const questions = numbers.map(askBlockByReceipts);
    const blocks = await pool.ask(questions, `eth_getBlockReceipts ${about}`, { maxBatch: 2 * maxBatch });
    const found = blocks.filter((block) => block !== null);
    const isComplete = found.length === numbers.length;
    measure("receipts", isComplete ? (clock.now() - startedAt) / numbers.length : Number.POSITIVE_INFINITY);
    return isComplete ? found : undefined;
  }

  async function readTransactions(numbers: readonly number[], about: string): Promise<BlockWithSenders[]> {
    const startedAt = clock.now();
    const blocks = await pool.ask(numbers.map(askBlock), `eth_getBlockByNumber ${about}`, { maxBatch });
    measure("transactions", (clock.now() - startedAt) / numbers.length);
    return blocks;
  }

  /** In the order asked; `about` names the blocks in errors. */
  return async (numbers: readonly number[], about: string): Promise<BlockWithSenders[]> => {
    if (numbers.length === 0) return [];
    const blocks = choose() === "receipts" ? await readReceipts(numbers, about) : undefined;
    return blocks ?? readTransactions(numbers, about);
  };
}

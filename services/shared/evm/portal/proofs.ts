import { PortalFailure } from "../../portal/failures.ts";
import { parseAddress } from "../hex.ts";
import {
  type BlockHeader,
  type EvmSource,
  type LogFilter,
  type RawLog,
  type Senders,
  UpstreamError,
} from "../port.ts";
import { computeReceiptsRoot } from "../proof/receipts-root.ts";
import { createLogFilter, parseReceiptLogs } from "../source/parse.ts";
import type { PortalBlock } from "./block-line.ts";
import { findDifference, isTelling } from "./checks.ts";

/** The judge: a source by JSON-RPC. */
export type Judge = Pick<EvmSource, "headers" | "blocks" | "logs" | "verifyEmpty" | "receipts">;

/** Contracts that every provider takes in one eth_getLogs. */
const MOST_ADDRESSES = 500;

/**
 * Compares blocks with the hash that the judge has. Linked blocks need only the last one compared: it proves all headers
 * before it. Throws PortalFailure where they differ, and the errors of the judge.
 */
export async function compareHashes(judge: Judge, blocks: readonly PortalBlock[]): Promise<void> {
  const headers = await judge.headers(blocks.map(({ number }) => number));
  for (const [i, { number, hash }] of blocks.entries()) {
    const header = headers[i];
    if (header === null || header === undefined)
      throw new UpstreamError(`block ${number} is final, but no endpoint has it`);
    if (header.hash !== hash)
      throw new PortalFailure("untrue", `block ${number} is ${header.hash}, not ${hash}`);
  }
}

/** Reads blocks without logs again whose bloom may hold some: a withheld log shows there. */
export async function checkSilence(
  judge: Judge,
  silent: readonly BlockHeader[],
  filter: LogFilter,
): Promise<void> {
  const telling = silent.filter((header) => isTelling(header, filter));
  if (telling.length === 0) return;
  const [found] = await judge.verifyEmpty(telling, { logs: [], filter });
  if (found !== undefined)
    throw new PortalFailure("untrue", `log ${found.logIndex} of block ${found.blockNumber} was withheld`);
}

/** Headers of the judge, for blocks that the portal did not send. */
export async function readSilent(judge: Judge, numbers: readonly number[]): Promise<BlockHeader[]> {
  const headers = await judge.headers(numbers);
  return headers.filter((header) => header !== null);
}

/**
 * Compares logs and senders of one block with its receipts, which the receiptsRoot of its header proves, else with
 * eth_getLogs and the whole block.
 */
export async function compareReceipts(judge: Judge, block: PortalBlock, filter: LogFilter): Promise<void> {
  const { logs, senders, told } =
    (await readProven(judge, block, filter)) ?? (await readUnproven(judge, block, filter));
  const wrong = findDifference({ ...block, logs: told }, logs);
  if (wrong !== undefined) throw new PortalFailure("untrue", `${wrong} is not what its receipts say`);
  const forged = told.find(({ transactionIndex: at }) => block.senders[at] !== senders[at]);
  if (forged !== undefined)
    throw new PortalFailure(
      "untrue",
      `transaction ${forged.transactionIndex} of block ${block.number} is from ${senders[forged.transactionIndex]}`,
    );
}

interface Truth {
  readonly logs: readonly RawLog[];
  readonly senders: Partial<Senders>;
  /** The portal's logs to compare. */
  readonly told: readonly RawLog[];
}

async function readProven(judge: Judge, block: PortalBlock, filter: LogFilter): Promise<Truth | undefined> {
  const receipts = await judge.receipts?.(block);
  if (receipts === undefined || computeReceiptsRoot(receipts) !== block.receiptsRoot) return undefined;
  const logs = parseReceiptLogs(receipts, { block, filter });
  if ("fault" in logs) return undefined;
  const senders = receipts.map((receipt) => parseAddress((receipt as { from?: unknown }).from));
  return { logs: logs.value, senders, told: block.logs };
}

async function readUnproven(judge: Judge, block: PortalBlock, filter: LogFilter): Promise<Truth> {
  const asked: LogFilter = {
    topics: filter.topics,
    ...(filter.addresses && { addresses: filter.addresses.slice(0, MOST_ADDRESSES) }),
  };
  const range = { fromBlock: block.number, toBlock: block.number };
  const [logs, [whole]] = await Promise.all([judge.logs(range, asked), judge.blocks([block.number])]);
  return { logs, senders: whole?.senders ?? {}, told: block.logs.filter(createLogFilter(asked)) };
}

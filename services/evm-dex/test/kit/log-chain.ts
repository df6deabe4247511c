import { computeLogsBloom, findSuspectBlocks } from "../../../shared/evm/bloom.ts";
import type {
  BlockHeader,
  BlockWithLogs,
  EvmSource,
  Hex,
  LogFilter,
  LogRange,
  RawLog,
} from "../../../shared/evm/port.ts";
import { compareLogs, createLogFilter } from "../../../shared/evm/source/parse.ts";
import { createFakeSource, type FakeSource } from "./fake-source.ts";
import { address, hash } from "./rows.ts";

/** A log as its transaction emits it. */
export interface Emitted {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

export interface LogChain extends FakeSource {
  /** eth_getLogs so far. */
  readonly requested: readonly { readonly range: LogRange; readonly filter: LogFilter }[];
  /** Blocks that were verified by receipts. */
  readonly lookedAt: readonly number[];
  /** From now on, eth_getLogs leaves these out. */
  withhold(isWithheld: (log: RawLog) => boolean): void;
}

export interface LogChainOptions {
  /** Whether whole blocks are quick to read. */
  readonly whole?: boolean;
  /** Whether all blooms are full. */
  readonly fullBlooms?: boolean;
}

/**
 * A source over a chain of transactions, block by block from 1, that responds like an honest node: topics, addresses,
 * blooms. Transactions of a block are lists of logs.
 */
export function createLogChain(
  blocks: readonly (readonly (readonly Emitted[])[])[],
  { whole = false, fullBlooms = false }: LogChainOptions = {},
): LogChain {
  const all = blocks.map((transactions, i) => blockOf(i + 1, transactions));
  const start: BlockHeader = { ...headerOf(0, []), parentHash: hash(0, 99) };
  const headers = [start, ...all.map(({ logs, senders: _, ...header }) => ({ ...header, ...bloom(logs) }))];
  function bloom(logs: readonly RawLog[]) {
    return { logsBloom: fullBlooms ? (`0x${"ff".repeat(256)}` as Hex) : computeLogsBloom(logs) };
  }
  const requested: { range: LogRange; filter: LogFilter }[] = [];
  const lookedAt: number[] = [];
  let isWithheld: (log: RawLog) => boolean = () => false;
  const logsOf = (number: number) => all[number - 1]?.logs ?? [];
  const source: Pick<EvmSource, "blocks" | "blocksWithLogs" | "logs" | "verifyEmpty"> = {
    async blocks(numbers) {
      return numbers.map((number) => ({
        ...(headers[number] as BlockHeader),
        senders: all[number - 1]?.senders ?? [],
      }));
    },
    async blocksWithLogs(numbers, filter) {
      if (!whole) return undefined;
      const isWanted = createLogFilter(filter);
      return numbers.map(
        (number): BlockWithLogs => ({
          ...(headers[number] as BlockHeader),
          senders: all[number - 1]?.senders ?? [],
          logs: logsOf(number).filter(isWanted),
        }),
      );
    },
    async logs(range, filter) {
      requested.push({ range, filter });
      const isWanted = createLogFilter(filter);
      return all
        .filter(({ number }) => number >= range.fromBlock && number <= range.toBlock)
        .flatMap(({ logs }) => logs.filter((log) => isWanted(log) && !isWithheld(log)));
    },
    async verifyEmpty(headers, { logs, filter }) {
      const isWanted = createLogFilter(filter);
      const numbers = findSuspectBlocks(headers, logs, filter);
      lookedAt.push(...numbers);
      return [...logs, ...numbers.flatMap((number) => logsOf(number).filter(isWanted))].sort(compareLogs);
    },
  };
  return {
    ...createFakeSource({ headers }),
    ...source,
    requested,
    lookedAt,
    withhold(which) {
      isWithheld = which;
    },
  };
}

function blockOf(number: number, transactions: readonly (readonly Emitted[])[]) {
  let logIndex = 0;
  const logs = transactions.flatMap((emitted, transactionIndex) =>
    emitted.map(
      (log): RawLog => ({
        ...log,
        blockNumber: number,
        blockHash: hash(number),
        transactionHash: hash(number * 1_000 + transactionIndex, 7),
        transactionIndex,
        logIndex: logIndex++,
      }),
    ),
  );
  return { ...headerOf(number, logs), logs, senders: transactions.map((_, i) => address(0xa00 + i)) };
}

function headerOf(number: number, logs: readonly RawLog[]): BlockHeader {
  return {
    number,
    hash: hash(number),
    parentHash: hash(number - 1),
    timestamp: 1_700_000_000 + 2 * number,
    logsBloom: computeLogsBloom(logs),
  };
}

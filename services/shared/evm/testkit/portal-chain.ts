import { computeLogsBloom } from "../bloom.ts";
import { toQuantity } from "../hex.ts";
import type { BlockHeader, EvmSource, Hex, RawLog } from "../port.ts";
import { computeHeaderHash } from "../proof/header-hash.ts";
import { computeReceiptsRoot } from "../proof/receipts-root.ts";
import { createLogFilter } from "../source/parse.ts";

/** A log as a transaction emits it. */
export interface EmittedLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data?: Hex;
}

/** A block as a portal knows it: all of it. */
export interface PortalChainBlock {
  readonly header: Readonly<Record<string, unknown>> & { readonly number: number; readonly hash: Hex };
  readonly logs: readonly RawLog[];
  readonly transactions: readonly {
    readonly transactionIndex: number;
    readonly hash: Hex;
    readonly from: Hex;
  }[];
  readonly receipts: readonly Record<string, unknown>[];
}

export interface PortalChain {
  readonly blocks: readonly PortalChainBlock[];
  /** An honest source by JSON-RPC of which `final` is the last final block. */
  readonly source: EvmSource & { final: number; readonly calls: string[] };
}

const ZERO = word(0);

export function word(value: number): Hex {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

export function contract(value: number): Hex {
  return `0x${value.toString(16).padStart(40, "0")}`;
}

/** A chain from block 0 with true hashes, blooms and roots; a block is the logs of each of its transactions. */
export function createPortalChain(plan: readonly (readonly (readonly EmittedLog[])[])[]): PortalChain {
  const blocks: PortalChainBlock[] = [];
  for (const [number, transactions] of plan.entries())
    blocks.push(createBlock(number, transactions, blocks.at(-1)?.header.hash ?? ZERO));
  return { blocks, source: createSource(blocks) };
}

function createBlock(
  number: number,
  emitted: readonly (readonly EmittedLog[])[],
  parentHash: Hex,
): PortalChainBlock {
  let logIndex = 0;
  const transactions = emitted.map((_, transactionIndex) => ({
    transactionIndex,
    hash: word(number * 1_000 + transactionIndex + 1),
    from: contract(0xa000 + ((number * 7 + transactionIndex) % 50)),
  }));
  const drafts = emitted.map((logs, transactionIndex) =>
    logs.map(({ address, topics, data = "0x" }) => ({
      ...{ address, topics, data, blockNumber: number, transactionIndex, logIndex: logIndex++ },
      transactionHash: transactions[transactionIndex]?.hash as Hex,
    })),
  );
  const receiptsOf = (blockHash: Hex) =>
    drafts.map((logs, i) => ({
      blockHash,
      transactionIndex: toQuantity(i),
      transactionHash: transactions[i]?.hash,
      from: transactions[i]?.from,
      type: "0x2",
      status: "0x1",
      cumulativeGasUsed: toQuantity(21_000 * (i + 1)),
      logsBloom: computeLogsBloom(logs),
      logs: logs.map((log) => ({
        ...log,
        blockHash,
        blockNumber: toQuantity(number),
        transactionIndex: toQuantity(i),
        logIndex: toQuantity(log.logIndex),
      })),
    }));
  const header = {
    ...{
      number,
      parentHash,
      timestamp: 1_700_000_000 + 2 * number,
      gasLimit: "0x1c9c380",
      gasUsed: "0x5208",
    },
    ...{ sha3Uncles: ZERO, miner: contract(1), stateRoot: word(number), transactionsRoot: ZERO },
    ...{ receiptsRoot: computeReceiptsRoot(receiptsOf(ZERO)), logsBloom: computeLogsBloom(drafts.flat()) },
    ...{ difficulty: "0x0", extraData: "0x", mixHash: ZERO, nonce: "0x0000000000000000" },
    ...{ baseFeePerGas: "0x7", withdrawalsRoot: ZERO, blobGasUsed: "0x0", excessBlobGas: "0x0" },
    ...{ parentBeaconBlockRoot: ZERO, requestsHash: ZERO },
  };
  const hash = computeHeaderHash(header) as Hex;
  return {
    header: { ...header, hash },
    logs: drafts.flat().map((log) => ({ ...log, blockHash: hash, blockTimestamp: header.timestamp })),
    transactions,
    receipts: receiptsOf(hash),
  };
}

function createSource(blocks: readonly PortalChainBlock[]): PortalChain["source"] {
  const calls: string[] = [];
  const headerOf = (number: number) => (blocks[number]?.header ?? null) as unknown as BlockHeader | null;
  const refuse = async (): Promise<never> => {
    throw new Error("The test did not expect this request.");
  };
  return {
    chainId: 8453,
    final: blocks.length - 1,
    calls,
    async head() {
      return headerOf(blocks.length - 1) as BlockHeader;
    },
    async finalBlock() {
      const { number, hash, timestamp } = headerOf(this.final) as BlockHeader;
      return { number, hash, time: timestamp, genesisHash: blocks[0]?.header.hash as Hex };
    },
    async headers(numbers) {
      calls.push(`headers ${numbers}`);
      return numbers.map(headerOf);
    },
    async blocks(numbers) {
      calls.push(`blocks ${numbers}`);
      return numbers.map((number) => ({
        ...(headerOf(number) as BlockHeader),
        senders: (blocks[number] as PortalChainBlock).transactions.map(({ from }) => from),
      }));
    },
    async receipts({ number }) {
      calls.push(`receipts ${number}`);
      return blocks[number]?.receipts;
    },
    async logs(range, filter) {
      calls.push(`logs ${range.fromBlock}-${range.toBlock}`);
      const isWanted = createLogFilter(filter);
      return blocks.slice(range.fromBlock, range.toBlock + 1).flatMap(({ logs }) => logs.filter(isWanted));
    },
    async verifyEmpty(headers, { logs, filter }) {
      calls.push(`verifyEmpty ${headers.length}`);
      const isWanted = createLogFilter(filter);
      const present = new Set(logs.map(({ blockNumber }) => blockNumber));
      const silent = headers.filter(({ number }) => !present.has(number));
      return [...logs, ...silent.flatMap(({ number }) => blocks[number]?.logs.filter(isWanted) ?? [])];
    },
    requireFinal() {},
    async recheck() {},
    blocksWithLogs: async () => undefined,
    call: refuse,
    waitForHead: refuse,
    async close() {},
  };
}

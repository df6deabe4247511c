import type { BlockHeader, BlockWithLogs, Hex, HistoryPart, LogRange, RawLog, Senders } from "../port.ts";

/**
 * A part as it crosses threads. Every string is copied anew for every log that has it, and objects arrive in the slowest
 * form that the engine has: so what a block or a transaction has goes once, and logs go as columns.
 */
export interface PackedPart {
  readonly range: LogRange;
  readonly blocks: readonly PackedBlock[];
}

interface PackedBlock extends BlockHeader {
  readonly senders: Senders;
  /** By index of the transaction, like `senders`. */
  readonly transactionHashes: readonly Hex[];
  readonly logs: {
    readonly addresses: readonly Hex[];
    readonly topics: readonly (readonly Hex[])[];
    readonly data: readonly Hex[];
    readonly transactionIndexes: readonly number[];
    readonly logIndexes: readonly number[];
  };
}

export function packPart({ range, blocks }: HistoryPart): PackedPart {
  return { range, blocks: blocks.map(packBlock) };
}

export function unpackPart({ range, blocks }: PackedPart): HistoryPart {
  return { range, blocks: blocks.map(unpackBlock) };
}

function packBlock({
  number,
  hash,
  parentHash,
  timestamp,
  logsBloom,
  senders,
  logs,
}: BlockWithLogs): PackedBlock {
  const transactionHashes: Hex[] = [];
  for (const { transactionIndex, transactionHash } of logs)
    transactionHashes[transactionIndex] = transactionHash;
  return {
    ...{ number, hash, parentHash, timestamp, logsBloom, senders, transactionHashes },
    logs: {
      addresses: logs.map(({ address }) => address),
      topics: logs.map(({ topics }) => topics),
      data: logs.map(({ data }) => data),
      transactionIndexes: logs.map(({ transactionIndex }) => transactionIndex),
      logIndexes: logs.map(({ logIndex }) => logIndex),
    },
  };
}

function unpackBlock(block: PackedBlock): BlockWithLogs {
  const { number, hash, parentHash, timestamp, logsBloom, senders, transactionHashes } = block;
  const { addresses, topics, data, transactionIndexes, logIndexes } = block.logs;
  const logs = addresses.map((address, i): RawLog => {
    const transactionIndex = transactionIndexes[i] as number;
    return {
      address,
      topics: topics[i] as readonly Hex[],
      data: data[i] as Hex,
      blockNumber: number,
      blockHash: hash,
      transactionHash: transactionHashes[transactionIndex] as Hex,
      transactionIndex,
      logIndex: logIndexes[i] as number,
      blockTimestamp: timestamp,
    };
  });
  return { number, hash, parentHash, timestamp, logsBloom, senders, logs };
}

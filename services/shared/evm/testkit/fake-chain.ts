import type { RpcCall } from "../../rpc-client/endpoint/transport.ts";
import { RpcFailure } from "../../rpc-client/testkit/fake-network.ts";
import { toQuantity } from "../hex.ts";
import type { BlockHeader, Hex, RawLog } from "../port.ts";

/** A 32-byte hash that encodes its block number and fork. */
export function fakeHash(number: number, fork = 0): Hex {
  return `0x${fork.toString(16).padStart(8, "0")}${number.toString(16).padStart(56, "0")}`;
}

export const FULL_BLOOM: Hex = `0x${"ff".repeat(256)}`;
export const NO_BLOOM: Hex = `0x${"00".repeat(256)}`;
export const TOPIC: Hex = `0x${"c4".repeat(32)}`;
export const ADDRESS: Hex = `0x${"aa".repeat(20)}`;

export function fakeHeader(
  number: number,
  { fork = 0, parentFork = 0, logsBloom = NO_BLOOM } = {},
): BlockHeader {
  return {
    number,
    hash: fakeHash(number, fork),
    parentHash: fakeHash(Math.max(0, number - 1), parentFork),
    timestamp: 1000 + number,
    logsBloom,
  };
}

export function fakeLog(blockNumber: number, logIndex = 0, { fork = 0 } = {}): RawLog {
  return {
    address: ADDRESS,
    topics: [TOPIC],
    data: "0x",
    blockNumber,
    blockHash: fakeHash(blockNumber, fork),
    transactionHash: fakeHash(blockNumber * 1000 + logIndex, 7),
    transactionIndex: 0,
    logIndex,
  };
}

/** A header as a node sends it. */
export function toRpcHeader(header: BlockHeader): Record<string, unknown> {
  return {
    ...header,
    number: toQuantity(header.number),
    timestamp: toQuantity(header.timestamp),
    transactions: [],
  };
}

/** A log as a node sends it. */
export function toRpcLog(log: RawLog): Record<string, unknown> {
  const { blockNumber, transactionIndex, logIndex } = log;
  return {
    ...log,
    removed: false,
    blockNumber: toQuantity(blockNumber),
    transactionIndex: toQuantity(transactionIndex),
    logIndex: toQuantity(logIndex),
  };
}

export interface FakeChain {
  head: number;
  readonly logs: RawLog[];
  chainId: number;
  fork: number;
}

/** Results of an honest node that has this chain; tests wrap it to misbehave. */
export function answerHonestly(chain: FakeChain, calls: readonly RpcCall[]): unknown[] {
  return calls.map(({ method, params }) => answerCall(chain, method, params));
}

function answerCall(
  { head, logs, chainId, fork }: FakeChain,
  method: string,
  params: readonly unknown[],
): unknown {
  const first = params[0];
  if (method === "eth_chainId") return toQuantity(chainId);
  if (method === "eth_blockNumber") return toQuantity(head);
  if (method === "eth_getBlockByNumber") {
    const number = first === "latest" ? head : first === "finalized" ? Math.max(0, head - 64) : Number(first);
    return number > head ? null : toRpcHeader(fakeHeader(number, { fork, parentFork: fork }));
  }
  if (method === "eth_getLogs") {
    const filter = first as { fromBlock?: string; toBlock?: string; blockHash?: string };
    return logs
      .filter((log) => {
        if (filter.blockHash !== undefined) return log.blockHash === filter.blockHash;
        return (
          log.blockNumber >= Number(filter.fromBlock) &&
          log.blockNumber <= Math.min(Number(filter.toBlock), head)
        );
      })
      .map(toRpcLog);
  }
  if (method === "eth_call") return `0x${"00".repeat(31)}2a`;
  return new RpcFailure(-32601, `the method ${method} does not exist/is not available`);
}

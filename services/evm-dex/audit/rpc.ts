import { encodeCall } from "../../shared/evm/abi.ts";
import type { EthCall, Hex } from "../../shared/evm/port.ts";
import { wordOf } from "./return-data.ts";

export interface RpcLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockNumber: Hex;
  readonly blockHash: Hex;
  readonly transactionHash: Hex;
  readonly logIndex: Hex;
}

interface RpcReceipt {
  readonly from: Hex;
  readonly blockHash: Hex;
  readonly logs: readonly RpcLog[];
}

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly message?: string };
}

interface RpcBlock {
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Unix seconds. */
  readonly time: number;
}

interface LogQuery {
  readonly addresses: readonly string[];
  readonly topics: readonly Hex[];
  /** Both inclusive. */
  readonly fromBlock: number;
  readonly toBlock: number;
}

const BALANCE_OF = "0x70a08231";
const BATCH = 50;
/** Free endpoints refuse logs of many blocks at once. */
const BLOCKS_A_REQUEST = 500;

/**
 * Plain JSON-RPC without the ingest's clients, caches and checks: an audit by the code it audits would share its
 * mistakes. One endpoint, no retries.
 */
export class AuditRpc {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** Return data in the order of the calls; null where the node returns none: a revert, or a state it no longer has. */
  async call(calls: readonly EthCall[]): Promise<(Hex | null)[]> {
    const replies = await this.#batch(
      calls.map(({ to, data, block }) => ({ method: "eth_call", params: [{ to, data }, toHex(block)] })),
    );
    return replies.map(({ result }) => (typeof result === "string" ? (result as Hex) : null));
  }

  /** balanceOf an account in contracts, raw units; null where a call returned no word. */
  async balances(
    account: string,
    { block, contracts }: { contracts: readonly string[]; block: number },
  ): Promise<(bigint | null)[]> {
    const data = encodeCall(BALANCE_OF, [account as Hex]);
    return (await this.call(contracts.map((to) => ({ to: to as Hex, data, block })))).map(wordOf);
  }

  async receipts(hashes: readonly string[]): Promise<(RpcReceipt | null)[]> {
    const replies = await this.#batch(
      hashes.map((hash) => ({ method: "eth_getTransactionReceipt", params: [hash] })),
    );
    return replies.map(({ result }) => (result ?? null) as RpcReceipt | null);
  }

  /** The logs of contracts with one of the topics, in the order of the chain. */
  async logs({ addresses, fromBlock, toBlock, topics }: LogQuery): Promise<RpcLog[]> {
    const ranges: unknown[] = [];
    for (let from = fromBlock; from <= toBlock; from += BLOCKS_A_REQUEST) {
      const to = Math.min(toBlock, from + BLOCKS_A_REQUEST - 1);
      ranges.push({ address: addresses, topics: [topics], fromBlock: toHex(from), toBlock: toHex(to) });
    }
    const replies = await this.#batch(ranges.map((range) => ({ method: "eth_getLogs", params: [range] })));
    return replies.flatMap(({ error, result }) => {
      if (!Array.isArray(result)) throw new Error(`eth_getLogs: ${error?.message ?? "no answer"}`);
      return result as RpcLog[];
    });
  }

  /** Blocks in the order of `numbers`; null where the node has none. */
  async blocks(numbers: readonly number[]): Promise<(RpcBlock | null)[]> {
    const replies = await this.#batch(
      numbers.map((number) => ({ method: "eth_getBlockByNumber", params: [toHex(number), false] })),
    );
    return replies.map(({ result }) => {
      const block = result as { hash: Hex; parentHash: Hex; timestamp: Hex } | null | undefined;
      if (block === null || block === undefined) return null;
      return { hash: block.hash, parentHash: block.parentHash, time: Number(block.timestamp) };
    });
  }

  /** Unix seconds of blocks, by number. */
  async times(numbers: Iterable<number>): Promise<Map<number, number>> {
    const wanted = [...new Set(numbers)];
    const blocks = await this.blocks(wanted);
    return new Map(
      wanted.map((number, i) => {
        const time = blocks[i]?.time;
        if (time === undefined) throw new Error(`The node has no block ${number}.`);
        return [number, time];
      }),
    );
  }

  async #batch(calls: readonly { method: string; params: readonly unknown[] }[]): Promise<Reply[]> {
    const replies: Reply[] = [];
    for (let at = 0; at < calls.length; at += BATCH) {
      replies.push(...(await this.#post(calls.slice(at, at + BATCH))));
    }
    return replies;
  }

  async #post(calls: readonly { method: string; params: readonly unknown[] }[]): Promise<Reply[]> {
    const response = await fetch(this.#url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(calls.map((call, id) => ({ jsonrpc: "2.0", id, ...call }))),
      signal: AbortSignal.timeout(30_000),
    }).catch((cause: unknown) => {
      throw new Error("The RPC endpoint is unreachable, or does not respond within 30 s.", { cause });
    });
    // The URL stays out of messages: it may hold a key.
    if (!response.ok) throw new Error(`The RPC endpoint responds with status ${response.status}.`);
    const answer = (await response.json()) as Reply[];
    if (!Array.isArray(answer) || answer.length !== calls.length)
      throw new Error("The RPC endpoint does not support batches.");
    return answer.sort((a, b) => a.id - b.id);
  }
}

function toHex(value: number): Hex {
  return `0x${value.toString(16)}`;
}

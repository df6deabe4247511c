import type { EthCall, Hex } from "../../shared/evm/port.ts";

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

const BATCH = 50;

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

  async receipts(hashes: readonly string[]): Promise<(RpcReceipt | null)[]> {
    const replies = await this.#batch(
      hashes.map((hash) => ({ method: "eth_getTransactionReceipt", params: [hash] })),
    );
    return replies.map(({ result }) => (result ?? null) as RpcReceipt | null);
  }

  async logs({
    address,
    fromBlock,
    toBlock,
  }: {
    address: string;
    fromBlock: number;
    toBlock: number;
  }): Promise<readonly RpcLog[]> {
    const range = { address, fromBlock: toHex(fromBlock), toBlock: toHex(toBlock) };
    const [reply] = await this.#batch([{ method: "eth_getLogs", params: [range] }]);
    if (!Array.isArray(reply?.result))
      throw new Error(`eth_getLogs: ${reply?.error?.message ?? "no answer"}`);
    return reply.result as RpcLog[];
  }

  /** Unix seconds of blocks, in the order of `numbers`. */
  async times(numbers: readonly number[]): Promise<number[]> {
    const replies = await this.#batch(
      numbers.map((number) => ({ method: "eth_getBlockByNumber", params: [toHex(number), false] })),
    );
    return replies.map(({ result }, i) => {
      const time = (result as { timestamp?: string } | null | undefined)?.timestamp;
      if (time === undefined) throw new Error(`The node has no block ${numbers[i]}.`);
      return Number(time);
    });
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

/** A JSON-RPC error answer, with the method that got it. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  constructor(method: string, error: { code: number; message: string }) {
    super(`${method}: ${error.message}`);
    this.code = error.code;
  }
}

export interface RpcRequest {
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** The two ways the devnet talks to its node; results are as the node sent them. */
export interface Rpc {
  call<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>;
  /** One HTTP request per `batchSize` calls, in order; the first error answer is thrown. */
  batch<T = unknown>(requests: readonly RpcRequest[]): Promise<T[]>;
}

interface Answer {
  id: number;
  result?: unknown;
  error?: { code: number; message: string };
}

const BATCH_SIZE = 200;

/** Plain JSON-RPC over HTTP: viem's transport costs several times more per request, which long histories feel. */
export function createRpc(url: string): Rpc {
  async function post(body: unknown): Promise<unknown> {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return response.json();
  }

  return {
    async call<T>(method: string, params: readonly unknown[] = []): Promise<T> {
      const answer = (await post({ jsonrpc: "2.0", id: 1, method, params })) as Answer;
      if (answer.error) throw new RpcError(method, answer.error);
      return answer.result as T;
    },
    async batch<T>(requests: readonly RpcRequest[]): Promise<T[]> {
      const results: T[] = [];
      for (let start = 0; start < requests.length; start += BATCH_SIZE) {
        const slice = requests.slice(start, start + BATCH_SIZE);
        const body = slice.map(({ method, params = [] }, id) => ({ jsonrpc: "2.0", id, method, params }));
        const answers = (await post(body)) as Answer[];
        const byId = new Map(answers.map((answer) => [answer.id, answer]));
        for (const [id, request] of slice.entries()) {
          const answer = byId.get(id);
          if (!answer) throw new Error(`${request.method}: the node left a batched request unanswered`);
          if (answer.error) throw new RpcError(request.method, answer.error);
          results.push(answer.result as T);
        }
      }
      return results;
    },
  };
}

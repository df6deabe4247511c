import { parseQuantity, toQuantity } from "../../services/shared/evm/hex.ts";
import { classifyRpcError } from "../../services/shared/evm/source/classify.ts";
import { systemClock } from "../../services/shared/rpc-client/endpoint/clock.ts";
import type { Fault } from "../../services/shared/rpc-client/endpoint/fault.ts";
import { post } from "../../services/shared/rpc-client/endpoint/http-post.ts";
import {
  createTransport,
  type RpcCall,
  type RpcResponse,
} from "../../services/shared/rpc-client/endpoint/transport.ts";

/** What one endpoint can do. */
export interface EndpointFacts {
  /** Host and port: the rest of the URL may hold a key. */
  readonly host: string;
  /** Why nothing else is known; undefined where it answers. */
  readonly failure: string | undefined;
  readonly head: number;
  /** Largest range of eth_getLogs that it served or named; undefined = served MOST_BLOCKS. */
  readonly maxBlocks: number | undefined;
  /** Its own words about that limit. */
  readonly limitWords: string | undefined;
  /** Oldest state that it has, days before the head; Infinity = block 1, 0 = the head alone. */
  readonly stateDays: number;
  /** Largest batch that it answered, in calls. */
  readonly maxBatch: number;
  readonly hasReceipts: boolean;
  readonly hasFinalizedTag: boolean;
  /** Of eth_blockNumber, the middle of three. */
  readonly latencyMs: number;
  /** JSON bytes a second of a full block; undefined where it gave none. */
  readonly bytesASecond: number | undefined;
  /** Bytes of that block. */
  readonly blockBytes: number | undefined;
  /** Whether it limited the rate of these few questions. */
  readonly isRateLimited: boolean;
}

export interface ProbeOptions {
  readonly chainId: number;
  readonly addresses: readonly string[];
  readonly blockSeconds: number;
  /** Of one question; default 5,000. */
  readonly timeoutMs?: number;
  /** Longest pause that an endpoint may ask for before a question is asked again; default 2,000. */
  readonly maxPauseMs?: number;
  readonly signal?: AbortSignal;
}

const MOST_BLOCKS = 100_000;
const RANGES = [MOST_BLOCKS, 10_000, 2_000, 500, 100, 10, 5, 1];
const BATCHES = [100, 20, 5];
const STATE_DAYS = [30, 7, 1];
const DAY = 86_400;
/** Logs of the last blocks are not everywhere yet. */
const SETTLED_BLOCKS = 64;
const NOBODY = `0x${"0".repeat(40)}`;

/** Asks an endpoint some twenty questions, one after another. Never rejects but for `signal`. */
export async function probeEndpoint(url: string, options: ProbeOptions): Promise<EndpointFacts> {
  const { signal = new AbortController().signal, maxPauseMs = 2_000 } = options;
  const transport = createTransport({
    ...{ url, timeoutMs: options.timeoutMs ?? 5_000, classify: classifyRpcError, clock: systemClock },
    ...{ fetch: post, maxParallel: 1 },
  });
  let isRateLimited = false;
  const send = async (calls: readonly RpcCall[]): Promise<RpcResponse[]> => {
    signal.throwIfAborted();
    const responses = await transport.send(calls, signal);
    const fault = faultOf(responses);
    if (fault?.kind !== "rate") return responses;
    isRateLimited = true;
    await systemClock.sleep(Math.min(fault.retryAfterMs ?? 1_000, maxPauseMs), signal);
    return transport.send(calls, signal);
  };
  const ask = async (method: string, ...params: unknown[]): Promise<RpcResponse> =>
    (await send([{ method, params }]))[0] as RpcResponse;

  const facts = { ...UNKNOWN, host: transport.host };
  const identity = await ask("eth_chainId");
  if (!identity.ok) return { ...facts, failure: identity.fault.message };
  const id = parseQuantity(identity.result);
  if (id !== options.chainId) return { ...facts, failure: `its chain id is ${id}, not ${options.chainId}` };
  const latencies: number[] = [];
  let head = 0;
  for (let i = 0; i < 3; i++) {
    const startedMs = performance.now();
    const response = await ask("eth_blockNumber");
    latencies.push(performance.now() - startedMs);
    if (!response.ok) return { ...facts, failure: response.fault.message };
    head = parseQuantity(response.result) ?? 0;
  }
  const range = await probeRange(ask, { head, addresses: options.addresses });
  const block = await timeBlock(ask, Math.max(0, head - SETTLED_BLOCKS));
  const finalized = await ask("eth_getBlockByNumber", "finalized", false);
  const receipts = await ask("eth_getBlockReceipts", toQuantity(Math.max(0, head - SETTLED_BLOCKS)));
  return {
    ...{ host: transport.host, failure: undefined, head, ...range, ...block },
    stateDays: await probeState(ask, { head, blockSeconds: options.blockSeconds }),
    maxBatch: await probeBatch(send),
    hasReceipts: receipts.ok && Array.isArray(receipts.result),
    hasFinalizedTag: finalized.ok && finalized.result !== null,
    latencyMs: latencies.sort((a, b) => a - b)[1] as number,
    isRateLimited,
  };
}

const UNKNOWN: Omit<EndpointFacts, "host" | "failure"> = {
  ...{ head: 0, maxBlocks: undefined, limitWords: undefined, stateDays: 0, maxBatch: 1, hasReceipts: false },
  ...{
    hasFinalizedTag: false,
    latencyMs: 0,
    bytesASecond: undefined,
    blockBytes: undefined,
    isRateLimited: false,
  },
};

type Ask = (method: string, ...params: unknown[]) => Promise<RpcResponse>;

/** From the largest range down; a limit that the provider names is tried at once. */
async function probeRange(
  ask: Ask,
  { head, addresses }: { head: number; addresses: readonly string[] },
): Promise<Pick<EndpointFacts, "maxBlocks" | "limitWords">> {
  const to = Math.max(0, head - SETTLED_BLOCKS);
  let words: string | undefined;
  let most = Number.POSITIVE_INFINITY;
  for (const blocks of RANGES) {
    if (blocks > most) continue;
    const size = Math.min(blocks, to + 1);
    const filter = { fromBlock: toQuantity(to - size + 1), toBlock: toQuantity(to), address: addresses };
    const response = await ask("eth_getLogs", filter);
    if (response.ok) return { maxBlocks: blocks === MOST_BLOCKS ? undefined : blocks, limitWords: words };
    const { kind, message, limit, suggested } = response.fault;
    words ??= message;
    if (kind !== "range" && response.fault.timedOut !== true) return { maxBlocks: 0, limitWords: message };
    const named =
      limit ?? (suggested === undefined ? undefined : suggested.toBlock - suggested.fromBlock + 1);
    if (named !== undefined && named > 0 && named < blocks) {
      const narrow = { ...filter, fromBlock: toQuantity(Math.max(0, to - named + 1)) };
      if ((await ask("eth_getLogs", narrow)).ok) return { maxBlocks: named, limitWords: message };
      most = named - 1;
    }
  }
  return { maxBlocks: 0, limitWords: words };
}

async function timeBlock(
  ask: Ask,
  number: number,
): Promise<Pick<EndpointFacts, "bytesASecond" | "blockBytes">> {
  const startedMs = performance.now();
  const response = await ask("eth_getBlockByNumber", toQuantity(number), true);
  const seconds = (performance.now() - startedMs) / 1_000;
  if (!response.ok || response.result === null) return { bytesASecond: undefined, blockBytes: undefined };
  const blockBytes = JSON.stringify(response.result).length;
  return { bytesASecond: blockBytes / Math.max(seconds, 0.001), blockBytes };
}

/** The oldest of some states that it has. */
async function probeState(
  ask: Ask,
  { head, blockSeconds }: { head: number; blockSeconds: number },
): Promise<number> {
  const hasState = async (block: number) => (await ask("eth_getBalance", NOBODY, toQuantity(block))).ok;
  if (await hasState(Math.min(1, head))) return Number.POSITIVE_INFINITY;
  for (const days of STATE_DAYS) {
    const block = head - Math.ceil((days * DAY) / blockSeconds);
    if (block > 0 && (await hasState(block))) return days;
  }
  return 0;
}

async function probeBatch(send: (calls: readonly RpcCall[]) => Promise<RpcResponse[]>): Promise<number> {
  for (const size of BATCHES) {
    const responses = await send(
      Array.from({ length: size }, () => ({ method: "eth_blockNumber", params: [] })),
    );
    if (responses.every(({ ok }) => ok)) return size;
  }
  return 1;
}

function faultOf(responses: readonly RpcResponse[]): Fault | undefined {
  for (const response of responses) if (!response.ok) return response.fault;
  return undefined;
}

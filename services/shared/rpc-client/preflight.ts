import type { Log } from "../logging/log.ts";
import { ConfigError } from "../settings/env.ts";
import { systemClock } from "./clock.ts";
import type { Fault } from "./fault.ts";
import { post } from "./post.ts";
import { createTransport, type RpcReply } from "./transport.ts";
import type { Classify } from "./words.ts";

/** The RPC endpoints of one chain, as a setting names them. */
export interface ChainEndpoints {
  /** As a person calls the chain. */
  readonly name: string;
  readonly setting: string;
  readonly urls: readonly string[];
  /** The method whose result names the chain. */
  readonly method: string;
  readonly classify: Classify;
  /** Why the result is of another chain; `first` is the result of the first endpoint that gave one. */
  judge(result: unknown, first: unknown): string | undefined;
}

export interface EndpointReport {
  /** Host and port: the rest of the URL may hold a key. */
  readonly host: string;
  /** wrong = of another chain, which no time heals. */
  readonly kind: "ok" | "unreachable" | "wrong";
  /** One sentence; empty where all is well. */
  readonly sentence: string;
}

/** Long enough for a slow provider, short enough for somebody who waits for a start. */
const TIMEOUT_MS = 3_000;

/** Asks every http(s) endpoint once, all at the same time. Reports come in the order of the URLs. */
export async function inspectEndpoints(
  chain: ChainEndpoints,
  { timeoutMs = TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
): Promise<EndpointReport[]> {
  const asked = await Promise.all(
    chain.urls.filter((url) => /^https?:/i.test(url)).map((url) => ask(url, chain, timeoutMs)),
  );
  const first = asked.find(({ reply }) => reply.ok)?.reply;
  return asked.map(({ host, reply }) => {
    const at = `${host} (${chain.setting})`;
    if (reply.ok) {
      const wrong = chain.judge(reply.result, first?.ok === true ? first.result : undefined);
      return wrong === undefined
        ? { host, kind: "ok", sentence: "" }
        : { host, kind: "wrong", sentence: `${at} is not an endpoint of ${chain.name}: ${wrong}.` };
    }
    return { host, ...judgeFault(reply.fault, { at, chain }) };
  });
}

async function ask(
  url: string,
  { method, classify }: ChainEndpoints,
  timeoutMs: number,
): Promise<{ host: string; reply: RpcReply }> {
  const transport = createTransport({
    url,
    timeoutMs,
    classify,
    clock: systemClock,
    fetch: post,
    maxParallel: 1,
  });
  const [reply] = await transport.send([{ method, params: [] }], new AbortController().signal);
  return { host: transport.host, reply: reply as RpcReply };
}

function judgeFault(
  fault: Fault,
  { at, chain }: { readonly at: string; readonly chain: ChainEndpoints },
): Pick<EndpointReport, "kind" | "sentence"> {
  const { kind, message } = fault;
  if (kind === "transient")
    return { kind: "unreachable", sentence: `${at} cannot be reached: ${inWords(message)}.` };
  if (kind === "fatal") return { kind: "unreachable", sentence: `${at} refuses requests: ${message}.` };
  if (kind === "method" && chain.method === "eth_chainId") {
    const sentence = `${at} is not an endpoint of ${chain.name}: it does not know eth_chainId (${message}).`;
    return { kind: "wrong", sentence };
  }
  // A rate limit, a node that catches up, or a provider that forbids getGenesisHash: it answers.
  return { kind: "ok", sentence: "" };
}

/** By the codes of Node and the words of Deno. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED|Connection refused/, "the connection is refused"],
  [/ENOTFOUND|EAI_AGAIN|failed to lookup address/, "its host name is not known"],
  [/EHOSTUNREACH|ENETUNREACH|unreachable/, "there is no way to its network"],
  [/ECONNRESET|EPIPE|socket hang up|Connection reset/, "it breaks the connection off"],
];

function inWords(message: string): string {
  const known = WORDS.find(([form]) => form.test(message));
  return known === undefined ? message.replace(/^request failed: /, "") : known[1];
}

/**
 * For the start of an ingest, before it builds anything. Throws ConfigError that names every endpoint of another chain:
 * that gets no better by itself. Endpoints that cannot be reached are logged; they may come back.
 */
export async function checkEndpoints(
  chains: readonly ChainEndpoints[],
  { log }: { readonly log: Log },
): Promise<void> {
  const reports = (await Promise.all(chains.map((chain) => inspectEndpoints(chain)))).flat();
  const wrong = reports.filter(({ kind }) => kind === "wrong");
  if (wrong.length > 0) throw new ConfigError(wrong.map(({ sentence }) => sentence));
  for (const { kind, host, sentence } of reports)
    if (kind === "unreachable") log.warn({ host, isPreflight: true }, sentence);
}

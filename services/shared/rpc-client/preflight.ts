import type { Log } from "../logging/log.ts";
import { ConfigError } from "../settings/env.ts";
import { systemClock } from "./endpoint/clock.ts";
import type { Fault } from "./endpoint/fault.ts";
import type { Classify } from "./endpoint/fault-rules.ts";
import { post } from "./endpoint/http-post.ts";
import { createTransport, type RpcResponse } from "./endpoint/transport.ts";

/** The RPC endpoints of one chain, as a setting names them. */
export interface ChainEndpoints {
  /** The chain's display name. */
  readonly name: string;
  readonly setting: string;
  readonly urls: readonly string[];
  /** The method whose result identifies the chain. */
  readonly method: string;
  readonly classify: Classify;
  /** Why the result is of another chain; `first` is the first result of any endpoint. */
  findMismatch(result: unknown, first: unknown): string | undefined;
}

export interface EndpointReport {
  /** Host and port: the rest of the URL may hold a key. */
  readonly host: string;
  /** wrong = of another chain: permanent. */
  readonly kind: "ok" | "unreachable" | "wrong";
  /** One sentence; empty if ok. */
  readonly sentence: string;
}

/** Long enough for a slow provider, short enough for a start in a terminal. */
const TIMEOUT_MS = 3_000;

/** Sends one request to every http(s) endpoint concurrently. Reports are in the order of the URLs. */
export async function inspectEndpoints(
  chain: ChainEndpoints,
  { timeoutMs = TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
): Promise<EndpointReport[]> {
  const responses = await Promise.all(
    chain.urls.filter((url) => /^https?:/i.test(url)).map((url) => requestIdentity(url, chain, timeoutMs)),
  );
  const first = responses.find(({ response }) => response.ok)?.response;
  return responses.map(({ host, response }) => {
    const at = `${host} (${chain.setting})`;
    if (response.ok) {
      const wrong = chain.findMismatch(response.result, first?.ok === true ? first.result : undefined);
      return wrong === undefined
        ? { host, kind: "ok", sentence: "" }
        : { host, kind: "wrong", sentence: `${at} is not an endpoint of ${chain.name}: ${wrong}.` };
    }
    return { host, ...reportFault(response.fault, { at, chain }) };
  });
}

async function requestIdentity(
  url: string,
  { method, classify }: ChainEndpoints,
  timeoutMs: number,
): Promise<{ host: string; response: RpcResponse }> {
  const transport = createTransport({
    url,
    timeoutMs,
    classify,
    clock: systemClock,
    fetch: post,
    maxParallel: 1,
  });
  const [response] = await transport.send([{ method, params: [] }], new AbortController().signal);
  return { host: transport.host, response: response as RpcResponse };
}

function reportFault(
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
  // A rate limit, a syncing node, or a provider that forbids getGenesisHash: it responds.
  return { kind: "ok", sentence: "" };
}

/** By the error codes of Node and the messages of Deno. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED|Connection refused/, "the connection is refused"],
  [/ENOTFOUND|EAI_AGAIN|failed to lookup address/, "its host name is not known"],
  [/EHOSTUNREACH|ENETUNREACH|unreachable/, "there is no way to its network"],
  [/ECONNRESET|EPIPE|socket hang up|Connection reset/, "it breaks the connection off"],
];

function inWords(message: string): string {
  const known = REASONS.find(([form]) => form.test(message));
  return known === undefined ? message.replace(/^request failed: /, "") : known[1];
}

/**
 * Checks the endpoints at the start of an ingest. Throws a ConfigError that names every endpoint of another chain, even
 * beside good ones: it is a wrong setting, which would otherwise show with the first failover to it. Unreachable
 * endpoints are logged only; they may come back.
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

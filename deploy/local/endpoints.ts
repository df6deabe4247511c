import { evmEndpoints } from "../../services/shared/evm/endpoints.ts";
import { pause } from "../../services/shared/process/pause.ts";
import {
  type ChainEndpoints,
  type EndpointReport,
  inspectEndpoints,
} from "../../services/shared/rpc-client/preflight.ts";
import { readRpcUrls, readSolanaUrls } from "../../services/shared/settings/rpc-urls.ts";
import { ConfigError, type Environment } from "../../services/shared/settings/settings.ts";
import { solanaEndpoints } from "../../services/solana/chain/endpoints.ts";

const LOOK_AGAIN_MS = 5_000;
/** So that the sentence stays in view. */
const REPEAT_MS = 60_000;

/** The endpoints that the environment names. */
export function listEndpoints(env: Environment): ChainEndpoints[] {
  const solana = readSolanaUrls(env);
  return [
    ...[...readRpcUrls(env)].map(([chainId, urls]) => evmEndpoints(chainId, urls)),
    ...(solana === undefined ? [] : [solanaEndpoints(solana)]),
  ];
}

/**
 * Calls every endpoint once. Throws ConfigError that names those of another chain. Returns a sentence for each one that
 * cannot be reached, which may come back.
 */
export async function inspectChains(chains: readonly ChainEndpoints[]): Promise<string[]> {
  const inspected = await inspectAll(chains);
  const wrong = inspected.flatMap(({ reports }) => reports.filter(({ kind }) => kind === "wrong"));
  if (wrong.length > 0) throw new ConfigError(wrong.map(({ sentence }) => sentence));
  return inspected.flatMap(({ chain, reports }) => describeAbsent(chain, reports));
}

function describeAbsent({ name }: ChainEndpoints, reports: readonly EndpointReport[]): string[] {
  const absent = reports.filter(({ kind }) => kind === "unreachable");
  const consequence =
    absent.length === reports.length
      ? `Nothing new of ${name} is read until an endpoint answers; it is tried again and again.`
      : `${name} is read from the others meanwhile.`;
  return absent.map(({ sentence }) => `${sentence} ${consequence}`);
}

/**
 * Checks the chains' endpoints until the signal, for as long as there is something to report: which one answers again,
 * which one is another chain now, and, now and then, which one still cannot be reached.
 */
export async function watchEndpoints(
  chains: readonly ChainEndpoints[],
  { absent, say, signal }: WatchOptions,
): Promise<void> {
  let known = absent;
  let saidMs = performance.now();
  while (known.length > 0) {
    await pause(LOOK_AGAIN_MS, signal);
    const inspected = await inspectAll(chains);
    if (signal.aborted) return;
    for (const { host, kind, sentence } of inspected.flatMap(({ reports }) => reports)) {
      if (!known.some((line) => line.startsWith(`${host} `))) continue;
      if (kind === "ok") say(`${host} answers now.`);
      if (kind === "wrong") say(`${sentence} It is not used.`);
    }
    known = inspected.flatMap(({ chain, reports }) => describeAbsent(chain, reports));
    if (performance.now() - saidMs < REPEAT_MS) continue;
    for (const line of known) say(line);
    saidMs = performance.now();
  }
}

function inspectAll(chains: readonly ChainEndpoints[]) {
  return Promise.all(chains.map(async (chain) => ({ chain, reports: await inspectEndpoints(chain) })));
}

interface WatchOptions {
  /** Sentences about those that could not be reached at the start. */
  readonly absent: readonly string[];
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

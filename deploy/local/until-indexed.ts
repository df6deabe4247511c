import { setTimeout as sleep } from "node:timers/promises";

const LIMIT_MS = 60_000;
/** For lending and Solana, which are read within seconds here: /readyz and every line that is printed should answer. */
const ALL_MS = 20_000;
const PAUSE_MS = 100;

interface First {
  readonly apiKey: string;
  readonly pool: string;
  readonly signal: AbortSignal;
}

/**
 * The curl line that is printed next must work. Waits for data by /readyz, which logs nothing: a table that was never
 * read is an error in the access log. Rejects after 60 seconds, and when the signal aborts.
 */
export async function untilIndexed(url: string, { apiKey, pool, signal }: First): Promise<void> {
  const path = `/evm/dexb/v3/pool?pool_address=${pool}`;
  const startMs = performance.now();
  for (; performance.now() < startMs + LIMIT_MS; await sleep(PAUSE_MS)) {
    signal.throwIfAborted();
    const { all, evmDex } = await readReadiness(url);
    if (!all && !(evmDex && performance.now() > startMs + ALL_MS)) continue;
    const response = await fetch(url + path, { headers: { "X-API-KEY": apiKey } }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.status === 200) return;
  }
  throw new Error(`${path} did not answer within ${LIMIT_MS / 1_000} seconds.`);
}

async function readReadiness(url: string): Promise<{ readonly all: boolean; readonly evmDex: boolean }> {
  try {
    const answer = await fetch(`${url}/readyz`);
    const { services } = (await answer.json()) as {
      services?: Readonly<Record<string, { readonly ready: boolean }>>;
    };
    return { all: answer.status === 200, evmDex: services?.["evm-dex"]?.ready === true };
  } catch {
    return { all: false, evmDex: false };
  }
}

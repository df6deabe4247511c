import { setTimeout as sleep } from "node:timers/promises";

const LIMIT_MS = 60_000;
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
  for (const endMs = performance.now() + LIMIT_MS; performance.now() < endMs; await sleep(PAUSE_MS)) {
    signal.throwIfAborted();
    if (!(await hasPools(url))) continue;
    const response = await fetch(url + path, { headers: { "X-API-KEY": apiKey } }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.status === 200) return;
  }
  throw new Error(`${path} did not answer within ${LIMIT_MS / 1_000} seconds.`);
}

async function hasPools(url: string): Promise<boolean> {
  try {
    const { services } = (await (await fetch(`${url}/readyz`)).json()) as {
      services?: Readonly<Record<string, { readonly ready: boolean }>>;
    };
    return services?.["evm-dex"]?.ready === true;
  } catch {
    return false;
  }
}

interface First {
  readonly apiKey: string;
  readonly pool: string;
  readonly signal: AbortSignal;
}

/** The curl line that is printed next must work. Rejects after 30 seconds, and when the signal aborts. */
export async function untilIndexed(url: string, { apiKey, pool, signal }: First): Promise<void> {
  const path = `/evm/dexb/v3/pool?pool_address=${pool}`;
  for (let attempt = 0; attempt < 300; attempt++) {
    signal.throwIfAborted();
    const response = await fetch(url + path, { headers: { "X-API-KEY": apiKey } }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${path} did not answer within 30 seconds.`);
}

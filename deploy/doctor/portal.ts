/** A portal of history, as its URL answers. */
export interface PortalFacts {
  /** Host and port: a private portal's URL may hold a key. */
  readonly host: string;
  /** The last block that it serves as final; undefined where it does not answer. */
  readonly finalBlock: number | undefined;
}

/** Asks a portal for its last final block. Never rejects. */
export async function probePortal(url: string, { timeoutMs = 5_000 } = {}): Promise<PortalFacts> {
  const host = new URL(url).host;
  try {
    const response = await fetch(`${url.replace(/\/$/, "")}/finalized-head`, {
      signal: AbortSignal.timeout(timeoutMs),
    });
    const head = (await response.json()) as { number?: unknown } | null;
    const finalBlock = response.ok && Number.isSafeInteger(head?.number) ? Number(head?.number) : undefined;
    return { host, finalBlock };
  } catch {
    return { host, finalBlock: undefined };
  }
}

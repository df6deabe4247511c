import type { SolanaSource } from "../../chain/port.ts";
import type { StreamState } from "./block-stream.ts";

/**
 * The source whose confirmed head is the stream's while that is up, and whose waiting ends with the stream's next block:
 * no request is sent to find out what was pushed. A stream that is behind the final head is not waited for.
 */
export function followStreamedHead(source: SolanaSource): {
  source: SolanaSource;
  onState: (state: StreamState) => void;
} {
  let streamed: number | undefined;
  let finalSlot = 0;
  let isNew = false;
  const waiting = new Set<() => void>();

  async function waitForBlock(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (isNew || signal.aborted) {
      isNew = false;
      return;
    }
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        waiting.delete(done);
        signal.removeEventListener("abort", done);
        isNew = false;
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      waiting.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }

  return {
    onState({ head }) {
      if (head !== streamed) isNew = true;
      streamed = head;
      for (const wake of [...waiting]) wake();
    },
    source: {
      ...source,
      async head(commitment) {
        if (commitment === "confirmed" && streamed !== undefined && streamed >= finalSlot)
          return { slot: streamed };
        const head = await source.head(commitment);
        if (commitment === "finalized") finalSlot = head.slot;
        return head;
      },
      waitForHead: (timeoutMs, signal) =>
        streamed === undefined ? source.waitForHead(timeoutMs, signal) : waitForBlock(timeoutMs, signal),
    },
  };
}

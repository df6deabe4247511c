import { createHealthClient } from "./client.ts";
import type { PeerState, PeerStatus, RpcClient } from "./types.ts";

export interface WatchedPeer extends RpcClient {
  /** The best state among the peer's replicas at the last check; unknown before the first. */
  status(): PeerStatus;
}

const BEST_FIRST: readonly PeerState[] = ["serving", "not_serving", "unreachable"];

/** Checks a peer's health at once and then every `intervalMs`, and reports changes. Does not keep the process alive. */
export function watchPeer(options: {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly intervalMs?: number;
  readonly onChange?: (state: PeerState) => void;
}): WatchedPeer {
  const { name, addresses, intervalMs = 2_000, onChange } = options;
  const clients = addresses.map((address) => createHealthClient(address));
  let state: PeerState = "unknown";
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  async function check(): Promise<void> {
    const states = await Promise.all(clients.map((client) => client.check()));
    if (closed) return;
    const best = BEST_FIRST.find((candidate) => states.includes(candidate)) ?? "unreachable";
    if (best !== state) {
      state = best;
      onChange?.(best);
    }
    timer = setTimeout(() => void check(), intervalMs);
    timer.unref();
  }

  void check();
  return {
    status: () => ({ name, state }),
    close() {
      closed = true;
      clearTimeout(timer);
      for (const client of clients) client.close();
    },
  };
}

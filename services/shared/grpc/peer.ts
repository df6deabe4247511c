import { createHealthClient } from "./client.ts";
import type { PeerState, PeerStatus, RpcClient } from "./types.ts";

export interface WatchedPeer extends RpcClient {
  /** The best state among the peer's replicas at the last look; unknown before the first. */
  status(): PeerStatus;
}

const BEST_FIRST: readonly PeerState[] = ["serving", "not_serving", "unreachable"];

/** Looks at a peer's health at once and then every `intervalMs`, and tells changes. Never keeps the process alive. */
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

  async function look(): Promise<void> {
    const states = await Promise.all(clients.map((client) => client.check()));
    if (closed) return;
    const best = BEST_FIRST.find((candidate) => states.includes(candidate)) ?? "unreachable";
    if (best !== state) {
      state = best;
      onChange?.(best);
    }
    timer = setTimeout(() => void look(), intervalMs);
    timer.unref();
  }

  void look();
  return {
    status: () => ({ name, state }),
    close() {
      closed = true;
      clearTimeout(timer);
      for (const client of clients) client.close();
    },
  };
}

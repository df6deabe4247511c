import { createHeadsClient, type HeadsClient } from "../../../services/shared/grpc/heads.ts";
import type { LiveHead } from "../../../services/shared/grpc/types.ts";
import type { UpstreamAddress } from "../../config.ts";
import type { UpstreamGroup } from "../upstream/upstream.ts";

export interface FamilyHeadsOptions {
  readonly group: UpstreamGroup;
  /** Addresses of the group's members, in their order. */
  readonly addresses: readonly UpstreamAddress[];
  readonly serviceToken?: string | undefined;
  readonly outageMs?: number | undefined;
}

export interface FamilyHeadsListener {
  onHead(head: LiveHead): void;
  /** The service has told nothing for `outageMs`, since its stream ended. Called once an outage. */
  onOutage?(error: Error | undefined): void;
}

const OUTAGE_MS = 5_000;
const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 1_000;

/** The heads of one service's chains: one subscription however many users, and none without users. */
export class FamilyHeads {
  readonly #options: FamilyHeadsOptions;
  readonly #listeners: FamilyHeadsListener[] = [];
  readonly #latest = new Map<number, LiveHead>();
  #users = 0;
  #position = 0;
  #retryMs = FIRST_RETRY_MS;
  #client: HeadsClient | undefined;
  #stop: (() => void) | undefined;
  #retry: NodeJS.Timeout | undefined;
  #outage: NodeJS.Timeout | undefined;
  #told = 0;

  constructor(options: FamilyHeadsOptions) {
    this.#options = options;
  }

  /** The head last told; undefined before the first. */
  latest(chain: number): LiveHead | undefined {
    return this.#latest.get(chain);
  }

  /** How many heads were told. */
  get told(): number {
    return this.#told;
  }

  /** Calls back while anybody uses the heads; a listener is no user by itself. */
  listen(listener: FamilyHeadsListener): void {
    this.#listeners.push(listener);
  }

  /** The heads are followed until `release` was called as often as this. */
  acquire(): void {
    this.#users += 1;
    if (this.#users === 1) this.#connect();
  }

  release(): void {
    this.#users -= 1;
    if (this.#users === 0) this.#disconnect();
  }

  #connect(): void {
    const { group, addresses, serviceToken } = this.#options;
    const serving = group.members.findIndex(
      ({ state }, at) => state === "serving" && at >= this.#position % addresses.length,
    );
    const at = serving === -1 ? this.#position % addresses.length : serving;
    const address = addresses[at];
    if (address === undefined) return;
    this.#client = createHeadsClient(address.grpc, { serviceToken });
    this.#stop = this.#client.watch({
      onHead: (head) => {
        clearTimeout(this.#outage);
        this.#outage = undefined;
        this.#retryMs = FIRST_RETRY_MS;
        this.#told += 1;
        this.#latest.set(head.chainId, head);
        for (const listener of this.#listeners) listener.onHead(head);
      },
      onEnd: (error) => {
        this.#position = at + 1;
        this.#reconnect(error);
      },
    });
  }

  #reconnect(error: Error | undefined): void {
    const { outageMs = OUTAGE_MS } = this.#options;
    this.#client?.close();
    this.#outage ??= setTimeout(() => {
      for (const listener of this.#listeners) listener.onOutage?.(error);
    }, outageMs);
    this.#retry = setTimeout(() => this.#connect(), this.#retryMs);
    this.#retryMs = Math.min(MAX_RETRY_MS, this.#retryMs * 2);
  }

  #disconnect(): void {
    clearTimeout(this.#retry);
    clearTimeout(this.#outage);
    this.#outage = undefined;
    this.#stop?.();
    this.#client?.close();
    // Long past when the next user comes.
    this.#latest.clear();
  }
}

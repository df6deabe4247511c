import type { HeadWatch } from "./head-watch.ts";
import type { HeadBlock } from "./port.ts";

/** What an ingest asks the process that started it: to be told of a chain's new heads. */
export interface HeadRequest {
  readonly kind: "watch-head";
  readonly chainId: number;
}

/** What it is told. */
export interface HeadNotice {
  readonly kind: "head";
  readonly chainId: number;
  readonly block: HeadBlock;
}

/** The channel to the process that started this one; a part of `process`. */
export interface ParentChannel {
  /** Absent where there is none. */
  readonly send?: ((message: HeadRequest, ...rest: never[]) => unknown) | undefined;
  readonly connected?: boolean;
  on(event: "message", listener: (message: unknown) => void): unknown;
  off(event: "message", listener: (message: unknown) => void): unknown;
  readonly channel?: { unref?(): void } | null | undefined;
}

/**
 * How long after its time a head is waited for before this process looks itself: long enough for a slow parent, short
 * enough that its death costs two blocks.
 */
const SLACK_MS = 3_000;

export function isHeadRequest(message: unknown): message is HeadRequest {
  const { kind, chainId } = (message ?? {}) as Partial<HeadRequest>;
  return kind === "watch-head" && typeof chainId === "number";
}

function isHeadNotice(message: unknown): message is HeadNotice {
  const { kind, chainId } = (message ?? {}) as Partial<HeadNotice>;
  return kind === "head" && typeof chainId === "number";
}

/**
 * Lets the process that started this one watch the chain's head for all the processes that it started. Returns what
 * ends it. Without such a process, or if it falls silent, `watch` looks itself.
 */
export function takeSharedHeads(
  watch: Pick<HeadWatch, "offer">,
  { chainId, channel = process }: { chainId: number; channel?: ParentChannel },
): () => void {
  if (channel.send === undefined || channel.connected !== true) return () => {};
  const onMessage = (message: unknown) => {
    if (isHeadNotice(message) && message.chainId === chainId) watch.offer(message.block, SLACK_MS);
  };
  channel.on("message", onMessage);
  // It must not keep a process alive that is done.
  channel.channel?.unref?.();
  channel.send({ kind: "watch-head", chainId });
  return () => {
    channel.off("message", onMessage);
  };
}

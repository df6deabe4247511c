import type { SourceEvent } from "../../rpc-client/endpoint/endpoint.ts";
import {
  type Contradiction,
  type EvmSource,
  type FinalBlock,
  IndexContradicted,
  RangeTooLarge,
  UpstreamError,
} from "../port.ts";
import type { PortalConfig, PortalHistoryOptions } from "../portal/with-portal.ts";
import type { EvmSourceConfig } from "../source/source.ts";
import type { HistoryRequest } from "./thread-history.ts";

/** The methods that run in the reader thread: those with large results. */
export const THREAD_METHODS = ["headers", "blocks", "blocksWithLogs", "logs"] as const;
export type ThreadMethod = (typeof THREAD_METHODS)[number];

/** The first message to the thread: its source. */
export type ThreadTask = Pick<EvmSourceConfig, "chainId" | "urls"> & {
  readonly options: EvmSourceConfig["options"] | undefined;
  readonly portal: ThreadPortal | undefined;
};

/** A portal, without what cannot be cloned into a thread. */
export type ThreadPortal = Pick<PortalConfig, "url"> & {
  readonly options?: Omit<PortalHistoryOptions, "clock" | "fetch">;
};

export interface SourceCall {
  readonly method: ThreadMethod;
  readonly args: readonly unknown[];
}

export type ThreadRequest = (SourceCall | { readonly history: HistoryRequest }) & {
  /** The final block that the calling source requires of its endpoints, and so does the thread's. */
  readonly final?: FinalBlock | undefined;
};

/** Messages of a reader thread beside results. */
export type ThreadMessage =
  | { readonly kind: "log"; readonly message: string; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly kind: "event"; readonly event: SourceEvent };

/** Only name and message of an error survive the transfer between threads: this carries the rest. */
export interface Failure {
  readonly kind: "upstream" | "range" | "contradicted" | "other";
  readonly message: string;
  readonly suggested?: RangeTooLarge["suggested"];
  readonly maxBlocks?: RangeTooLarge["maxBlocks"];
  readonly chainId?: number;
  readonly contradictions?: readonly Contradiction[];
}

export function toFailure(error: unknown): Failure {
  if (error instanceof RangeTooLarge) {
    const { message, suggested, maxBlocks } = error;
    return { kind: "range", message, suggested, maxBlocks };
  }
  if (error instanceof IndexContradicted) {
    const { message, chainId, contradictions } = error;
    return { kind: "contradicted", message, chainId, contradictions };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { kind: error instanceof UpstreamError ? "upstream" : "other", message };
}

export function fromFailure(failure: Failure): Error {
  const { kind, message, suggested, maxBlocks, chainId, contradictions } = failure;
  if (kind === "contradicted") return new IndexContradicted(chainId ?? 0, contradictions ?? []);
  if (kind === "range") return new RangeTooLarge(message, suggested, { maxBlocks });
  return kind === "upstream" ? new UpstreamError(message) : new Error(message);
}

/** Calls a source's method by name. */
export function callSource(source: EvmSource, { method, args }: SourceCall): Promise<unknown> {
  return (source[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
}

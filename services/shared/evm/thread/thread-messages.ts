import type { SourceEvent } from "../../rpc-client/endpoint.ts";
import {
  type Contradiction,
  type EvmSource,
  type FinalBlock,
  IndexContradicted,
  RangeTooLarge,
  UpstreamError,
} from "../port.ts";
import type { EvmSourceConfig } from "../source/source.ts";

/** What a reading thread is asked: the questions with large answers. */
export const THREAD_METHODS = ["headers", "blocks", "blocksWithLogs", "logs"] as const;
export type ThreadMethod = (typeof THREAD_METHODS)[number];

/** The first that a thread is told: what it reads. */
export type ThreadTask = Pick<EvmSourceConfig, "chainId" | "urls"> & {
  readonly options: EvmSourceConfig["options"] | undefined;
};

export interface ThreadRequest {
  readonly method: ThreadMethod;
  readonly args: readonly unknown[];
  /** What the asking source holds its endpoints against: so does the thread's. */
  readonly final?: FinalBlock | undefined;
}

/** What a reading thread says besides answers. */
export type ThreadMessage =
  | { readonly kind: "log"; readonly message: string; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly kind: "event"; readonly event: SourceEvent };

/** Of an error only name and message survive the way between threads: the rest is put into words. */
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

/** Asks a source by a question's name. */
export function callSource(source: EvmSource, { method, args }: ThreadRequest): Promise<unknown> {
  return (source[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
}

import { createHash } from "node:crypto";

/** A request for blocks, as it is looked up among the recorded ones. */
export interface Question {
  /** Of the words of the request: of one that wants every block without its range, as each line is the same in any. */
  readonly key: string;
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
  /** Whether it wants every block. */
  readonly isWhole: boolean;
}

/** Undefined for what is no request for a range of final blocks: its answer is not recorded. */
export function readQuestion(request: {
  readonly method: string;
  readonly url: string;
  readonly body: string;
}): Question | undefined {
  const { method, url, body } = request;
  if (method !== "POST" || !url.endsWith("/finalized-stream")) return undefined;
  const query = parse(body);
  if (typeof query !== "object" || query === null) return undefined;
  const { fromBlock: from, toBlock: to, ...rest } = query as Readonly<Record<string, unknown>>;
  if (!isBlock(from) || !isBlock(to) || from > to) return undefined;
  const isWhole = rest.includeAllBlocks === true;
  const words = JSON.stringify([method, url, rest, ...(isWhole ? [] : [from, to])]);
  return { key: createHash("sha256").update(words).digest("hex").slice(0, 16), from, to, isWhole };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isBlock(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

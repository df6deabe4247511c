import type { Endpoint } from "./endpoint.ts";
import { type Fault, isRefusal } from "./fault.ts";
import type { RpcCall, RpcReply } from "./transport.ts";

export type Outcome<T> = { readonly value: T } | { readonly fault: Fault };

/** One question of one or more calls that have to be answered together by one endpoint. */
export interface Question<T> {
  readonly calls: readonly RpcCall[];
  /** Turns the replies into a value, or says what is wrong with them. */
  read(replies: readonly RpcReply[]): Outcome<T>;
  /**
   * Asked once every endpoint in service has refused (size, state, method, no such block), or after `patience` ran
   * out: a value settles the question, an Error is thrown, undefined goes on trying.
   */
  conclude?(refusals: readonly Fault[]): { readonly value: T } | Error | undefined;
  /** Failures (a missed deadline counts double) before `conclude` is asked; unset = the pool's total time decides. */
  readonly patience?: number;
}

/** A question on its way through the endpoints. */
export interface Work<T> {
  readonly question: Question<T>;
  readonly index: number;
  readonly refusals: Map<Endpoint, Fault>;
  failures: number;
}

export interface Attempt {
  readonly endpoint: Endpoint;
  readonly replies: readonly RpcReply[];
}

export function startWork<T>(questions: readonly Question<T>[]): Work<T>[] {
  return questions.map((question, index) => ({ question, index, refusals: new Map(), failures: 0 }));
}

/** Questions in groups of at most `size` calls; a question is never torn apart. */
export function groupWork<T extends Work<unknown>>(work: readonly T[], size: number): T[][] {
  const groups: T[][] = [];
  let calls = 0;
  for (const item of work) {
    const group = groups[groups.length - 1];
    calls += item.question.calls.length;
    if (group === undefined || calls > size) {
      groups.push([item]);
      calls = item.question.calls.length;
    } else {
      group.push(item);
    }
  }
  return groups;
}

/** The calls of the questions in requests of at most `size`; a question larger than that goes call by call. */
export function groupCalls(work: readonly Work<unknown>[], size: number): RpcCall[][] {
  return groupWork(work, size).flatMap((group) => {
    const calls = group.flatMap((item) => item.question.calls);
    return calls.length <= size ? [calls] : calls.map((call) => [call]);
  });
}

/** Files the answers: values into `results`, the rest comes back with the last fault. The endpoint learns how it did. */
export function settle<T>(work: readonly Work<T>[], { endpoint, replies }: Attempt, results: T[]) {
  const faults: Fault[] = [];
  const left: Work<T>[] = [];
  let offset = 0;
  for (const item of work) {
    const own = replies.slice(offset, offset + item.question.calls.length);
    offset += item.question.calls.length;
    const outcome = item.question.read(own);
    if ("value" in outcome) {
      results[item.index] = outcome.value;
      continue;
    }
    const { fault } = outcome;
    if (isRefusal(fault.kind)) item.refusals.set(endpoint, fault);
    if (fault.kind === "transient") item.failures += fault.timedOut === true ? 2 : 1;
    faults.push(fault);
    left.push(item);
  }
  const untrusted = faults.find((fault) => fault.kind === "untrusted");
  if (untrusted !== undefined) endpoint.blame(untrusted, work[0]?.question.calls.at(-1)?.method ?? "");
  else if (left.length < work.length || faults.some((fault) => fault.kind !== "transient"))
    endpoint.approve();
  return { left, lastFault: faults[faults.length - 1] };
}

/** What is to be done with a question after a round: go on, take the value, or fail. */
export function concludeWork<T>(
  item: Work<T>,
  inService: readonly Endpoint[],
): { value: T } | Error | "go on" | "refused" {
  const refusals = [...item.refusals.values()];
  // A range that one endpoint refuses is halved rather than kept for an endpoint that does not answer now.
  const isExhausted =
    refusals.length > 0 &&
    (refusals.some((fault) => fault.kind === "range") ||
      inService.every((endpoint) => item.refusals.has(endpoint)));
  const isTooSlow = item.failures >= (item.question.patience ?? Number.POSITIVE_INFINITY);
  if (!isExhausted && !isTooSlow) return "go on";
  const end = item.question.conclude?.(refusals);
  if (end !== undefined) return end;
  if (isExhausted && refusals.every(({ kind }) => kind === "state" || kind === "method")) return "refused";
  item.refusals.clear();
  return "go on";
}

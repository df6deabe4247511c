import type { Family } from "../../../services/shared/contract/endpoint.ts";
import { STATUS_OF } from "../../../services/shared/errors.ts";
import { beginClientSpan, type ClientCall } from "../../../services/shared/tracing/http.ts";
import { errorTypeOf, type Tracing } from "../../../services/shared/tracing/tracing.ts";
import type { Clock } from "../../request/clock.ts";
import {
  badResponse,
  DeadlineExceeded,
  RequestCancelled,
  ServiceErrorResponse,
  serviceUnavailable,
} from "../../request/errors.ts";
import { BadHttp, BrokenOff, NotReached } from "../transport/errors.ts";
import { createPool, type Pool } from "../transport/pool.ts";
import { type Answer, acceptAnswer } from "./check-response.ts";
import { type Attempt, createSend, type Send } from "./express-proxy.ts";
import type { Question } from "./question.ts";
import type { Upstream, UpstreamGroup } from "./upstream.ts";

export interface ProxyOptions {
  readonly groups: ReadonlyMap<Family, UpstreamGroup>;
  readonly clock: Clock;
  /** For the text of 408: what a client is promised. */
  readonly deadlineMs: number;
  /** Lets requests into services that demand one. */
  readonly serviceToken?: string | undefined;
  /** Connections a replica gets at most; further requests wait for one until their deadline. */
  readonly maxConnections?: number;
  readonly tracing?: Tracing | undefined;
}

/** A question under way. */
export interface Asked {
  /** Nobody waits any more: the service is told by the end of its connection. */
  abandon(): void;
}

/** Who asks: told once of the end, never before `Ask` has returned. Functions, since promises would wait for each other. */
export interface Asker {
  onAnswer(answer: Answer): void;
  /**
   * ServiceRefusal (the service's own error), `unavailable` (no replica serves, or its answer is broken),
   * DeadlinePassed, or Abandoned.
   */
  onFailure(error: Error): void;
}

export type Ask = (question: Question, asker: Asker) => Asked;

export interface ServiceProxy {
  readonly ask: Ask;
  /** Closes the connections to the services. */
  close(): void;
}

/**
 * Asks the least busy serving replica of a family. A failed connection is tried once more, on another replica if there
 * is one: every request is a read, and nothing of the answer has gone to anybody yet.
 */
export function createUpstreamClient(options: ProxyOptions): ServiceProxy {
  const { groups, clock, deadlineMs, tracing, serviceToken, maxConnections = 512 } = options;
  const pools: Pool[] = [];
  const sends = new Map<Upstream, Send>();
  for (const { members } of groups.values()) {
    for (const upstream of members) {
      const pool = createPool({ origin: upstream.url, maxConnections });
      pools.push(pool);
      sends.set(upstream, createSend({ url: upstream.url, pool, serviceToken }));
    }
  }

  return {
    ask: (question, asker) =>
      new Asking(question, {
        asker,
        group: groups.get(question.endpoint.family),
        sends,
        clock,
        tracing,
        deadlineMs,
      }),
    close() {
      for (const pool of pools) pool.close();
    },
  };
}

interface AskingOptions {
  readonly asker: Asker;
  readonly group: UpstreamGroup | undefined;
  readonly sends: ReadonlyMap<Upstream, Send>;
  readonly clock: Clock;
  readonly tracing: Tracing | undefined;
  readonly deadlineMs: number;
}

interface Trying {
  readonly attempt: Attempt;
  readonly upstream: Upstream;
  readonly startedMs: number;
  /** Its span, where requests are traced. */
  readonly call: ClientCall | undefined;
}

class Asking implements Asked {
  readonly #question: Question;
  readonly #options: AskingOptions;
  readonly #deadline: NodeJS.Timeout;
  #current: Trying | undefined;
  /** Where the first attempt failed, and how: there is one more. */
  #failed: { readonly upstream: Upstream; readonly failure: Error } | undefined;
  #isOver = false;

  constructor(question: Question, options: AskingOptions) {
    this.#question = question;
    this.#options = options;
    this.#deadline = setTimeout(
      () => this.#giveUp(new DeadlineExceeded(options.deadlineMs), "failure"),
      Math.max(0, question.leftMs),
    );
    this.#tryAt(options.group?.choose());
  }

  abandon(): void {
    this.#giveUp(new RequestCancelled("Nobody waits for the answer"), "unknown");
  }

  #tryAt(upstream: Upstream | undefined): void {
    const question = this.#question;
    const { sends, clock, tracing } = this.#options;
    if (upstream === undefined) {
      const error = serviceUnavailable(question.endpoint.family, this.#failed?.failure);
      queueMicrotask(() => this.#end(error));
      return;
    }
    upstream.inFlight += 1;
    upstream.breaker.begin();
    question.fields.upstream = upstream.name;
    const startedMs = clock.monotonicMs();
    const call = tracing && beginCall(tracing, question, { upstream, isAgain: this.#failed !== undefined });
    const asked = call === undefined ? question : { ...question, trace: call.headers };
    const attempt = (sends.get(upstream) as Send)(asked, {
      onAnswer: (answer) => this.#onAnswer(answer),
      onFailure: (error) => this.#onFailure(error),
    });
    this.#current = { attempt, upstream, startedMs, call };
  }

  #onAnswer(answer: Answer): void {
    const upstream = this.#current?.upstream;
    if (this.#isOver || upstream === undefined) return;
    try {
      acceptAnswer(answer, this.#question);
    } catch (error) {
      this.#onFailure(error);
      return;
    }
    this.#current?.call?.end({ status: answer.status });
    this.#options.group?.reportResponse(upstream);
    this.#endAttempt("success");
    occupyUntilRead(upstream, answer);
    this.#end(answer);
  }

  #onFailure(error: unknown): void {
    const upstream = this.#current?.upstream;
    if (this.#isOver || upstream === undefined) return;
    this.#current?.call?.end(outcomeOf(error));
    // The service's own errors are answers: its health check and its log say what is wrong with it.
    if (error instanceof ServiceErrorResponse) this.#options.group?.reportResponse(upstream);
    this.#endAttempt(error instanceof ServiceErrorResponse ? "success" : "failure");
    const { family } = this.#question.endpoint;
    if (error instanceof NotReached || error instanceof BrokenOff) this.#tryAgain(upstream, error);
    else this.#end(error instanceof BadHttp ? badResponse(family, error) : (error as Error));
  }

  #tryAgain(upstream: Upstream, failure: Error): void {
    const { group } = this.#options;
    if (this.#failed !== undefined) {
      this.#end(serviceUnavailable(this.#question.endpoint.family, failure));
      return;
    }
    this.#failed = { upstream, failure };
    if (failure instanceof NotReached) group?.reportFailure(upstream, failure);
    // A lone replica gets a second chance after a broken connection: it may just have closed an idle one.
    const isThere = failure instanceof BrokenOff && upstream.state !== "not_serving";
    this.#tryAt(group?.choose(upstream) ?? (isThere ? upstream : undefined));
  }

  #endAttempt(outcome: "success" | "failure" | "unknown"): void {
    const current = this.#current;
    if (current === undefined) return;
    this.#current = undefined;
    current.upstream.inFlight -= 1;
    current.upstream.breaker.end(outcome);
    const passedMs = this.#options.clock.monotonicMs() - current.startedMs;
    this.#question.fields.upstreamMs = Math.round(passedMs * 1000) / 1000;
  }

  #giveUp(error: Error, outcome: "failure" | "unknown"): void {
    if (this.#isOver) return;
    this.#current?.call?.end(outcomeOf(error));
    this.#current?.attempt.abort();
    this.#endAttempt(outcome);
    this.#end(error);
  }

  #end(result: Answer | Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#deadline);
    const { asker } = this.#options;
    if (result instanceof Error) asker.onFailure(result);
    else asker.onAnswer(result);
  }
}

/** The path goes without its query, where clients put whatever they like. */
function beginCall(
  tracing: Tracing,
  { span, endpoint }: Question,
  { upstream, isAgain }: { upstream: Upstream; isAgain: boolean },
): ClientCall {
  return beginClientSpan(tracing, {
    parent: span,
    method: "GET",
    origin: upstream.url,
    path: endpoint.path,
    attributes: { "chaintables.upstream": upstream.name, ...(isAgain && { "http.request.resend_count": 1 }) },
  });
}

function outcomeOf(error: unknown): Parameters<ClientCall["end"]>[0] {
  return error instanceof ServiceErrorResponse
    ? { status: STATUS_OF[error.code] }
    : { errorType: errorTypeOf(error) };
}

/** A body on its way goes on to be work for the replica. */
function occupyUntilRead(upstream: Upstream, { body }: Answer): void {
  if (Buffer.isBuffer(body)) return;
  upstream.inFlight += 1;
  body.once("close", () => {
    upstream.inFlight -= 1;
  });
}

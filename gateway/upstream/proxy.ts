import type { Family } from "../../services/shared/contract/endpoint.ts";
import { ServiceError } from "../../services/shared/errors.ts";
import type { Clock } from "../clock.ts";
import { type Answer, acceptAnswer } from "./answer.ts";
import { type Attempt, createSend, type Send } from "./attempt.ts";
import { Abandoned, answerIsBad, DeadlinePassed, ServiceRefusal, serviceIsDown } from "./failure.ts";
import type { Question } from "./question.ts";
import { BadHttp, BrokenOff, NotReached } from "./transport/faults.ts";
import { createPool, type Pool } from "./transport/pool.ts";
import type { Upstream, UpstreamGroup } from "./upstream.ts";

export interface ProxyOptions {
  readonly groups: ReadonlyMap<Family, UpstreamGroup>;
  readonly clock: Clock;
  /** For the text of 408: what a client is promised. */
  readonly deadlineMs: number;
  /** Connections a replica gets at most; further requests wait for one until their deadline. */
  readonly maxConnections?: number;
}

/** A question under way. */
export interface Asked {
  /**
   * Rejects with ServiceRefusal (the service's own error), `unavailable` (no replica serves, or its answer is broken),
   * DeadlinePassed, or Abandoned.
   */
  readonly answer: Promise<Answer>;
  /** Nobody waits any more: the service is told by the end of its connection. */
  abandon(): void;
}

export type Ask = (question: Question) => Asked;

export interface ServiceProxy {
  readonly ask: Ask;
  /** Closes the connections to the services. */
  close(): void;
}

/**
 * Asks the least busy serving replica of a family. A failed connection is tried once more, on another replica if there
 * is one: every request is a read, and nothing of the answer has gone to anybody yet.
 */
export function createProxy(options: ProxyOptions): ServiceProxy {
  const { groups, clock, deadlineMs, maxConnections = 512 } = options;
  const pools: Pool[] = [];
  const sends = new Map<Upstream, Send>();
  for (const { members } of groups.values()) {
    for (const upstream of members) {
      const pool = createPool({ origin: upstream.url, maxConnections });
      pools.push(pool);
      sends.set(upstream, createSend({ url: upstream.url, pool }));
    }
  }

  return {
    ask: (question) =>
      new Asking(question, { group: groups.get(question.endpoint.family), sends, clock, deadlineMs }),
    close() {
      for (const pool of pools) pool.close();
    },
  };
}

interface AskingOptions {
  readonly group: UpstreamGroup | undefined;
  readonly sends: ReadonlyMap<Upstream, Send>;
  readonly clock: Clock;
  readonly deadlineMs: number;
}

class Asking implements Asked {
  readonly answer: Promise<Answer>;
  readonly #question: Question;
  readonly #options: AskingOptions;
  readonly #deadline: NodeJS.Timeout;
  #reject: (error: Error) => void = () => {};
  #current:
    | { readonly attempt: Attempt; readonly upstream: Upstream; readonly startedMs: number }
    | undefined;
  #isOver = false;

  constructor(question: Question, options: AskingOptions) {
    this.#question = question;
    this.#options = options;
    this.#deadline = setTimeout(
      () => this.#giveUp(new DeadlinePassed(options.deadlineMs), "failure"),
      Math.max(0, question.leftMs),
    );
    this.answer = new Promise((resolve, reject) => {
      this.#reject = reject;
      this.#run().then(
        (answer) => this.#finish(() => resolve(answer)),
        (error) => this.#finish(() => reject(error)),
      );
    });
  }

  abandon(): void {
    this.#giveUp(new Abandoned("Nobody waits for the answer"), "unknown");
  }

  async #run(): Promise<Answer> {
    const { group } = this.#options;
    const { family } = this.#question.endpoint;
    const first = group?.choose();
    if (!group || !first) throw serviceIsDown(family);
    const { answer, failure } = await this.#try(first);
    if (answer) return answer;
    // Nobody else should be sent to where nobody is before the next probe has found it again.
    if (failure instanceof NotReached) group.report(first, "unreachable", failure);
    // A lone replica gets a second chance after a broken connection: it may just have closed an idle one.
    const second = group.choose(first) ?? (first.state === "serving" ? first : undefined);
    if (!second || this.#isOver) throw serviceIsDown(family, failure);
    const retried = await this.#try(second);
    if (retried.answer) return retried.answer;
    throw serviceIsDown(family, retried.failure);
  }

  /** The answer, or the connection failure that leaves a second try open; throws every other outcome. */
  async #try(upstream: Upstream): Promise<{ answer?: Answer; failure?: Error }> {
    const question = this.#question;
    const { sends, clock } = this.#options;
    upstream.inFlight += 1;
    upstream.breaker.begin();
    question.fields.upstream = upstream.name;
    const attempt = (sends.get(upstream) as Send)(question);
    this.#current = { attempt, upstream, startedMs: clock.monotonicMs() };
    try {
      const answer = acceptAnswer(await attempt.answer, question);
      this.#endAttempt("success");
      occupyUntilRead(upstream, answer);
      return { answer };
    } catch (error) {
      // The service's own errors are answers: its health check and its log say what is wrong with it.
      this.#endAttempt(error instanceof ServiceRefusal ? "success" : "failure");
      if (error instanceof NotReached || error instanceof BrokenOff) return { failure: error };
      const isTheirs = !(error instanceof ServiceError) && error instanceof BadHttp;
      throw isTheirs ? answerIsBad(question.endpoint.family, error) : error;
    }
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
    this.#current?.attempt.abort();
    this.#endAttempt(outcome);
    this.#finish(() => this.#reject(error));
  }

  #finish(settle: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#deadline);
    settle();
  }
}

/** A body on its way goes on to be work for the replica. */
function occupyUntilRead(upstream: Upstream, { body }: Answer): void {
  if (Buffer.isBuffer(body)) return;
  upstream.inFlight += 1;
  body.once("close", () => {
    upstream.inFlight -= 1;
  });
}

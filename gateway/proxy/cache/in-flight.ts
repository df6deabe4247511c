import type { Span } from "@opentelemetry/api";
import { exchangeOf } from "../../../services/shared/http/exchange.ts";
import type { RequestContext } from "../../request/context.ts";

/** On whose behalf a flight is waited for: told of one of the two, once. */
export interface Waiting<T> {
  readonly passage: RequestContext;
  /** The outcome, or undefined when the client goes away before. */
  readonly onOutcome: (outcome: T | undefined) => void;
  /** What the flight fails of, or `deadline.error` when that passes before. */
  readonly onFailure: (error: unknown) => void;
  readonly deadline?: { readonly leftMs: number; readonly error: Error };
}

interface Waiter<T> {
  readonly waiting: Waiting<T>;
  readonly timer: NodeJS.Timeout | undefined;
}

/** One question to a service that several clients wait for. */
export class Flight<T> {
  readonly #abandon: () => void;
  /** Nearly all flights have one. */
  #first: Waiter<T> | undefined;
  #others: Set<Waiter<T>> | undefined;
  #isOver = false;
  /** Of who asked first: the question is in that one's trace. */
  #asker: Span | undefined;

  /** `abandon` is called when nobody waits any more. */
  constructor(abandon: () => void) {
    this.#abandon = abandon;
  }

  /** How many wait. */
  get size(): number {
    return (this.#first === undefined ? 0 : 1) + (this.#others?.size ?? 0);
  }

  /** Waits for the end on behalf of a client. */
  join(waiting: Waiting<T>): void {
    const { passage, onOutcome, onFailure, deadline } = waiting;
    if (passage.span !== undefined) this.#showQuestion(passage.span);
    const onLate = () => {
      this.#leave(waiter);
      onFailure(deadline?.error);
    };
    const timer = deadline && setTimeout(onLate, Math.max(0, deadline.leftMs));
    const waiter: Waiter<T> = { waiting, timer };
    if (this.size === 0) this.#first = waiter;
    else {
      this.#others ??= new Set();
      this.#others.add(waiter);
    }
    exchangeOf(passage.res).onClose = () => {
      this.#leave(waiter);
      onOutcome(undefined);
    };
  }

  /** Links the trace of a request to the one that has the question it waits for. */
  #showQuestion(span: Span): void {
    if (this.#asker === undefined) this.#asker = span;
    else span.addLink({ context: this.#asker.spanContext() });
  }

  /** Ends it for all who wait, in the order in which they came. */
  land(outcome: T): void {
    this.#end(({ onOutcome }) => onOutcome(outcome));
  }

  fail(error: unknown): void {
    this.#end(({ onFailure }) => onFailure(error));
  }

  #end(tell: (waiting: Waiting<T>) => void): void {
    this.#isOver = true;
    const first = this.#first;
    if (first !== undefined) {
      this.#leave(first);
      tell(first.waiting);
    }
    if (this.#others === undefined) return;
    for (const waiter of this.#others) {
      this.#leave(waiter);
      tell(waiter.waiting);
    }
  }

  #leave(waiter: Waiter<T>): void {
    clearTimeout(waiter.timer);
    exchangeOf(waiter.waiting.passage.res).onClose = undefined;
    if (this.#first === waiter) this.#first = undefined;
    else this.#others?.delete(waiter);
    if (!this.#isOver && this.size === 0) this.#abandon();
  }
}

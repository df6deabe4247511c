import type { Span } from "@opentelemetry/api";
import { exchangeOf } from "../../services/shared/host/exchange.ts";
import type { Passage } from "../passage.ts";

interface Waiter<T> {
  readonly passage: Passage;
  readonly resolve: (outcome: T | undefined) => void;
  readonly reject: (error: unknown) => void;
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

  /**
   * Waits for the end on behalf of a client: the outcome, or undefined when the client goes away before. Rejects with
   * what the flight fails of, or with the error of `deadline` when that passes before.
   */
  join(
    passage: Passage,
    deadline?: { readonly leftMs: number; readonly error: Error },
  ): Promise<T | undefined> {
    if (passage.span !== undefined) this.#showQuestion(passage.span);
    return new Promise((resolve, reject) => {
      const onGone = () => {
        this.#leave(waiter);
        resolve(undefined);
      };
      const onLate = () => {
        this.#leave(waiter);
        reject(deadline?.error);
      };
      const timer = deadline && setTimeout(onLate, Math.max(0, deadline.leftMs));
      const waiter: Waiter<T> = { passage, resolve, reject, timer };
      if (this.size === 0) this.#first = waiter;
      else {
        this.#others ??= new Set();
        this.#others.add(waiter);
      }
      exchangeOf(passage.res).onClose = onGone;
    });
  }

  /** Links the trace of a request to the one that has the question it waits for. */
  #showQuestion(span: Span): void {
    if (this.#asker === undefined) this.#asker = span;
    else span.addLink({ context: this.#asker.spanContext() });
  }

  /** Ends it for all who wait, in the order in which they came. */
  land(outcome: T): void {
    this.#end((waiter) => waiter.resolve(outcome));
  }

  fail(error: unknown): void {
    this.#end((waiter) => waiter.reject(error));
  }

  #end(tell: (waiter: Waiter<T>) => void): void {
    this.#isOver = true;
    const first = this.#first;
    if (first !== undefined) {
      this.#leave(first);
      tell(first);
    }
    if (this.#others === undefined) return;
    for (const waiter of this.#others) {
      this.#leave(waiter);
      tell(waiter);
    }
  }

  #leave(waiter: Waiter<T>): void {
    clearTimeout(waiter.timer);
    exchangeOf(waiter.passage.res).onClose = undefined;
    if (this.#first === waiter) this.#first = undefined;
    else this.#others?.delete(waiter);
    if (!this.#isOver && this.size === 0) this.#abandon();
  }
}

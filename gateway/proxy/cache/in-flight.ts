import type { Span } from "@opentelemetry/api";
import { getExchange } from "../../../services/shared/http/exchange.ts";
import type { RequestContext } from "../../request/context.ts";

/** A client that waits for an in-flight request: one of the two functions is called, once. */
export interface Waiter<T> {
  readonly context: RequestContext;
  /** Gets the outcome, or undefined when the client disconnects before. */
  readonly onOutcome: (outcome: T | undefined) => void;
  /** Gets the request's error, or `deadline.error` when that passes before. */
  readonly onError: (error: unknown) => void;
  readonly deadline?: { readonly remainingMs: number; readonly error: Error } | undefined;
}

interface JoinedWaiter<T> {
  readonly waiter: Waiter<T>;
  readonly timer: NodeJS.Timeout | undefined;
}

/** One request to a service that several clients wait for (single-flight). */
export class InFlightRequest<T> {
  /** How many clients wait; written here only. */
  size = 0;
  readonly #cancel: () => void;
  /** Nearly all have one. */
  #first: JoinedWaiter<T> | undefined;
  #others: Set<JoinedWaiter<T>> | undefined;
  #isSettled = false;
  /** Of the first client: the request to the service is in its trace. */
  #span: Span | undefined;

  /** `cancel` is called when the last client has left. */
  constructor(cancel: () => void) {
    this.#cancel = cancel;
  }

  join(waiter: Waiter<T>): void {
    const { context, onOutcome, onError, deadline } = waiter;
    if (context.span !== undefined) this.#linkTrace(context.span);
    const onLate = () => {
      this.#leave(joined);
      onError(deadline?.error);
    };
    const timer = deadline && setTimeout(onLate, Math.max(0, deadline.remainingMs));
    const joined: JoinedWaiter<T> = { waiter, timer };
    this.size += 1;
    if (this.#first === undefined && this.#others === undefined) this.#first = joined;
    else {
      this.#others ??= new Set();
      this.#others.add(joined);
    }
    getExchange(context.res).onClose = () => {
      this.#leave(joined);
      onOutcome(undefined);
    };
  }

  /** Links the trace of a client to the one that has the request it waits for. */
  #linkTrace(span: Span): void {
    if (this.#span === undefined) this.#span = span;
    else span.addLink({ context: this.#span.spanContext() });
  }

  /** Ends the request for all that wait, in the order in which they joined. */
  settle(outcome: T): void {
    this.#end(({ onOutcome }) => onOutcome(outcome));
  }

  fail(error: unknown): void {
    this.#end(({ onError }) => onError(error));
  }

  #end(call: (waiter: Waiter<T>) => void): void {
    this.#isSettled = true;
    const first = this.#first;
    if (first !== undefined) {
      this.#leave(first);
      call(first.waiter);
    }
    if (this.#others === undefined) return;
    for (const joined of this.#others) {
      this.#leave(joined);
      call(joined.waiter);
    }
  }

  #leave(joined: JoinedWaiter<T>): void {
    clearTimeout(joined.timer);
    getExchange(joined.waiter.context.res).onClose = undefined;
    if (this.#first === joined) this.#first = undefined;
    else this.#others?.delete(joined);
    this.size -= 1;
    if (!this.#isSettled && this.size === 0) this.#cancel();
  }
}

/** One event as it was sent. */
export interface LoggedEvent {
  /** Empty where the events behind it belong to it. */
  readonly id: string;
  readonly bytes: Buffer;
}

const MAX_EVENTS = 256;
const MAX_BYTES = 1_048_576;

/** The last events of a stream, for clients that were away: bounded in number and in bytes. */
export class EventLog {
  #events: LoggedEvent[] = [];
  #bytes = 0;
  /** The state that the first event is a change of; undefined where no client can have it. */
  #base: string | undefined;

  /** Forgets all events: the next one is a change of this state. */
  restart(base: string | undefined): void {
    this.#events = [];
    this.#bytes = 0;
    this.#base = base;
  }

  add(event: LoggedEvent): void {
    this.#events.push(event);
    this.#bytes += event.bytes.length;
    while (this.#events.length > MAX_EVENTS || this.#bytes > MAX_BYTES) {
      const dropped = this.#events.shift() as LoggedEvent;
      this.#bytes -= dropped.bytes.length;
      this.#base = dropped.id === "" ? undefined : dropped.id;
    }
  }

  /** The events after this state; undefined where it is not, or no longer, known. */
  after(id: string): readonly Buffer[] | undefined {
    const at = this.#events.findLastIndex((event) => event.id === id);
    if (at === -1 && id !== this.#base) return undefined;
    return this.#events.slice(at + 1).map(({ bytes }) => bytes);
  }
}

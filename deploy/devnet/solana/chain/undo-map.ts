/** What every change of some maps was, newest last: going back is doing them the other way round. */
export interface UndoLog {
  /** Names the present. */
  mark(): number;
  /** Takes back all that came after a mark. */
  backTo(mark: number): void;
  /** Everything up to a mark is final. */
  forget(mark: number): void;
  note(undo: () => void): void;
}

export function createUndoLog(): UndoLog {
  let undos: (() => void)[] = [];
  let forgotten = 0;
  return {
    mark: () => forgotten + undos.length,
    backTo(mark) {
      if (mark < forgotten)
        throw new RangeError(`Cannot go back to change ${mark}: those before ${forgotten} are final`);
      while (forgotten + undos.length > mark) undos.pop()?.();
    },
    forget(mark) {
      const count = Math.max(0, Math.min(mark - forgotten, undos.length));
      undos = undos.slice(count);
      forgotten += count;
    },
    note: (undo) => undos.push(undo),
  };
}

/** A map whose values are replaced, never changed, so that it can be set back. */
export class UndoMap<V> {
  readonly #log: UndoLog;
  readonly #values: Map<string, V>;
  #before = new Map<string, V | undefined>();
  readonly #touched = new Set<string>();

  constructor(log: UndoLog, entries: Iterable<readonly [string, V]> = []) {
    this.#log = log;
    this.#values = new Map(entries);
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  /** From now on `before` returns values as of this moment. */
  watch(): void {
    this.#before = new Map();
  }

  before(key: string): V | undefined {
    return this.#before.has(key) ? this.#before.get(key) : this.#values.get(key);
  }

  entries(): IterableIterator<[string, V]> {
    return this.#values.entries();
  }

  set(key: string, value: V): void {
    const before = this.#values.get(key);
    const had = this.#values.has(key);
    this.#note(key, before);
    this.#log.note(() => {
      if (had) this.#values.set(key, before as V);
      else this.#values.delete(key);
    });
    this.#values.set(key, value);
  }

  delete(key: string): void {
    const before = this.#values.get(key);
    if (before === undefined) return;
    this.#note(key, before);
    this.#log.note(() => this.#values.set(key, before));
    this.#values.delete(key);
  }

  /** What may have changed since the last call, as it is now. */
  takeChanges(): (readonly [string, V | undefined])[] {
    const changes = [...this.#touched].map((key) => [key, this.#values.get(key)] as const);
    this.#touched.clear();
    return changes;
  }

  /** Takes over what another map gave as its changes. */
  apply(changes: readonly (readonly [string, V | undefined])[]): void {
    for (const [key, value] of changes) {
      if (value === undefined) this.#values.delete(key);
      else this.#values.set(key, value);
    }
  }

  #note(key: string, before: V | undefined): void {
    if (!this.#before.has(key)) this.#before.set(key, before);
    this.#touched.add(key);
  }
}

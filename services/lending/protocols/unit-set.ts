import type { Unit, UnitSet, UnitState } from "./protocol.ts";

/** Units in memory, each replaced by its latest state; the order is that in which they came first. */
export class UnitTable implements UnitSet {
  readonly #kinds = new Map<string, Map<string, Unit>>();

  get size(): number {
    let size = 0;
    for (const units of this.#kinds.values()) size += units.size;
    return size;
  }

  put(unit: Unit): void {
    let units = this.#kinds.get(unit.kind);
    if (units === undefined) {
      units = new Map();
      this.#kinds.set(unit.kind, units);
    }
    units.set(unit.id, unit);
  }

  get<S = UnitState>(kind: string, id: string): Unit<S> | undefined {
    // A kind has one type of state, which its protocol alone makes and reads.
    return this.#kinds.get(kind)?.get(id) as Unit<S> | undefined;
  }

  all<S = UnitState>(kind: string): Iterable<Unit<S>> {
    return (this.#kinds.get(kind)?.values() ?? []) as Iterable<Unit<S>>;
  }
}

import type { Entity, EntitySet, EntityState } from "./protocol.ts";

/** Entities in memory, each with its latest state, in the order in which they were first put. */
export class EntityMap implements EntitySet {
  readonly #kinds = new Map<string, Map<string, Entity>>();

  get size(): number {
    let size = 0;
    for (const entities of this.#kinds.values()) size += entities.size;
    return size;
  }

  put(entity: Entity): void {
    let entities = this.#kinds.get(entity.kind);
    if (entities === undefined) {
      entities = new Map();
      this.#kinds.set(entity.kind, entities);
    }
    entities.set(entity.id, entity);
  }

  get<S = EntityState>(kind: string, id: string): Entity<S> | undefined {
    // A kind has one type of state, written and read by its protocol alone.
    return this.#kinds.get(kind)?.get(id) as Entity<S> | undefined;
  }

  all<S = EntityState>(kind: string): Iterable<Entity<S>> {
    return (this.#kinds.get(kind)?.values() ?? []) as Iterable<Entity<S>>;
  }
}

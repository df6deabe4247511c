import type { EntityRef, EntityState, KnownEntities } from "../../protocols/protocol.ts";
import type { EntityRow } from "../../store/collections.ts";
import { fromStateText } from "../../store/state-text.ts";
import { entityKey } from "../entities/entity-key.ts";
import type { EntityRegistry } from "../entities/entity-registry.ts";

/**
 * The entities during a pass: those of the registry, without rolled back ones, with those that the pass discovers. The
 * registry itself changes once the pass is written.
 */
export class PassView implements KnownEntities {
  readonly #registry: EntityRegistry;
  readonly #removedAbove: number;
  readonly #added = new Map<string, { readonly ref: EntityRef; readonly foundBlock: number }>();
  readonly #read = new Map<string, string>();

  /** Entities first found after block `removedAbove` are rolled back; Infinity = none. */
  constructor(registry: EntityRegistry, removedAbove: number) {
    this.#registry = registry;
    this.#removedAbove = removedAbove;
  }

  /** The registry's row, unless it is rolled back. */
  get(ref: EntityRef): EntityRow | undefined {
    const row = this.#registry.get(ref);
    return row === undefined || row.foundBlock > this.#removedAbove ? undefined : row;
  }

  has(kind: string, id: string): boolean {
    return this.#added.has(entityKey({ kind, id })) || this.get({ kind, id }) !== undefined;
  }

  state<S = EntityState>(kind: string, id: string): S | undefined {
    const read = this.#read.get(entityKey({ kind, id }));
    if (read !== undefined) return fromStateText(read) as S;
    return this.get({ kind, id }) && this.#registry.state<S>(kind, id);
  }

  /** Adds an entity; returns whether it is new. */
  add(ref: EntityRef, foundBlock: number): boolean {
    if (this.has(ref.kind, ref.id)) return false;
    this.#added.set(entityKey(ref), { ref: { kind: ref.kind, id: ref.id }, foundBlock });
    return true;
  }

  /** Stores the state that this pass has read. */
  setState(ref: EntityRef, state: string): void {
    this.#read.set(entityKey(ref), state);
  }

  /** The block that first named the entity. */
  foundBlock(ref: EntityRef): number {
    const block = this.get(ref)?.foundBlock ?? this.#added.get(entityKey(ref))?.foundBlock;
    if (block === undefined) throw new Error(`Unknown entity: ${entityKey(ref)}`);
    return block;
  }

  /** Every entity that is not rolled back. */
  *refs(): Generator<EntityRef> {
    for (const row of this.#registry.rows()) if (row.foundBlock <= this.#removedAbove) yield row;
    for (const { ref } of this.#added.values()) yield ref;
  }

  /** Rows that are rolled back and were not found again. */
  removed(): EntityRow[] {
    return [...this.#registry.rows()].filter(
      (row) => row.foundBlock > this.#removedAbove && !this.#added.has(entityKey(row)),
    );
  }
}

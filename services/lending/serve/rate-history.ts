import { formatValue } from "../../shared/contract/parameter-error.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { Pacer } from "../../shared/service/pacer.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { ChainDeployments } from "../deployments.ts";
import { EntityMap } from "../protocols/entity-map.ts";
import type { Entity, EntityRef, RowTarget } from "../protocols/protocol.ts";
import type { LendingRow, MarketRow, VaultRow } from "../protocols/rows.ts";
import { entityHistory } from "../store/collections.ts";
import { fromStateText } from "../store/state-text.ts";

/** A vault that is made of more is refused: anybody can make vaults of vaults. */
const MAX_ENTITIES = 200;
/** Each is looked for as every kind of vault. */
const MAX_ASKED = 3 * MAX_ENTITIES;
const HOUR = 3_600;

type Deployed = ChainDeployments["protocols"][number];
type StoredState = Entity & { readonly hour: number };

/** The rows of one vault or market at earlier times, made of the states that were stored then. */
export class RateHistory {
  readonly #store: Store;
  readonly #chainId: number;
  readonly #deployed: Deployed;
  readonly #target: RowTarget;
  /** By entity, its state at the last time that was asked: most states last for many hours. */
  readonly #last = new Map<string, StoredState>();

  constructor(store: Store, options: { chainId: number; deployed: Deployed; target: RowTarget }) {
    this.#store = store;
    this.#chainId = options.chainId;
    this.#deployed = options.deployed;
    this.#target = options.target;
  }

  /** The row at `time` (Unix seconds) with interest accrued to it; undefined where there was none yet. */
  async rowAt(time: number, pacer: Pacer): Promise<VaultRow | MarketRow | undefined> {
    const { protocol, deployment } = this.#deployed;
    const entities = new EntityMap();
    const asked = new Set<string>();
    for (;;) {
      const wanted = (protocol.entitiesOf?.(this.#target, { entities, deployment }) ?? []).filter(
        (ref) => !asked.has(keyOf(ref)),
      );
      if (wanted.length === 0) break;
      for (const ref of wanted) asked.add(keyOf(ref));
      if (asked.size > MAX_ASKED) throw new ServiceError("bad_request", tooMany(this.#target));
      for (const entity of await this.#statesAt(wanted, time)) entities.put(entity);
      await pacer.step();
    }
    if (entities.size === 0) return undefined;
    for (const row of protocol.rows(entities, { chainId: this.#chainId, time, deployment }))
      if (isOf(row, this.#target)) return row;
    return undefined;
  }

  /** What was stored last up to the hour of a time. */
  async #statesAt(refs: readonly EntityRef[], time: number): Promise<Entity[]> {
    const chainId = this.#chainId;
    const hour = time - (time % HOUR);
    const unique = [...new Map(refs.map((ref) => [keyOf(ref), ref])).values()];
    const rows = await this.#store.getLast(
      entityHistory,
      unique.map(({ kind, id }) => ({ chainId, kind, id, hour })),
    );
    return rows.flatMap((row) => {
      // The state of an hour is that of its last reading: of the open one it may lie behind the asked time by no block.
      if (row.time > time) return [];
      const known = this.#last.get(keyOf(row));
      if (known?.hour === row.hour) return [known];
      const { kind, id, block, hour: at } = row;
      const entity = { kind, id, state: fromStateText(row.state), block, time: row.time, hour: at };
      this.#last.set(keyOf(row), entity);
      return [entity];
    });
  }
}

function keyOf({ kind, id }: EntityRef): string {
  return `${kind} ${id}`;
}

function isOf(row: LendingRow, { id, underlying }: RowTarget): row is VaultRow | MarketRow {
  if (row.table === "market") return row.marketId === id;
  if (row.table !== "vault" || row.address !== id) return false;
  return underlying === undefined || row.underlying.address === underlying;
}

function tooMany({ id }: RowTarget): string {
  return `Cannot tell the history of ${formatValue(id)}: it is made of more than ${MAX_ENTITIES} vaults and markets.`;
}

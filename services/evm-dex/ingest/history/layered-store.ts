import { writeCopies } from "../../../shared/storage/bulk-writer.ts";
import type { Collection } from "../../../shared/storage/collection.ts";
import type { Store, WriteStep } from "../../../shared/storage/port.ts";

/**
 * A store whose rows of some collections are those of another one: a chunk of history is indexed into a store of its
 * own, but knows and shares the pools, tokens and gauges of the index.
 */
export function layeredStore(
  own: Store,
  { shared, collections }: { shared: Store; collections: readonly Collection[] },
): Store {
  const names = new Set(collections.map(({ name }) => name));
  const storeOf = ({ name }: Collection): Store => (names.has(name) ? shared : own);
  return {
    engine: own.engine,
    isReadOnly: own.isReadOnly,
    term: shared.term,
    get damage() {
      return shared.damage ?? own.damage;
    },
    // Nobody else writes a chunk's rows while it is read.
    snapshot: async () => undefined,
    declare: (collections) => own.declare(collections),
    forget: (collections) => own.forget(collections),
    openStored: () => own.openStored(),
    // Shared rows first: they are facts, and the chunk's rows name them.
    async write(steps: readonly WriteStep[]) {
      const isShared = (step: WriteStep) => names.has(step.collection.name);
      await shared.write(steps.filter(isShared));
      await own.write(steps.filter((step) => !isShared(step)));
    },
    openRows: (target, orderedBy, later) => storeOf(target).openRows(target, orderedBy, later),
    openBulkWriter() {
      return writeCopies(this);
    },
    get: (from, key) => storeOf(from).get(from, key),
    getMany: (from, keys) => storeOf(from).getMany(from, keys),
    getLast: (from, keys, by) => storeOf(from).getLast(from, keys, by),
    find: (from, query) => storeOf(from).find(from, query),
    count: (from, filter, selection) => storeOf(from).count(from, filter, selection),
    sum: (from, filter, fields) => storeOf(from).sum(from, filter, fields),
    compareAndSet: (target, row, expected) => storeOf(target).compareAndSet(target, row, expected),
    within: (signal) => layeredStore(own.within(signal), { shared: shared.within(signal), collections }),
    size: () => own.size(),
    plan: (from, query) => storeOf(from).plan(from, query),
    close: () => own.close(),
  };
}

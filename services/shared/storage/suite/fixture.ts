import { afterEach, beforeEach } from "mocha";
import type { Collection } from "../collection.ts";
import type { Store } from "../port.ts";

/** An empty place for data. */
export interface StorePlace {
  /** Another connection to the place; the suite closes it. */
  connect(): Promise<Store>;
  /** Removes the place with its data. */
  remove(): Promise<void>;
}

export interface StoreTraits {
  /** Whether a second connection sees the same data; not so for a database in memory. */
  readonly shared: boolean;
  /** Whether one write is all or nothing. */
  readonly atomicWrites: boolean;
  /** For an engine that does not report its plans: whether it can read a secondary index in order. */
  readonly readsIndexesInOrder?: () => Promise<boolean>;
}

export interface SuiteOptions {
  readonly open: () => Promise<StorePlace>;
  readonly traits: StoreTraits;
}

export interface Fixture {
  /** The test's store, with the collections declared. */
  readonly store: Store;
  /** A further connection to the same place. */
  connect(): Promise<Store>;
}

/** A fresh place for each test, closed and removed after it. */
export function useStore(options: SuiteOptions, collections: readonly Collection[]): Fixture {
  let place: StorePlace;
  let stores: Store[];
  const connect = async (): Promise<Store> => {
    const store = await place.connect();
    stores.push(store);
    await store.declare(collections);
    return store;
  };
  beforeEach(async () => {
    stores = [];
    place = await options.open();
    await connect();
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
    await place.remove();
  });
  return {
    get store(): Store {
      return stores[0] as Store;
    },
    connect,
  };
}

import { afterEach, beforeEach } from "mocha";
import type { Collection, Store } from "../port.ts";
import type { StorePlace, StoreTraits } from "../suite.ts";

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

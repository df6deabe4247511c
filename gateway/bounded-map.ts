interface Place<V> {
  readonly key: string;
  value: V;
  /** Toward those that were set later and earlier. */
  younger: Place<V> | undefined;
  older: Place<V> | undefined;
}

/**
 * A map that forgets its oldest entries above a size, so that no client can make it grow.
 * Setting an entry again makes it the youngest; reading does not, which keeps reads free of writes. The order is a list
 * by hand: a Map that has an entry taken out and put back with every request makes itself new tables all the time.
 */
export class BoundedMap<V> {
  readonly #places = new Map<string, Place<V>>();
  readonly #maxEntries: number;
  #youngest: Place<V> | undefined;
  #oldest: Place<V> | undefined;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#places.size;
  }

  get(key: string): V | undefined {
    return this.#places.get(key)?.value;
  }

  set(key: string, value: V): void {
    const known = this.#places.get(key);
    if (known !== undefined) {
      known.value = value;
      if (known === this.#youngest) return;
      this.#unlink(known);
      this.#link(known);
      return;
    }
    const place: Place<V> = { key, value, younger: undefined, older: undefined };
    this.#places.set(key, place);
    this.#link(place);
    if (this.#places.size > this.#maxEntries && this.#oldest !== undefined) this.delete(this.#oldest.key);
  }

  delete(key: string): void {
    const place = this.#places.get(key);
    if (place === undefined) return;
    this.#places.delete(key);
    this.#unlink(place);
  }

  #unlink(place: Place<V>): void {
    if (place.younger === undefined) this.#youngest = place.older;
    else place.younger.older = place.older;
    if (place.older === undefined) this.#oldest = place.younger;
    else place.older.younger = place.younger;
  }

  #link(place: Place<V>): void {
    place.older = this.#youngest;
    place.younger = undefined;
    if (this.#youngest === undefined) this.#oldest = place;
    else this.#youngest.younger = place;
    this.#youngest = place;
  }
}

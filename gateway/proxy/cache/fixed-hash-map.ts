import { hashOf } from "./hash.ts";

const BUCKETS = 1 << 10;

interface Node<V> {
  readonly key: string;
  readonly value: V;
  /** Never one that came later: an old one that the collector has not found yet would keep all that followed. */
  next: Node<V> | undefined;
}

/**
 * A map for what comes and goes with each request. A Map makes itself a new table every so many changes, and each old
 * one, with whatever was in it, hangs on the one before: under load the collector carries over requests that are long
 * answered, at half the cost of the requests themselves.
 */
export class PassingMap<V> {
  readonly #buckets: (Node<V> | undefined)[] = new Array<Node<V> | undefined>(BUCKETS).fill(undefined);

  get(key: string): V | undefined {
    for (let node = this.#buckets[bucketOf(key)]; node !== undefined; node = node.next) {
      if (node.key === key) return node.value;
    }
    return undefined;
  }

  /** The key must not be there. */
  add(key: string, value: V): void {
    const at = bucketOf(key);
    this.#buckets[at] = { key, value, next: this.#buckets[at] };
  }

  /** Takes it out where it has this value; another's place stays. */
  remove(key: string, value: V): void {
    const at = bucketOf(key);
    let before: Node<V> | undefined;
    for (let node = this.#buckets[at]; node !== undefined; before = node, node = node.next) {
      if (node.key !== key || node.value !== value) continue;
      if (before === undefined) this.#buckets[at] = node.next;
      else before.next = node.next;
      return;
    }
  }
}

function bucketOf(key: string): number {
  const hash = hashOf(key);
  return (hash ^ (hash >>> 16)) & (BUCKETS - 1);
}

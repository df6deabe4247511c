const BUCKETS = 1 << 10;

interface Node<V> {
  readonly key: string;
  readonly value: V;
  /** Never a later one: an old node that the collector has not found yet would keep all that followed alive. */
  next: Node<V> | undefined;
}

/**
 * A hash map with a fixed number of buckets, for entries that live as long as a request. A Map rebuilds its table every
 * so many changes, and each old table, with whatever was in it, hangs on the one before: under load the collector
 * carries over requests that have long ended, at half the cost of the requests themselves.
 */
export class FixedHashMap<V> {
  readonly #buckets: (Node<V> | undefined)[] = new Array<Node<V> | undefined>(BUCKETS).fill(undefined);

  get(key: string): V | undefined {
    for (let node = this.#buckets[bucketOf(key)]; node !== undefined; node = node.next) {
      if (node.key === key) return node.value;
    }
    return undefined;
  }

  /** The key must be absent. */
  add(key: string, value: V): void {
    const at = bucketOf(key);
    this.#buckets[at] = { key, value, next: this.#buckets[at] };
  }

  /** Removes the key where it has this value; another value stays. */
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

let lastText = "";
let lastHash = fnv(lastText);

/** FNV-1a of a text's code units, as an integer of 32 bits. */
export function hashOf(text: string): number {
  // Called several times in a row with one key: to look it up, and to add it.
  if (text === lastText) return lastHash;
  lastText = text;
  lastHash = fnv(text);
  return lastHash;
}

function fnv(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash | 0;
}

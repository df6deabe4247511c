import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Hex } from "../port.ts";
import { encodeRlp, quantityBytes, type RlpItem, toHex } from "./rlp.ts";

interface Entry {
  /** The key as half bytes. */
  readonly path: readonly number[];
  readonly value: Uint8Array;
}

const NOTHING = new Uint8Array(0);
/** Nodes that are shorter stand in their parent, others by their hash. */
const HASH_LENGTH = 32;

/**
 * Root of the trie that a block keeps a list in (its receipts, for example): keys are the RLP of the index. Source:
 * Ethereum yellow paper, appendix D.
 */
export function listRoot(values: readonly Uint8Array[]): Hex {
  const entries = values.map((value, i) => ({ path: toPath(encodeRlp(quantityBytes(i))), value }));
  return toHex(keccak_256(encodeRlp(createNode(entries, 0))));
}

/** The node that holds these entries, whose paths agree up to `depth`. */
function createNode(entries: readonly Entry[], depth: number): RlpItem {
  const [first] = entries;
  if (first === undefined) return NOTHING;
  if (entries.length === 1) return [packPath(first.path.slice(depth), "leaf"), first.value];
  const shared = countShared(entries, depth);
  if (shared > 0) {
    const path = packPath(first.path.slice(depth, depth + shared), "extension");
    return [path, reference(createNode(entries, depth + shared))];
  }
  const children = Array.from({ length: 16 }, (_, digit) =>
    reference(
      createNode(
        entries.filter(({ path }) => path[depth] === digit),
        depth + 1,
      ),
    ),
  );
  return [...children, entries.find(({ path }) => path.length === depth)?.value ?? NOTHING];
}

function reference(node: RlpItem): RlpItem {
  if (node instanceof Uint8Array) return node;
  const encoded = encodeRlp(node);
  return encoded.length < HASH_LENGTH ? node : keccak_256(encoded);
}

/** Half bytes that all paths share from `depth` on. */
function countShared([first, ...others]: readonly Entry[], depth: number): number {
  const path = (first as Entry).path;
  let end = depth;
  while (end < path.length && others.every((other) => other.path[end] === path[end])) end++;
  return end - depth;
}

/** Half bytes as bytes, with the kind of the node and whether their number is odd in the first. */
function packPath(path: readonly number[], kind: "leaf" | "extension"): Uint8Array {
  const isOdd = path.length % 2 === 1;
  const flag = (kind === "leaf" ? 2 : 0) + (isOdd ? 1 : 0);
  const digits = isOdd ? [flag, ...path] : [flag, 0, ...path];
  return Uint8Array.from(
    { length: digits.length / 2 },
    (_, i) => ((digits[2 * i] as number) << 4) | (digits[2 * i + 1] as number),
  );
}

function toPath(key: Uint8Array): number[] {
  return [...key].flatMap((byte) => [byte >> 4, byte & 15]);
}

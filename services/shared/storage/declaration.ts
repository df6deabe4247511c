import type { Collection, Fields, FieldType, Index, Layout } from "./collection.ts";

export interface FieldInfo {
  readonly name: string;
  readonly type: FieldType;
  readonly nullable: boolean;
}

export interface DeclaredIndex {
  readonly fields: readonly string[];
  readonly unique: boolean;
  readonly descending: ReadonlySet<string>;
  readonly carries: readonly string[];
}

/** A checked declaration in the form that the adapters use. */
export interface CompiledCollection {
  readonly name: string;
  readonly fields: readonly FieldInfo[];
  readonly byName: ReadonlyMap<string, FieldInfo>;
  readonly key: readonly FieldInfo[];
  readonly indexes: readonly DeclaredIndex[];
  readonly formerIndexes: readonly DeclaredIndex[];
  readonly shardKey: readonly string[];
  readonly layout: Layout | undefined;
  /**
   * Canonical JSON, equal for equal declarations; stored to detect a change. Without shard key and layout, which say where
   * rows are, not what they are.
   */
  readonly fingerprint: string;
}

export function fieldsBesideKey({ fields, key }: CompiledCollection): FieldInfo[] {
  return fields.filter((field) => !key.includes(field));
}

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,59}$/;
const TYPES: ReadonlySet<string> = new Set(["text", "hex", "int", "float", "bool", "bigint", "json"]);

/** Checks a declaration. @throws TypeError that names the collection and the fault. */
export function compileCollection(collection: Collection): CompiledCollection {
  const { name } = collection;
  const fail = (fault: string): never => {
    throw new TypeError(`Cannot declare collection "${name}": ${fault}`);
  };
  if (!NAME.test(name) || /^(sqlite|system)/i.test(name))
    fail("its name must be letters, digits and _, not a reserved word");

  const fields = Object.entries(collection.fields).map(([field, spec]): FieldInfo => {
    const nullable = spec.endsWith("?");
    const type = nullable ? spec.slice(0, -1) : spec;
    if (!NAME.test(field)) fail(`field name "${field}" must be letters, digits and _`);
    if (!TYPES.has(type)) fail(`field "${field}" has the unknown type "${spec}"`);
    return { name: field, type: type as FieldType, nullable };
  });
  if (new Set(fields.map((field) => field.name.toLowerCase())).size !== fields.length) {
    fail("two field names differ in upper and lower case only");
  }
  const byName = new Map(fields.map((field) => [field.name, field]));

  const fieldsOf = (names: readonly string[], use: string): FieldInfo[] => {
    if (names.length === 0) fail(`its ${use} has no fields`);
    if (new Set(names).size !== names.length) fail(`its ${use} names a field twice`);
    return names.map((fieldName) => {
      const field = byName.get(fieldName) ?? fail(`its ${use} names the unknown field "${fieldName}"`);
      if (field.type === "json") fail(`its ${use} uses "${fieldName}", and json is not filterable`);
      return field;
    });
  };
  const key = fieldsOf(collection.key, "key");
  for (const field of key) {
    if (field.nullable || field.type === "float")
      fail(`key field "${field.name}" must be text, hex, int, bool or bigint and not nullable`);
  }
  const compiled = (list: readonly Index[]): DeclaredIndex[] =>
    list.map((index) =>
      compileIndex(index, { key: collection.key, fieldsOf: (names) => fieldsOf(names, "index"), fail }),
    );
  const indexes = compiled(collection.indexes);
  const formerIndexes = compiled(collection.formerIndexes ?? []);
  const described = new Set(indexes.map(describeIndex));
  if (formerIndexes.some((index) => described.has(describeIndex(index))))
    fail("one of its indexes is also a former one");
  const leadsWith = (list: readonly string[]): boolean =>
    collection.shardKey.every((field, i) => list[i] === field);
  fieldsOf(collection.shardKey, "shard key");
  if (![collection.key, ...collection.indexes.map((index) => index.fields)].some(leadsWith)) {
    fail("its shard key is not a prefix of the key or of an index");
  }

  const fingerprint = JSON.stringify({
    fields: Object.fromEntries(Object.entries(collection.fields).sort(([a], [b]) => (a < b ? -1 : 1))),
    key: collection.key,
    indexes: indexes.map(describeIndex).sort(),
    contents: collection.contents,
  });
  const { shardKey, layout } = collection;
  return { name, fields, byName, key, indexes, formerIndexes, shardKey, layout, fingerprint };
}

function compileIndex(
  index: Index,
  {
    key,
    fieldsOf,
    fail,
  }: {
    key: readonly string[];
    fieldsOf: (names: readonly string[]) => FieldInfo[];
    fail: (fault: string) => never;
  },
): DeclaredIndex {
  const { fields, descending = [], carries = [] } = index;
  const unique = index.unique === true;
  const indexed = fieldsOf(fields);
  // Engines differ on whether two nulls are equal in a unique index.
  if (unique && indexed.some((field) => field.nullable))
    fail("a unique index must not hold a nullable field");
  for (const field of descending) {
    if (!fields.includes(field)) fail(`its index has no field "${field}" to be descending`);
  }
  if (carries.length > 0) fieldsOf(carries);
  if (unique && carries.length > 0) fail("a unique index carries nothing");
  for (const field of carries) {
    if (fields.includes(field) || key.includes(field))
      fail(`its index carries "${field}", which it has already`);
  }
  return { fields: [...fields], unique, descending: new Set(descending), carries: [...carries] };
}

function describeIndex({ fields, unique, descending, carries }: DeclaredIndex): string {
  const parts = fields.map((field) => (descending.has(field) ? `${field} desc` : field));
  const carried = carries.length === 0 ? "" : ` with ${carries.join(",")}`;
  return `${unique ? "unique " : ""}${parts.join(",")}${carried}`;
}

/** Whether a stored fingerprint is that of the declaration. Those of earlier versions name the shard key too. */
function isSameDeclaration(stored: string, declared: CompiledCollection): boolean {
  if (stored === declared.fingerprint) return true;
  const { shardKey: _, ...rest } = JSON.parse(stored) as Record<string, unknown>;
  return JSON.stringify(rest) === declared.fingerprint;
}

interface Described {
  readonly fields: Readonly<Record<string, string>>;
  readonly key: readonly string[];
  readonly indexes: readonly string[];
  readonly contents?: string;
}

/**
 * Whether `later` is `earlier` with further nullable fields and further indexes, less some indexes (`former`): rows of the
 * one are rows of the other.
 */
function isExtension(earlier: Described, later: Described, former: readonly string[] = []): boolean {
  const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  if (!isSame(earlier.key, later.key) || earlier.contents !== later.contents) return false;
  const known = new Set([...later.indexes, ...former]);
  if (!earlier.indexes.every((index) => known.has(index))) return false;
  return (
    Object.entries(earlier.fields).every(([name, spec]) => isSpecOf(spec, later.fields[name])) &&
    Object.entries(later.fields).every(([name, spec]) => name in earlier.fields || spec.endsWith("?"))
  );
}

/** Whether values of a field are those of a later one: what became hex was hex before, and is stored as it was. */
function isSpecOf(earlier: string, later: string | undefined): boolean {
  return earlier === later || (later !== undefined && earlier === withText(later));
}

/** A field's specification as it was before there was hex. */
function withText(spec: string): string {
  return spec.replace("hex", "text");
}

/**
 * The collection as an engine has it that stores hex in another way than text: where a field was declared as text when the
 * data was written, it stays text.
 */
export function asStored(collection: Collection, stored: string | undefined): Collection {
  if (stored === undefined) return collection;
  const before = (JSON.parse(stored) as Described).fields;
  const fields = Object.entries(collection.fields).map(([name, spec]) => {
    const earlier = withText(spec);
    return [name, before[name] === earlier ? earlier : spec];
  });
  return { ...collection, fields: Object.fromEntries(fields) as Fields };
}

/** What a stored declaration lacks, and which indexes of earlier versions it still has. */
export interface Extension {
  readonly fields: readonly FieldInfo[];
  readonly indexes: readonly DeclaredIndex[];
  readonly former: readonly DeclaredIndex[];
}

/**
 * How a stored collection becomes the declared one while it is served: nothing, further nullable fields and indexes, fewer
 * indexes, or undefined where it cannot.
 */
export function extensionOf(stored: string, declared: CompiledCollection): Extension | undefined {
  if (isSameDeclaration(stored, declared)) return { fields: [], indexes: [], former: [] };
  const before = JSON.parse(stored) as Described;
  const former = declared.formerIndexes.map(describeIndex);
  if (!isExtension(before, JSON.parse(declared.fingerprint) as Described, former)) return undefined;
  const isStored = (index: DeclaredIndex) => before.indexes.includes(describeIndex(index));
  return {
    fields: declared.fields.filter(({ name }) => !(name in before.fields)),
    indexes: declared.indexes.filter((index) => !isStored(index)),
    former: declared.formerIndexes.filter(isStored),
  };
}

/** Whether nothing is missing of a stored collection: a process that may not write can use it. */
export function isComplete({ fields, indexes }: Extension): boolean {
  return fields.length === 0 && indexes.length === 0;
}

/** Whether a process has nothing to change of a stored collection; one that may only read leaves former indexes. */
export function isUpToDate(
  stored: string,
  declared: CompiledCollection,
  { readOnly }: { readonly readOnly: boolean },
): boolean {
  const extension = extensionOf(stored, declared);
  return extension !== undefined && isComplete(extension) && (readOnly || extension.former.length === 0);
}

/** The declaration to store while former indexes are still there. */
export function fingerprintWith(
  { fingerprint }: CompiledCollection,
  former: readonly DeclaredIndex[],
): string {
  if (former.length === 0) return fingerprint;
  const { fields, key, indexes, contents } = JSON.parse(fingerprint) as Described;
  return JSON.stringify({
    fields,
    key,
    indexes: [...indexes, ...former.map(describeIndex)].sort(),
    contents,
  });
}

/** Whether a later version of this program has stored the collection: everything that this one declares is in it. */
export function isNewerDeclaration(stored: string, { fingerprint }: CompiledCollection): boolean {
  return isExtension(JSON.parse(fingerprint) as Described, JSON.parse(stored) as Described);
}

/** The error for a collection whose stored declaration differs. */
export function changedDeclarationError(
  declared: CompiledCollection,
  options: { stored: string; place: string },
): Error {
  const before = JSON.parse(options.stored) as Record<string, unknown>;
  const now = JSON.parse(declared.fingerprint) as Record<string, unknown>;
  const changed = ["key", "indexes", "contents"].filter(
    (part) => JSON.stringify(before[part]) !== JSON.stringify(now[part]),
  );
  const [oldFields, newFields] = [before.fields, now.fields] as [
    Record<string, string>,
    Record<string, string>,
  ];
  for (const field of new Set([...Object.keys(oldFields), ...Object.keys(newFields)])) {
    if (oldFields[field] !== newFields[field]) {
      changed.push(`field ${field} (${oldFields[field] ?? "absent"} is now ${newFields[field] ?? "absent"})`);
    }
  }
  const where = `Cannot open collection "${declared.name}" in ${options.place}`;
  const what = changed.join("; ");
  if (isNewerDeclaration(options.stored, declared))
    return new Error(
      `${where}: a newer version of this program has written it (${what}). Start that version, or restore a backup from before the upgrade.`,
    );
  return new Error(
    `${where}: its declaration has changed since the data was written (${what}). ` +
      "If it belongs to an index, npm run reindex of each chain in it, then start again; keys and payments of the gateway stay.",
  );
}

/** The error for a collection that is not stored as declared, where this process may not change that. */
export function undeclaredError({ name }: CompiledCollection, place: string): Error {
  return new Error(
    `Cannot read collection "${name}" in ${place}: it is not there as this version declares it, and this process may not ` +
      "write. Start the ingest of this version first: it makes what is missing.",
  );
}

/** The declared collections of an open store, found by their declaration object. */
export class DeclaredCollections<T> {
  readonly #byName = new Map<string, { readonly entry: T; readonly fingerprint: string }>();
  readonly #byObject = new WeakMap<Collection, T>();

  add(collection: Collection, entry: T): void {
    // Not that of the entry, whose fields may be stored in another way.
    const { fingerprint } = compileCollection(collection);
    this.#byName.set(collection.name, { entry, fingerprint });
    this.#byObject.set(collection, entry);
  }

  /** @throws Error if `declare` was not called for it, or only with another declaration of its name. */
  get(collection: Collection): T {
    const known = this.#byObject.get(collection);
    if (known !== undefined) return known;
    const named = this.#byName.get(collection.name);
    if (named === undefined || compileCollection(collection).fingerprint !== named.fingerprint) {
      throw new Error(
        `Cannot use collection "${collection.name}": store.declare was not called with this declaration`,
      );
    }
    this.#byObject.set(collection, named.entry);
    return named.entry;
  }
}

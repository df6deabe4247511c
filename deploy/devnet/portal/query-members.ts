/** Most bytes of a query, and most items over all its filter lists. */
export const MAX_QUERY_BYTES = 256 * 1024;
export const MAX_ITEMS = 100;

/** The query is refused with 400. */
export class BadQuery extends Error {
  override readonly name = "BadQuery";
}

/** What every query says, of whatever chain. */
export interface QueryRange {
  readonly fromBlock: number;
  /** Inclusive; absent = up to the head. */
  readonly toBlock: number | undefined;
  readonly parentBlockHash: string | undefined;
  readonly includeAllBlocks: boolean;
}

export type Members = Readonly<Record<string, unknown>>;

const RANGE_MEMBERS = ["type", "fromBlock", "toBlock", "parentBlockHash", "includeAllBlocks", "fields"];

/** The members of a query of one type of chain, which has these lists of items. Throws BadQuery. */
export function readMembers(
  text: string,
  { type, lists }: { type: string; lists: readonly string[] },
): Members {
  if (Buffer.byteLength(text) > MAX_QUERY_BYTES)
    throw new BadQuery(`query is too large: at most ${MAX_QUERY_BYTES} bytes are allowed`);
  const query = membersOf(parseJson(text), "query");
  allowOnly(query, "query", [...RANGE_MEMBERS, ...lists]);
  if (query.type !== type) throw new BadQuery(`unknown query type ${JSON.stringify(query.type)}`);
  const items = lists.reduce((sum, name) => sum + listOf(query, name).length, 0);
  if (items > MAX_ITEMS) throw new BadQuery(`query has ${items} items: at most ${MAX_ITEMS} are allowed`);
  return query;
}

/** Throws BadQuery. */
export function readRange(query: Members, { startBlock }: { startBlock: number }): QueryRange {
  const fromBlock = integerOf(query, "fromBlock") ?? 0;
  const toBlock = integerOf(query, "toBlock");
  if (toBlock !== undefined && toBlock < fromBlock)
    throw new BadQuery(`toBlock ${toBlock} is below fromBlock ${fromBlock}`);
  if (fromBlock < startBlock)
    throw new BadQuery(`fromBlock ${fromBlock} is below the first block of the dataset, ${startBlock}`);
  const parent = query.parentBlockHash;
  if (parent !== undefined && typeof parent !== "string")
    throw new BadQuery("parentBlockHash: expected a string");
  return { fromBlock, toBlock, parentBlockHash: parent, includeAllBlocks: flagOf(query, "includeAllBlocks") };
}

/** The selected fields of each table, in the order of the schema; any other field is refused. Throws BadQuery. */
export function readFields<T extends string>(
  value: unknown,
  schema: Readonly<Record<T, readonly string[]>>,
): Readonly<Record<T, readonly string[]>> {
  const tables = membersOf(value ?? {}, "fields");
  allowOnly(tables, "fields", Object.keys(schema));
  const selected = Object.entries<readonly string[]>(schema).map(([table, known]) => {
    const members = membersOf(tables[table] ?? {}, `fields.${table}`);
    allowOnly(members, `fields.${table}`, known);
    return [table, known.filter((name) => flagOf(members, name))];
  });
  return Object.fromEntries(selected) as Readonly<Record<T, readonly string[]>>;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BadQuery(`query is not JSON: ${error instanceof Error ? error.message : error}`);
  }
}

export function membersOf(value: unknown, place: string): Members {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new BadQuery(`${place}: expected an object`);
  return value as Members;
}

export function allowOnly(members: Members, place: string, known: readonly string[]): void {
  const stranger = Object.keys(members).find((name) => !known.includes(name));
  if (stranger !== undefined)
    throw new BadQuery(`${place}: unknown field \`${stranger}\`, expected one of ${known.join(", ")}`);
}

export function listOf(members: Members, name: string): readonly unknown[] {
  const value = members[name] ?? [];
  if (!Array.isArray(value)) throw new BadQuery(`${name}: expected a list`);
  return value;
}

export function setOf(
  item: Members,
  name: string,
  normalise: (text: string) => string = (text) => text,
): ReadonlySet<string> | undefined {
  if (item[name] === undefined) return undefined;
  const list = listOf(item, name);
  if (!list.every((each) => typeof each === "string")) throw new BadQuery(`${name}: expected strings`);
  return new Set(list.map((each) => normalise(each as string)));
}

export function integerOf(members: Members, name: string): number | undefined {
  const value = members[name];
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
    throw new BadQuery(`${name}: expected an integer from 0, got ${JSON.stringify(value)}`);
  return value;
}

export function flagOf(members: Members, name: string): boolean {
  const value = members[name] ?? false;
  if (typeof value !== "boolean")
    throw new BadQuery(`${name}: expected a boolean, got ${JSON.stringify(value)}`);
  return value;
}

export function lower(text: string): string {
  return text.toLowerCase();
}

/** Filters, orders and updates of MongoDB, as far as the adapter uses them. Values are text, numbers, booleans and null. */
export type Doc = Record<string, unknown>;

const RANK: Record<string, number> = { undefined: 0, object: 0, number: 1, string: 2, boolean: 3 };

function compare(a: unknown, b: unknown): number {
  const rank = (RANK[typeof a] ?? 9) - (RANK[typeof b] ?? 9);
  if (rank !== 0 || a === b) return rank;
  if (typeof a === "string") return Buffer.compare(Buffer.from(a), Buffer.from(b as string));
  return (a as number) < (b as number) ? -1 : 1;
}

const isSame = (a: unknown, b: unknown): boolean => (a ?? null) === (b ?? null);

const OPERATORS: Record<string, (value: unknown, operand: unknown) => boolean> = {
  $in: (value, operand) => (operand as unknown[]).some((each) => isSame(value, each)),
  $gt: (value, operand) => typeof value === typeof operand && compare(value, operand) > 0,
  $gte: (value, operand) => typeof value === typeof operand && compare(value, operand) >= 0,
  $lt: (value, operand) => typeof value === typeof operand && compare(value, operand) < 0,
  $lte: (value, operand) => typeof value === typeof operand && compare(value, operand) <= 0,
  $not: (value, operand) => !satisfies(value, operand),
};

function satisfies(value: unknown, condition: unknown): boolean {
  if (typeof condition !== "object" || condition === null) return isSame(value, condition);
  return Object.entries(condition).every(([name, operand]) => {
    const operator = OPERATORS[name];
    if (operator === undefined) throw new Error(`the operator ${name} is not implemented`);
    return operator(value, operand);
  });
}

export function matches(doc: Doc, filter: Doc): boolean {
  return Object.entries(filter).every(([name, condition]) => {
    if (name === "$and") return (condition as Doc[]).every((each) => matches(doc, each));
    if (name === "$or") return (condition as Doc[]).some((each) => matches(doc, each));
    if (name.startsWith("$")) throw new Error(`the operator ${name} is not implemented`);
    return satisfies(doc[name], condition);
  });
}

export function sorted(docs: readonly Doc[], sort: Doc): Doc[] {
  const terms = Object.entries(sort);
  return [...docs].sort((a, b) => {
    for (const [name, sign] of terms) {
      const order = compare(a[name], b[name]) * (sign as number);
      if (order !== 0) return order;
    }
    return 0;
  });
}

export function projected(doc: Doc, projection: Doc = {}): Doc {
  const wanted = Object.keys(projection).filter((name) => projection[name] === 1);
  const names = wanted.length > 0 ? ["_id", ...wanted] : Object.keys(doc);
  return Object.fromEntries(
    names.filter((name) => name in doc && projection[name] !== 0).map((name) => [name, doc[name]]),
  );
}

/** The fields that a filter fixes by equality, at its top or in an $and: what a router finds the shard by. */
export function fixedFields(filter: Doc): Set<string> {
  const fixed = new Set<string>();
  for (const [name, condition] of Object.entries(filter)) {
    if (name === "$and")
      for (const each of condition as Doc[]) for (const one of fixedFields(each)) fixed.add(one);
    else if (typeof condition !== "object" || condition === null || "$in" in condition) fixed.add(name);
  }
  return fixed;
}

/** The stages that the adapter uses: $match and $group over sums. */
export function aggregate(docs: Iterable<Doc>, pipeline: readonly Doc[]): Doc[] {
  let rows = [...docs];
  for (const stage of pipeline) {
    if ("$match" in stage) rows = rows.filter((doc) => matches(doc, stage.$match as Doc));
    else if ("$group" in stage) {
      const group: Doc = {};
      for (const [name, how] of Object.entries(stage.$group as Doc)) {
        const what = (how as { $sum?: unknown } | null)?.$sum;
        const termOf = (doc: Doc): number =>
          typeof what === "string" ? Number(doc[what.slice(1)] ?? 0) : Number(what);
        group[name] = name === "_id" ? how : rows.reduce((sum, doc) => sum + termOf(doc), 0);
      }
      rows = rows.length === 0 ? [] : [group];
    }
  }
  return rows;
}

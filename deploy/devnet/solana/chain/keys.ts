import { type Invocation, listInvocations } from "./execution.ts";

/** Where an address stands in which lookup table. */
export type LookupTables = ReadonlyMap<string, { readonly table: string; readonly index: number }>;

interface Lookup {
  readonly accountKey: string;
  readonly writableIndexes: readonly number[];
  readonly readonlyIndexes: readonly number[];
}

/** A transaction's accounts in the order that the runtime counts them. */
export interface Keys {
  /** Written out in the message: signers, then writable ones, then the others. */
  readonly fixed: readonly string[];
  readonly loadedWritable: readonly string[];
  readonly loadedReadonly: readonly string[];
  readonly all: readonly string[];
  /** How many of the fixed ones sign. */
  readonly signatures: number;
  /** How many of the fixed ones are neither signed for nor written. */
  readonly readonlyUnsigned: number;
  /** Undefined in a legacy transaction. */
  readonly lookups: readonly Lookup[] | undefined;
  indexOf(address: string): number;
}

/** What the top level invokes has to be written out, and so have signers; the rest may come from lookup tables. */
export function arrangeKeys(
  instructions: readonly Invocation[],
  signers: readonly string[],
  tables: LookupTables | undefined,
): Keys {
  const isWritable = new Map<string, boolean>();
  for (const { program, accounts } of listInvocations(instructions)) {
    for (const account of accounts)
      isWritable.set(account.address, account.isWritable || (isWritable.get(account.address) ?? false));
    if (!isWritable.has(program)) isWritable.set(program, false);
  }
  const called = new Set(instructions.map(({ program }) => program));
  const others = [...isWritable.keys()].filter((address) => !signers.includes(address));
  const isLoaded = (address: string) => tables?.has(address) === true && !called.has(address);
  const pick = (loaded: boolean, written: boolean) =>
    others.filter((address) => isLoaded(address) === loaded && isWritable.get(address) === written);
  const readonlyFixed = pick(false, false);
  const fixed = [...signers, ...pick(false, true), ...readonlyFixed];
  const [loadedWritable, loadedReadonly, lookups] =
    tables === undefined ? [[], [], undefined] : lookUp(tables, pick(true, true), pick(true, false));
  const all = [...fixed, ...loadedWritable, ...loadedReadonly];
  const places = new Map(all.map((address, i) => [address, i]));
  return {
    fixed,
    loadedWritable,
    loadedReadonly,
    all,
    signatures: signers.length,
    readonlyUnsigned: readonlyFixed.length,
    lookups,
    indexOf(address) {
      const index = places.get(address);
      if (index === undefined) throw new Error(`${address} is not among the transaction's accounts`);
      return index;
    },
  };
}

/** Loaded addresses come table by table. */
function lookUp(
  tables: LookupTables,
  written: readonly string[],
  read: readonly string[],
): [string[], string[], Lookup[]] {
  const place = (address: string) => tables.get(address) as { table: string; index: number };
  const names = [...new Set([...written, ...read].map((address) => place(address).table))];
  const inTable = (addresses: readonly string[], table: string) =>
    addresses.filter((address) => place(address).table === table);
  return [
    names.flatMap((table) => inTable(written, table)),
    names.flatMap((table) => inTable(read, table)),
    names.map((accountKey) => ({
      accountKey,
      writableIndexes: inTable(written, accountKey).map((address) => place(address).index),
      readonlyIndexes: inTable(read, accountKey).map((address) => place(address).index),
    })),
  ];
}

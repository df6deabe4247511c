import {
  allowOnly,
  BadQuery,
  flagOf,
  listOf,
  type Members,
  membersOf,
  type QueryRange,
  readFields,
  readMembers,
  readRange,
  setOf,
} from "../query-members.ts";
import { SOLANA_FIELDS, type SolanaTable } from "./fields.ts";

/** What an item asks for besides the entries that it matches. */
export interface Relations {
  readonly transaction: boolean;
  readonly transactionInstructions: boolean;
  readonly transactionBalances: boolean;
  readonly transactionTokenBalances: boolean;
  readonly innerInstructions: boolean;
  readonly logs: boolean;
}

/** An absent list = any; an empty one = none. */
export interface InstructionItem extends Relations {
  readonly programId: ReadonlySet<string> | undefined;
  /** By the length of the data's first bytes: 1, 2, 4, 8. */
  readonly discriminators: ReadonlyMap<number, ReadonlySet<string>>;
  readonly mentionsAccount: ReadonlySet<string> | undefined;
  readonly isCommitted: boolean | undefined;
}

export interface SolanaQuery extends QueryRange {
  readonly fields: Readonly<Record<SolanaTable, readonly string[]>>;
  readonly instructions: readonly InstructionItem[];
}

const UNSERVED = ["transactions", "logs", "balances", "tokenBalances", "rewards"] as const;
const FLAGS = [
  "transaction",
  "transactionInstructions",
  "transactionBalances",
  "transactionTokenBalances",
  "innerInstructions",
  "logs",
] as const;
const DISCRIMINATORS = [1, 2, 4, 8];
const INSTRUCTION_MEMBERS = [
  ...["programId", "mentionsAccount", "isCommitted", "parentInstructions"],
  ...DISCRIMINATORS.map((bytes) => `d${bytes}`),
  ...FLAGS,
];

/** Reads a query of a Solana dataset as strictly as a portal. Throws BadQuery. */
export function parseSolanaQuery(text: string, { startBlock }: { startBlock: number }): SolanaQuery {
  const lists = ["instructions", ...UNSERVED];
  const query = readMembers(text, { type: "solana", lists });
  for (const name of UNSERVED)
    if (listOf(query, name).length > 0) throw new BadQuery(`${name}: this local server has no such filter`);
  return {
    ...readRange(query, { startBlock }),
    fields: readFields(query.fields, SOLANA_FIELDS),
    instructions: listOf(query, "instructions").map(instructionItem),
  };
}

function instructionItem(value: unknown, at: number): InstructionItem {
  const place = `instructions[${at}]`;
  const item = membersOf(value, place);
  allowOnly(item, place, INSTRUCTION_MEMBERS);
  if (flagOf(item, "parentInstructions"))
    throw new BadQuery(`${place}.parentInstructions: this local server has none`);
  const discriminators = new Map<number, ReadonlySet<string>>();
  for (const bytes of DISCRIMINATORS) {
    const wanted = setOf(item, `d${bytes}`);
    if (wanted !== undefined) discriminators.set(bytes, wanted);
  }
  return {
    programId: setOf(item, "programId"),
    mentionsAccount: setOf(item, "mentionsAccount"),
    isCommitted: item.isCommitted === undefined ? undefined : flagOf(item, "isCommitted"),
    discriminators,
    ...flagsOf(item),
  };
}

function flagsOf(item: Members): Relations {
  return Object.fromEntries(FLAGS.map((name) => [name, flagOf(item, name)])) as unknown as Relations;
}

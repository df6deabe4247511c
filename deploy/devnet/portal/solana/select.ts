import { decodeBase58 } from "../../../../services/shared/contract/base58.ts";
import type { PortalBlock, PortalItem } from "../block.ts";
import type { PortalDialect } from "../dialect.ts";
import { tell } from "../lies.ts";
import { pickFields, type Selection, weigh } from "../select.ts";
import type { SolanaTable } from "./fields.ts";
import { type InstructionItem, parseSolanaQuery, type SolanaQuery } from "./query.ts";

/** Queries of Solana datasets: numbers are slots, and a skipped slot has no line. */
export const solanaDialect: PortalDialect = {
  readQuery(text, options) {
    const query = parseSolanaQuery(text, options);
    const isAsked = (item: PortalItem) => query.instructions.some((each) => matchesInstruction(item, each));
    return {
      ...query,
      select: (block, more) => selectSolanaLine(block, query, more),
      tell: (block, lies) => tell(block, lies, isAsked),
    };
  },
};

/** Lists of a line, with the table of each. */
const LISTS: readonly (readonly [keyof Asked, SolanaTable])[] = [
  ["transactions", "transaction"],
  ["instructions", "instruction"],
  ["logs", "log"],
  ["balances", "balance"],
  ["tokenBalances", "tokenBalance"],
];

/** What of each list is asked for: by itself, or with its transaction. */
interface Asked {
  readonly transactions: Wanted;
  readonly instructions: Wanted;
  readonly logs: Wanted;
  readonly balances: Wanted;
  readonly tokenBalances: Wanted;
}

class Wanted {
  readonly items = new Set<PortalItem>();
  /** By transactionIndex. */
  readonly transactions = new Set<unknown>();
  has(item: PortalItem): boolean {
    return this.items.has(item) || this.transactions.has(item.transactionIndex);
  }
}

function selectSolanaLine(
  block: PortalBlock,
  query: SolanaQuery,
  { nullFields }: { readonly nullFields?: boolean },
): Selection {
  const { fields } = query;
  const asked = findAsked(block, query);
  const line: Record<string, unknown> = { header: pickFields(block.header, fields.block, nullFields) };
  let weight = weigh(block.header, fields.block);
  let isMatch = false;
  for (const [name, table] of LISTS) {
    const names = fields[table];
    const found = (block[name] ?? []).filter((item) => asked[name].has(item));
    isMatch ||= found.length > 0;
    if (found.length === 0 || names.length === 0) continue;
    line[name] = found.map((item) => pickFields(item, names, nullFields));
    for (const item of found) weight += weigh(item, names);
  }
  return { isMatch, line: () => JSON.stringify(line), weight };
}

function findAsked(block: PortalBlock, query: SolanaQuery): Asked {
  const asked: Asked = {
    transactions: new Wanted(),
    instructions: new Wanted(),
    logs: new Wanted(),
    balances: new Wanted(),
    tokenBalances: new Wanted(),
  };
  for (const instruction of block.instructions ?? [])
    for (const item of query.instructions)
      if (matchesInstruction(instruction, item)) addInstruction(asked, { block, instruction, item });
  return asked;
}

function addInstruction(
  asked: Asked,
  { block, instruction, item }: { block: PortalBlock; instruction: PortalItem; item: InstructionItem },
): void {
  const { transactionIndex } = instruction;
  asked.instructions.items.add(instruction);
  if (item.transaction) asked.transactions.transactions.add(transactionIndex);
  if (item.transactionInstructions) asked.instructions.transactions.add(transactionIndex);
  if (item.transactionBalances) asked.balances.transactions.add(transactionIndex);
  if (item.transactionTokenBalances) asked.tokenBalances.transactions.add(transactionIndex);
  const address = `${String(instruction.instructionAddress)}`;
  const isOwn = (other: PortalItem) => other.transactionIndex === transactionIndex;
  if (item.innerInstructions)
    for (const other of block.instructions ?? [])
      if (isOwn(other) && String(other.instructionAddress).startsWith(`${address},`))
        asked.instructions.items.add(other);
  if (item.logs)
    for (const log of block.logs)
      if (isOwn(log) && String(log.instructionAddress) === address) asked.logs.items.add(log);
}

function matchesInstruction(instruction: PortalItem, item: InstructionItem): boolean {
  const { programId, accounts, data, isCommitted } = instruction;
  if (!isOf(item.programId, programId)) return false;
  if (item.isCommitted !== undefined && item.isCommitted !== isCommitted) return false;
  const { mentionsAccount } = item;
  if (mentionsAccount && !(accounts as readonly string[]).some((each) => mentionsAccount.has(each)))
    return false;
  if (item.discriminators.size === 0) return true;
  const bytes = Buffer.from(decodeBase58(data as string) ?? []).toString("hex");
  return [...item.discriminators].every(
    ([length, wanted]) => bytes.length >= 2 * length && wanted.has(`0x${bytes.slice(0, 2 * length)}`),
  );
}

function isOf(set: ReadonlySet<string> | undefined, value: unknown): boolean {
  return set === undefined || set.has(String(value));
}

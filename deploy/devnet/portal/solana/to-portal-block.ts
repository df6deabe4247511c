import type {
  SolanaInstruction,
  SolanaTransaction,
  TokenBalance,
} from "../../../../services/solana/chain/port.ts";
import type { PortalBlock, PortalItem } from "../block.ts";

const VOTE_PROGRAM = "Vote111111111111111111111111111111111111111";

/** getBlock's answer with all details. */
export interface RawBlock {
  readonly blockhash: string;
  readonly previousBlockhash: string;
  readonly parentSlot: number;
  readonly blockHeight?: number | null;
  readonly blockTime: number | null;
  readonly transactions: readonly SolanaTransaction[];
}

interface Lists {
  readonly transactions: PortalItem[];
  readonly instructions: PortalItem[];
  readonly logs: PortalItem[];
  readonly balances: PortalItem[];
  readonly tokenBalances: PortalItem[];
}

/** A block of a node in the tables that a portal has: without votes, accounts by name, instructions by their place. */
export function toPortalBlock(slot: number, raw: RawBlock): PortalBlock {
  const lists: Lists = { transactions: [], instructions: [], logs: [], balances: [], tokenBalances: [] };
  for (const [transactionIndex, transaction] of raw.transactions.entries())
    addTransaction(lists, transaction, transactionIndex);
  return {
    header: {
      number: slot,
      hash: raw.blockhash,
      parentNumber: raw.parentSlot,
      parentHash: raw.previousBlockhash,
      height: raw.blockHeight ?? 0,
      timestamp: raw.blockTime ?? 0,
    },
    ...lists,
  };
}

function addTransaction(lists: Lists, { transaction, meta, version }: SolanaTransaction, at: number): void {
  if (meta === null) return;
  const { accountKeys } = transaction.message;
  const loadedAddresses = meta.loadedAddresses ?? { writable: [], readonly: [] };
  const keys = [...accountKeys, ...loadedAddresses.writable, ...loadedAddresses.readonly];
  const calls = listCalls(transaction.message.instructions, meta.innerInstructions ?? []);
  const programs = calls.map(({ instruction }) => keys[instruction.programIdIndex] as string);
  if (programs.includes(VOTE_PROGRAM)) return;
  const isCommitted = meta.err === null || meta.err === undefined;
  const log = readLog(meta.logMessages ?? [], { calls, programs });
  lists.transactions.push({
    transactionIndex: at,
    version: version ?? "legacy",
    accountKeys,
    signatures: transaction.signatures,
    err: meta.err ?? null,
    fee: String(meta.fee),
    loadedAddresses,
    feePayer: keys[0],
    hasDroppedLogMessages: log.isCut,
  });
  for (const [i, { instruction, address }] of calls.entries())
    lists.instructions.push({
      transactionIndex: at,
      instructionAddress: address,
      programId: programs[i],
      accounts: instruction.accounts.map((account) => keys[account]),
      data: instruction.data,
      isCommitted,
      hasDroppedLogMessages: false,
    });
  for (const each of log.messages) lists.logs.push({ transactionIndex: at, ...each });
  for (const [i, account] of keys.entries()) {
    const [pre, post] = [meta.preBalances[i], meta.postBalances[i]];
    // What did not change has no entry.
    if (pre !== post)
      lists.balances.push({ transactionIndex: at, account, pre: String(pre), post: String(post) });
  }
  addTokenBalances(lists, { meta, keys, at });
}

interface Call {
  readonly instruction: SolanaInstruction;
  /** [2] is the third of the transaction, [2, 0] the first that it called. */
  readonly address: readonly number[];
}

/** In the order of execution. Without depths all inner calls are of the top-level instruction. */
function listCalls(
  top: readonly SolanaInstruction[],
  inner: readonly { index: number; instructions: readonly SolanaInstruction[] }[],
): Call[] {
  const calls: Call[] = [];
  for (const [index, instruction] of top.entries()) {
    let address: number[] = [index];
    calls.push({ instruction, address });
    for (const called of inner
      .filter((group) => group.index === index)
      .flatMap((group) => group.instructions)) {
      const depth = called.stackHeight ?? 2;
      address =
        depth > address.length
          ? [...address, 0]
          : [...address.slice(0, depth - 1), (address[depth - 1] ?? -1) + 1];
      calls.push({ instruction: called, address });
    }
  }
  return calls;
}

/** What programs wrote, by the instruction that ran then; lines of the runtime itself have no entry. */
function readLog(
  lines: readonly string[],
  { calls, programs }: { calls: readonly Call[]; programs: readonly string[] },
): { messages: PortalItem[]; isCut: boolean } {
  const messages: PortalItem[] = [];
  const running: number[] = [];
  let next = 0;
  for (const [logIndex, line] of lines.entries()) {
    if (line === "Log truncated") return { messages, isCut: true };
    const invoked = /^Program (\w+) invoke \[(\d+)\]$/.exec(line);
    if (invoked !== null) {
      const at = programs.findIndex((program, i) => i >= next && program === invoked[1]);
      if (at < 0) return { messages: [], isCut: true };
      running.push(at);
      next = at + 1;
    } else if (/^Program \w+ (success$|failed: )/.test(line)) running.pop();
    else if (!/^Program \w+ consumed \d+ of \d+ compute units$/.test(line)) {
      const at = running.at(-1);
      if (at === undefined) return { messages: [], isCut: true };
      const { address: instructionAddress } = calls[at] as Call;
      const [, kind = "other", message = line] = /^Program (log|data): (.*)$/s.exec(line) ?? [];
      messages.push({ logIndex, instructionAddress, programId: programs[at], kind, message });
    }
  }
  return { messages, isCut: false };
}

function addTokenBalances(
  lists: Lists,
  { meta, keys, at }: { meta: NonNullable<SolanaTransaction["meta"]>; keys: readonly string[]; at: number },
): void {
  const pre = new Map((meta.preTokenBalances ?? []).map((each) => [each.accountIndex, each]));
  const post = new Map((meta.postTokenBalances ?? []).map((each) => [each.accountIndex, each]));
  const found = [...new Set([...pre.keys(), ...post.keys()])].map((index) => ({
    transactionIndex: at,
    account: keys[index] as string,
    ...sideOf("pre", pre.get(index)),
    ...sideOf("post", post.get(index)),
  }));
  lists.tokenBalances.push(...found.sort((a, b) => (a.account < b.account ? -1 : 1)));
}

function sideOf(side: "pre" | "post", balance: TokenBalance | undefined): PortalItem {
  if (balance === undefined) return {};
  return {
    [`${side}ProgramId`]: balance.programId,
    [`${side}Mint`]: balance.mint,
    [`${side}Decimals`]: balance.uiTokenAmount.decimals,
    [`${side}Owner`]: balance.owner,
    [`${side}Amount`]: balance.uiTokenAmount.amount,
  };
}

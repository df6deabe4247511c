import { Buffer } from "node:buffer";
import { decodeBase58 } from "../../../../services/shared/contract/base58.ts";
import type {
  BlockMessage,
  InstructionMessage,
  MetaMessage,
  TransactionInBlockMessage,
} from "../../../../services/solana/chain/geyser/wire.ts";
import type {
  SolanaInstruction,
  SolanaTransaction,
  TokenBalance,
  TransactionMeta,
} from "../../../../services/solana/chain/port.ts";
import type { NodeBlock } from "../server/node-chain.ts";

const VOTE_PROGRAM = "Vote111111111111111111111111111111111111111";

/** A block of the chain as the plugin of a validator streams it, with the transactions that a filter lets through. */
export function toBlockMessage(
  block: NodeBlock,
  isWanted: (accounts: readonly string[]) => boolean,
): BlockMessage {
  const head = JSON.parse(block.head) as {
    blockhash: string;
    previousBlockhash: string;
    blockTime: number | null;
  };
  const all = JSON.parse(block.transactions()) as SolanaTransaction[];
  const transactions = all.flatMap((transaction, index) =>
    isWanted(listAccounts(transaction)) ? [toTransactionMessage(transaction, index)] : [],
  );
  return {
    slot: block.slot,
    blockhash: head.blockhash,
    parentSlot: block.parentSlot,
    parentBlockhash: head.previousBlockhash,
    blockTime: head.blockTime === null ? null : { timestamp: head.blockTime },
    transactions,
    executedTransactionCount: all.length,
    // A tick at least; how many entries there were, the chain does not say.
    entriesCount: 64,
  };
}

/** Static keys and those of lookup tables: filters know both. */
export function listAccounts({ transaction, meta }: SolanaTransaction): string[] {
  const { writable = [], readonly = [] } = meta?.loadedAddresses ?? {};
  return [...transaction.message.accountKeys, ...writable, ...readonly];
}

export function toTransactionMessage(raw: SolanaTransaction, index: number): TransactionInBlockMessage {
  const { signatures, message } = raw.transaction;
  const [only, ...others] = message.instructions;
  return {
    signature: bytesOf(signatures[0] as string),
    isVote: others.length === 0 && message.accountKeys[only?.programIdIndex ?? -1] === VOTE_PROGRAM,
    transaction: {
      signatures: signatures.map(bytesOf),
      message: {
        accountKeys: message.accountKeys.map(bytesOf),
        instructions: message.instructions.map(toInstructionMessage),
        versioned: raw.version === 0,
      },
    },
    meta: raw.meta && toMetaMessage(raw.meta),
    index,
  };
}

function toMetaMessage(meta: TransactionMeta): MetaMessage {
  const failed = meta.err !== null && meta.err !== undefined;
  return {
    ...(failed && { err: { err: Buffer.from(JSON.stringify(meta.err)) } }),
    fee: meta.fee,
    preBalances: meta.preBalances,
    postBalances: meta.postBalances,
    innerInstructions: (meta.innerInstructions ?? []).map(({ index, instructions }) => ({
      index,
      instructions: instructions.map(toInstructionMessage),
    })),
    logMessages: meta.logMessages ?? [],
    preTokenBalances: (meta.preTokenBalances ?? []).map(toBalanceMessage),
    postTokenBalances: (meta.postTokenBalances ?? []).map(toBalanceMessage),
    loadedWritableAddresses: (meta.loadedAddresses?.writable ?? []).map(bytesOf),
    loadedReadonlyAddresses: (meta.loadedAddresses?.readonly ?? []).map(bytesOf),
  };
}

function toInstructionMessage(instruction: SolanaInstruction): InstructionMessage {
  const { programIdIndex, accounts, data, stackHeight } = instruction;
  return {
    programIdIndex,
    accounts: Uint8Array.from(accounts),
    data: typeof data === "string" ? bytesOf(data) : data,
    ...(typeof stackHeight === "number" && { stackHeight }),
  };
}

function toBalanceMessage({ accountIndex, mint, uiTokenAmount, owner = "", programId = "" }: TokenBalance) {
  const { decimals, amount } = uiTokenAmount;
  return { accountIndex, mint, uiTokenAmount: { decimals, amount }, owner, programId };
}

function bytesOf(text: string): Uint8Array {
  const bytes = decodeBase58(text);
  if (bytes === undefined) throw new TypeError(`Not base58: ${text.slice(0, 20)}`);
  return bytes;
}

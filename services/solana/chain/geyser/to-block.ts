import { Buffer } from "node:buffer";
import { encodeBase58 } from "../../../shared/contract/base58.ts";
import { isHash, isSlot } from "../parse-response.ts";
import type { SolanaBlock, SolanaInstruction, SolanaTransaction, TokenBalance } from "../port.ts";
import { findMalformedTransaction } from "../validate-transaction.ts";
import type {
  BlockMessage,
  InstructionMessage,
  MetaMessage,
  TokenBalanceMessage,
  TransactionInBlockMessage,
} from "./wire.ts";

/** A server sent what no block is. */
export class MalformedBlockError extends Error {
  override readonly name = "MalformedBlockError";
}

/** Addresses come again and again: programs, pools, mints. */
const MAX_KNOWN_KEYS = 100_000;
let knownKeys = new Map<string, string>();

function toAddress(bytes: Uint8Array): string {
  const name = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  let text = knownKeys.get(name);
  if (text === undefined) {
    text = encodeBase58(bytes);
    if (knownKeys.size >= MAX_KNOWN_KEYS) knownKeys = new Map();
    knownKeys.set(name, text);
  }
  return text;
}

/** A message's block in the form that getBlock has, without votes. Throws MalformedBlockError. */
export function toBlock(message: BlockMessage): SolanaBlock {
  const { slot, blockhash, parentSlot, parentBlockhash, blockTime, executedTransactionCount } = message;
  if (!isSlot(slot) || !isSlot(parentSlot) || parentSlot >= slot)
    throw new MalformedBlockError(`slot ${slot} with the parent slot ${parentSlot}`);
  if (!isHash(blockhash) || !isHash(parentBlockhash))
    throw new MalformedBlockError(`slot ${slot}: hashes are malformed`);
  const transactions: SolanaTransaction[] = [];
  let last = -1;
  for (const each of [...message.transactions].sort((a, b) => a.index - b.index)) {
    if (each.index === last || (executedTransactionCount > 0 && each.index >= executedTransactionCount))
      throw new MalformedBlockError(
        `slot ${slot}: transaction ${each.index} of ${executedTransactionCount} comes twice or cannot be`,
      );
    last = each.index;
    if (!each.isVote) transactions.push(toTransaction(each, slot));
  }
  return {
    slot,
    blockhash,
    previousBlockhash: parentBlockhash,
    parentSlot,
    blockTime: blockTime?.timestamp ?? null,
    transactions,
  };
}

function toTransaction(message: TransactionInBlockMessage, slot: number): SolanaTransaction {
  const { transaction, meta, index } = message;
  const body = transaction?.message;
  const found =
    body === undefined || body === null || meta === undefined || meta === null
      ? undefined
      : {
          transaction: {
            signatures: (transaction?.signatures ?? []).map(encodeBase58),
            message: {
              accountKeys: body.accountKeys.map(toAddress),
              instructions: body.instructions.map(toInstruction),
            },
          },
          meta: toMeta(meta),
          version: body.versioned ? 0 : ("legacy" as const),
          transactionIndex: index,
        };
  const wrong = found === undefined ? "it has no message or no meta" : findMalformedTransaction(found);
  if (wrong !== undefined) throw new MalformedBlockError(`slot ${slot}: transaction ${index}: ${wrong}`);
  return found as SolanaTransaction;
}

function toMeta(meta: MetaMessage) {
  return {
    err: meta.err ?? null,
    fee: meta.fee,
    preBalances: meta.preBalances,
    postBalances: meta.postBalances,
    preTokenBalances: meta.preTokenBalances.map(toTokenBalance),
    postTokenBalances: meta.postTokenBalances.map(toTokenBalance),
    innerInstructions: meta.innerInstructions.map(({ index, instructions }) => ({
      index,
      instructions: instructions.map(toInstruction),
    })),
    logMessages: meta.logMessages,
    loadedAddresses: {
      writable: meta.loadedWritableAddresses.map(toAddress),
      readonly: meta.loadedReadonlyAddresses.map(toAddress),
    },
  };
}

function toInstruction({
  programIdIndex,
  accounts,
  data,
  stackHeight,
}: InstructionMessage): SolanaInstruction {
  return { programIdIndex, accounts: Array.from(accounts), data, stackHeight: stackHeight ?? null };
}

function toTokenBalance({
  accountIndex,
  mint,
  uiTokenAmount,
  owner,
  programId,
}: TokenBalanceMessage): TokenBalance {
  const { amount = "", decimals = 0 } = uiTokenAmount ?? {};
  return {
    accountIndex,
    mint,
    uiTokenAmount: { amount, decimals },
    ...(owner !== "" && { owner }),
    ...(programId !== "" && { programId }),
  };
}

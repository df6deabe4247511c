import { findToken, type Token } from "./transaction/balances.ts";
import { type InstructionScope, readAccountIndex } from "./transaction/parse-transaction.ts";
import type { Transfer } from "./transaction/token-ops.ts";

/** What moved on one side of a pool. */
export interface Side {
  readonly token: Token;
  /** What the pool received. */
  readonly in: bigint;
  /** What left it. */
  readonly out: bigint;
  /** What it holds after the transaction; null if unknown. */
  readonly reserve: bigint | null;
}

/** Undefined where nothing names the account's token. */
export function readVaultSide(scope: InstructionScope, account: number): Side | undefined {
  const { parsed, call } = scope;
  const { orderBookVaults } = call.instruction.layout;
  const ownAccounts = orderBookVaults?.map((position) => readAccountIndex(scope, position));
  let received = 0n;
  let sent = 0n;
  let token = findToken(parsed.balances, account);
  for (const transfer of listVaultTransfers(scope, account)) {
    token ??= readTransferToken(scope, transfer);
    if (transfer.destination !== account) sent += transfer.amount;
    else if (!ownAccounts?.includes(transfer.source)) received += transfer.received;
  }
  if (token === undefined) return undefined;
  const balance = call.program.layout.areVaultsShared ? undefined : parsed.balances.after[account];
  const reserve = balance === undefined ? null : BigInt(balance.uiTokenAmount.amount);
  return { token, in: received, out: sent, reserve };
}

function listVaultTransfers({ parsed, call, end }: InstructionScope, account: number): Transfer[] {
  return parsed.tokenOps.transfers.filter(
    ({ instructionIndex, source, destination }) =>
      instructionIndex > call.instructionIndex &&
      instructionIndex < end &&
      (source === account || destination === account),
  );
}

/** Blocks before 2021 carry no token balances: a checked transfer names its token. */
function readTransferToken({ parsed }: InstructionScope, { mint, decimals }: Transfer): Token | undefined {
  if (mint === undefined || decimals === undefined) return undefined;
  return { mint: parsed.keys[mint] as string, decimals, isToken2022: false };
}

import type { TokenBalance, TransactionMeta } from "../../chain/port.ts";
import { BrokenTransactionError } from "../errors.ts";
import type { BalanceChange } from "../model.ts";

export const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
export const TOKEN_2022_PROGRAM = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";

/** Token accounts of a transaction by the index of their key: before and after. A hole = no token account then. */
export interface TokenBalances {
  readonly before: readonly (TokenBalance | undefined)[];
  readonly after: readonly (TokenBalance | undefined)[];
}

export function indexBalances(meta: TransactionMeta, keyCount: number): TokenBalances {
  return {
    before: indexByAccount(meta.preTokenBalances, keyCount),
    after: indexByAccount(meta.postTokenBalances, keyCount),
  };
}

function indexByAccount(
  balances: TransactionMeta["preTokenBalances"],
  keyCount: number,
): (TokenBalance | undefined)[] {
  const indexed: (TokenBalance | undefined)[] = [];
  if (balances === undefined || balances === null) return indexed;
  for (const balance of balances) {
    const { accountIndex } = balance;
    if (!(accountIndex >= 0 && accountIndex < keyCount)) {
      throw new BrokenTransactionError(`A token balance names account ${accountIndex} of ${keyCount}.`);
    }
    indexed[accountIndex] = balance;
  }
  return indexed;
}

/** What a token account holds. */
export interface Token {
  readonly mint: string;
  readonly decimals: number;
  readonly isToken2022: boolean;
}

export function findToken(balances: TokenBalances, account: number): Token | undefined {
  const balance = balances.after[account] ?? balances.before[account];
  if (balance === undefined) return undefined;
  return {
    mint: balance.mint,
    decimals: balance.uiTokenAmount.decimals,
    isToken2022: balance.programId === TOKEN_2022_PROGRAM,
  };
}

/** Decimals of a mint, from any of its token accounts. */
export function findDecimals(balances: TokenBalances, mint: string): number | undefined {
  const sides = [balances.after, balances.before];
  for (const side of sides) {
    for (const balance of side) if (balance?.mint === mint) return balance.uiTokenAmount.decimals;
  }
  return undefined;
}

/** What an account gained (or lost), exact; 0 for an account without tokens. */
export function balanceGain(balances: TokenBalances, account: number): bigint {
  return parseAmount(balances.after[account]) - parseAmount(balances.before[account]);
}

/**
 * Token accounts whose amount, owner or mint changed. An account that another wallet took over, or that was closed and
 * opened again for another mint, gives two rows.
 */
export function listBalanceChanges(balances: TokenBalances, keys: readonly string[]): BalanceChange[] {
  const { before, after } = balances;
  const changes: BalanceChange[] = [];
  const end = Math.max(before.length, after.length);
  for (let account = 0; account < end; account++) {
    const was = before[account];
    const is = after[account];
    if (was !== undefined && is !== undefined && was.mint === is.mint && was.owner === is.owner) {
      if (was.uiTokenAmount.amount !== is.uiTokenAmount.amount) {
        changes.push(toBalanceChange(keys[account] as string, was, is));
      }
      continue;
    }
    if (was !== undefined && was.uiTokenAmount.amount !== "0") {
      changes.push(toBalanceChange(keys[account] as string, was, undefined));
    }
    if (is !== undefined && is.uiTokenAmount.amount !== "0") {
      changes.push(toBalanceChange(keys[account] as string, undefined, is));
    }
  }
  return changes;
}

function toBalanceChange(
  tokenAccount: string,
  was: TokenBalance | undefined,
  is: TokenBalance | undefined,
): BalanceChange {
  const known = (is ?? was) as TokenBalance;
  return {
    tokenAccount,
    mint: known.mint,
    owner: known.owner ?? null,
    decimals: known.uiTokenAmount.decimals,
    isToken2022: known.programId === TOKEN_2022_PROGRAM,
    before: parseAmount(was),
    after: parseAmount(is),
  };
}

function parseAmount(balance: TokenBalance | undefined): bigint {
  return balance === undefined ? 0n : BigInt(balance.uiTokenAmount.amount);
}

import { createUndoLog, type UndoLog, UndoMap } from "./undo-map.ts";

export interface Mint {
  readonly decimals: number;
  /** The token program that owns it. */
  readonly program: string;
  readonly supply: bigint;
  readonly mintAuthority: string | null;
  readonly freezeAuthority: string | null;
  /** Token-2022's transfer fee. */
  readonly transferFee?: { readonly bps: number; readonly most: bigint };
  readonly nonTransferable?: boolean;
}

export interface TokenAccount {
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
  /** Withheld transfer fees, not collected yet. */
  readonly withheld: bigint;
}

/** Thrown by a program: the transaction fails, and what it did is taken back. */
export class ProgramError extends Error {
  override readonly name = "ProgramError";
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Codes of the token program. */
const INSUFFICIENT_FUNDS = 1;

/** Every account's lamports and tokens, and what else exchanges keep in mind. */
export class Ledger {
  readonly undo: UndoLog = createUndoLog();
  readonly lamports: UndoMap<bigint>;
  readonly tokens: UndoMap<TokenAccount>;
  readonly mints: UndoMap<Mint>;
  /** Reserves of bonding curves, growing numbers: by a name that its user chooses. */
  readonly numbers: UndoMap<bigint>;

  constructor(state: Partial<LedgerState> = {}) {
    this.lamports = new UndoMap(this.undo, state.lamports);
    this.tokens = new UndoMap(this.undo, state.tokens);
    this.mints = new UndoMap(this.undo, state.mints);
    this.numbers = new UndoMap(this.undo, state.numbers);
  }

  lamportsOf(address: string): bigint {
    return this.lamports.get(address) ?? 0n;
  }

  addLamports(address: string, lamports: bigint): void {
    const after = this.lamportsOf(address) + lamports;
    if (after < 0n) throw new ProgramError(INSUFFICIENT_FUNDS, `insufficient lamports ${address}`);
    if (after === 0n) this.lamports.delete(address);
    else this.lamports.set(address, after);
  }

  mint(address: string): Mint {
    const mint = this.mints.get(address);
    if (mint === undefined) throw new Error(`There is no mint ${address}`);
    return mint;
  }

  token(address: string): TokenAccount {
    const account = this.tokens.get(address);
    if (account === undefined) throw new Error(`There is no token account ${address}`);
    return account;
  }

  amountOf(address: string): bigint {
    return this.tokens.get(address)?.amount ?? 0n;
  }

  addTokens(address: string, amount: bigint, withheld = 0n): void {
    const account = this.token(address);
    if (account.amount + amount < 0n) throw new ProgramError(INSUFFICIENT_FUNDS, "insufficient funds");
    this.tokens.set(address, {
      ...account,
      amount: account.amount + amount,
      withheld: account.withheld + withheld,
    });
  }

  addSupply(mint: string, amount: bigint): void {
    const before = this.mint(mint);
    this.mints.set(mint, { ...before, supply: before.supply + amount });
  }

  numberOf(name: string): bigint {
    return this.numbers.get(name) ?? 0n;
  }

  /** What may have changed since the last call. */
  takeChanges(): LedgerChanges {
    return {
      lamports: this.lamports.takeChanges(),
      tokens: this.tokens.takeChanges(),
      mints: this.mints.takeChanges(),
      numbers: this.numbers.takeChanges(),
    };
  }

  /** Takes over another ledger's changes, for good. */
  apply(changes: LedgerChanges): void {
    this.lamports.apply(changes.lamports);
    this.tokens.apply(changes.tokens);
    this.mints.apply(changes.mints);
    this.numbers.apply(changes.numbers);
  }

  state(): LedgerState {
    return {
      lamports: [...this.lamports.entries()],
      tokens: [...this.tokens.entries()],
      mints: [...this.mints.entries()],
      numbers: [...this.numbers.entries()],
    };
  }
}

export interface LedgerState {
  readonly lamports: readonly (readonly [string, bigint])[];
  readonly tokens: readonly (readonly [string, TokenAccount])[];
  readonly mints: readonly (readonly [string, Mint])[];
  readonly numbers: readonly (readonly [string, bigint])[];
}

type Changes<V> = readonly (readonly [string, V | undefined])[];

export interface LedgerChanges {
  readonly lamports: Changes<bigint>;
  readonly tokens: Changes<TokenAccount>;
  readonly mints: Changes<Mint>;
  readonly numbers: Changes<bigint>;
}

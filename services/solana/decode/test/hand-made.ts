/** Transactions made by hand for layouts that no recorded one covers: calls, transfers, balances and logs that fit. */
import { createHash } from "node:crypto";
import { encodeBase58 } from "../../../shared/contract/base58.ts";
import type { SolanaInstruction, SolanaTransaction, TokenBalance } from "../../chain/port.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../transaction/balances.ts";
import { u8, u32, u64 } from "./encode.ts";

export const SYSTEM_PROGRAM = "11111111111111111111111111111111";
const EVENT_CALL = Buffer.from("e445a52e51cb9a1d", "hex");

/** The address that a label stands for; an address stands for itself. */
export function addressOf(label: string): string {
  if (label.length > 31) return label;
  return encodeBase58(createHash("sha256").update(label).digest());
}

export interface Holding {
  readonly mint: string;
  readonly decimals?: number;
  readonly amount?: bigint;
  readonly isToken2022?: boolean;
}

interface Account extends Required<Holding> {
  now: bigint;
}

export interface BuildOptions {
  /** As old nodes recorded it. */
  readonly withoutHeights?: boolean;
  /** Keys from this one on come from lookup tables, the first half of them writable. */
  readonly staticKeys?: number;
  readonly err?: unknown;
  readonly cutLogsAt?: number;
}

export class HandMade {
  readonly #keys: string[] = [];
  readonly #holdings = new Map<number, Account>();
  readonly #lamports = new Map<number, { before: number; now: number }>();
  readonly #top: SolanaInstruction[] = [];
  readonly #inner: { index: number; instructions: SolanaInstruction[] }[] = [];
  readonly #logs: string[] = [];
  #depth = 0;

  /** The first signer pays. */
  constructor(signers: readonly string[] = ["payer"]) {
    this.signers = signers;
    for (const signer of signers) this.key(signer);
  }

  readonly signers: readonly string[];

  /** Index of a label's key. */
  key(label: string): number {
    const address = addressOf(label);
    const known = this.#keys.indexOf(address);
    return known === -1 ? this.#keys.push(address) - 1 : known;
  }

  /** A token account. */
  holds(label: string, { mint, decimals = 6, amount = 10n ** 15n, isToken2022 = false }: Holding): this {
    this.#holdings.set(this.key(label), { mint, decimals, amount, isToken2022, now: amount });
    return this;
  }

  has(label: string, lamports: number): this {
    this.#lamports.set(this.key(label), { before: lamports, now: lamports });
    return this;
  }

  /** An instruction, called by the one around it. */
  call(
    program: string,
    { accounts, data }: { accounts: readonly string[]; data: readonly number[] | Uint8Array },
    inside: (made: this) => void = () => undefined,
  ): this {
    this.#depth++;
    const instruction: SolanaInstruction = {
      programIdIndex: this.key(program),
      accounts: accounts.map((account) => this.key(account)),
      data: encodeBase58(Uint8Array.from(data)),
      stackHeight: this.#depth === 1 ? null : this.#depth,
    };
    if (this.#depth === 1) this.#top.push(instruction);
    else this.#innerOf(this.#top.length - 1).push(instruction);
    this.#logs.push(`Program ${addressOf(program)} invoke [${this.#depth}]`);
    inside(this);
    this.#logs.push(`Program ${addressOf(program)} success`);
    this.#depth--;
    return this;
  }

  #innerOf(index: number): SolanaInstruction[] {
    const last = this.#inner.at(-1);
    if (last?.index === index) return last.instructions;
    const instructions: SolanaInstruction[] = [];
    this.#inner.push({ index, instructions });
    return instructions;
  }

  transfer(from: string, to: string, amount: bigint): this {
    this.#move({ from, to, amount, withheld: 0n });
    return this.call(TOKEN_PROGRAM, { accounts: [from, to, "authority"], data: [...u8(3), ...u64(amount)] });
  }

  /** Token-2022's; a fee may be withheld, whether the instruction names it or not. */
  transferChecked(
    from: string,
    to: string,
    { amount, withheld = 0n, isTold = false }: { amount: bigint; withheld?: bigint; isTold?: boolean },
  ): this {
    const { mint, decimals } = this.#holdingOf(from);
    this.#move({ from, to, amount, withheld });
    const numbers = [...u64(amount), ...u8(decimals)];
    return this.call(TOKEN_2022_PROGRAM, {
      accounts: [from, mint, to, "authority"],
      data: isTold ? [...u8(26), ...u8(1), ...numbers, ...u64(withheld)] : [...u8(12), ...numbers],
    });
  }

  /** Moves tokens in the balances alone: what another form of instruction moves. */
  move(from: string, to: string, amount: bigint): this {
    this.#move({ from, to, amount, withheld: 0n });
    return this;
  }

  #move({
    from,
    to,
    amount,
    withheld,
  }: {
    from: string;
    to: string;
    amount: bigint;
    withheld: bigint;
  }): void {
    this.#holdingOf(from).now -= amount;
    this.#holdingOf(to).now += amount - withheld;
  }

  #holdingOf(label: string): Account {
    const holding = this.#holdings.get(this.key(label));
    if (holding === undefined) throw new Error(`${label} was not said to hold tokens.`);
    return holding;
  }

  /** By a system transfer. */
  pay(from: string, to: string, lamports: number): this {
    this.drain(from, to, lamports);
    return this.call(SYSTEM_PROGRAM, { accounts: [from, to], data: [...u32(2), ...u64(lamports)] });
  }

  /** As a program takes lamports off its own account: without a call. */
  drain(from: string, to: string, lamports: number): this {
    for (const [label, change] of [
      [from, -lamports],
      [to, lamports],
    ] as const) {
      const held = this.#lamports.get(this.key(label)) ?? { before: 10 ** 12, now: 10 ** 12 };
      held.now += change;
      this.#lamports.set(this.key(label), held);
    }
    return this;
  }

  /** A program's call of itself. */
  event(program: string, data: readonly number[]): this {
    return this.call(program, { accounts: ["event_authority"], data: [...EVENT_CALL, ...data] });
  }

  log(data: readonly number[], prefix = "Program data: "): this {
    this.#logs.push(prefix + Buffer.from(data).toString("base64"));
    return this;
  }

  build(options: BuildOptions = {}): SolanaTransaction {
    const { staticKeys = this.#keys.length } = options;
    const loaded = this.#keys.slice(staticKeys);
    const half = Math.ceil(loaded.length / 2);
    const lamports = (at: "before" | "now") =>
      this.#keys.map((_, index) => this.#lamports.get(index)?.[at] ?? 10 ** 12);
    return {
      transaction: {
        signatures: this.signers.map((signer) => `signature of ${signer}`),
        message: { accountKeys: this.#keys.slice(0, staticKeys), instructions: this.#top },
      },
      meta: {
        err: options.err ?? null,
        fee: 5_000,
        preBalances: lamports("before"),
        postBalances: lamports("now"),
        preTokenBalances: this.#balances("amount"),
        postTokenBalances: this.#balances("now"),
        innerInstructions: options.withoutHeights ? this.#inner.map(withoutHeights) : this.#inner,
        logMessages: this.#logs.slice(0, options.cutLogsAt),
        loadedAddresses: { writable: loaded.slice(0, half), readonly: loaded.slice(half) },
      },
      version: 0,
    };
  }

  #balances(at: "amount" | "now"): TokenBalance[] {
    return [...this.#holdings].map(([accountIndex, holding]) => ({
      accountIndex,
      mint: addressOf(holding.mint),
      owner: addressOf("owner"),
      programId: holding.isToken2022 ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM,
      uiTokenAmount: { amount: String(holding[at]), decimals: holding.decimals },
    }));
  }
}

function withoutHeights(group: { index: number; instructions: SolanaInstruction[] }) {
  return {
    index: group.index,
    instructions: group.instructions.map(({ stackHeight: _, ...instruction }) => instruction),
  };
}

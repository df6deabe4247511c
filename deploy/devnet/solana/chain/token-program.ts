import {
  ASSOCIATED_TOKEN_PROGRAM,
  associatedTokenAddress,
  TOKEN_2022_PROGRAM,
} from "../../../../services/solana/chain/program-address.ts";
import type { ExpectedSupply } from "../expected.ts";
import { SYSTEM_PROGRAM } from "./addresses.ts";
import { hex, join, key, u8, u32, u64 } from "./bytes.ts";
import { type Caller, readonly, writable } from "./execution.ts";
import type { Ledger, Mint } from "./ledger.ts";

export const WRAPPED_SOL = "So11111111111111111111111111111111111111112";
/** Rent of a token account of 165 bytes. */
export const TOKEN_ACCOUNT_RENT = 2_039_280n;

export function computeTransferFee({ transferFee }: Mint, amount: bigint): bigint {
  if (transferFee === undefined) return 0n;
  const fee = (amount * BigInt(transferFee.bps) + 9_999n) / 10_000n;
  return fee > transferFee.most ? transferFee.most : fee;
}

interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly authority: string;
  readonly amount: bigint;
}

/** Returns what arrives: less than was sent where the mint takes a fee. Wrapped SOL takes its lamports along. */
export function moveBalances(ledger: Ledger, { from, to, amount }: Omit<Transfer, "authority">): bigint {
  const { mint } = ledger.token(from);
  const fee = computeTransferFee(ledger.mint(mint), amount);
  ledger.addTokens(from, -amount);
  ledger.addTokens(to, amount - fee, fee);
  if (mint === WRAPPED_SOL) {
    ledger.addLamports(from, -amount);
    ledger.addLamports(to, amount);
  }
  return amount - fee;
}

/** The token program's Transfer: of the older programs, which know no mint. */
export function transfer(caller: Caller, { from, to, authority, amount }: Transfer): bigint {
  const { ledger } = caller;
  let received = 0n;
  caller.invoke(
    {
      program: ledger.mint(ledger.token(from).mint).program,
      accounts: [writable(from), writable(to), readonly(authority)],
      data: join(u8(3), u64(amount)),
    },
    (frame) => {
      frame.log("Instruction: Transfer");
      received = moveBalances(ledger, { from, to, amount });
    },
  );
  return received;
}

export function transferChecked(caller: Caller, { from, to, authority, amount }: Transfer): bigint {
  const { ledger } = caller;
  const { mint } = ledger.token(from);
  const { decimals, program } = ledger.mint(mint);
  let received = 0n;
  caller.invoke(
    {
      program,
      accounts: [writable(from), readonly(mint), writable(to), readonly(authority)],
      data: join(u8(12), u64(amount), u8(decimals)),
    },
    (frame) => {
      frame.log("Instruction: TransferChecked");
      received = moveBalances(ledger, { from, to, amount });
    },
  );
  return received;
}

interface SupplyChange {
  readonly mint: string;
  readonly account: string;
  readonly authority: string;
  readonly amount: bigint;
}

export function mintTo(caller: Caller, change: SupplyChange): void {
  changeSupply(caller, change, "mint");
}

export function burn(caller: Caller, change: SupplyChange): void {
  changeSupply(caller, change, "burn");
}

function changeSupply(
  caller: Caller,
  { mint, account, authority, amount }: SupplyChange,
  kind: "mint" | "burn",
): void {
  const { ledger } = caller;
  const { decimals, program } = ledger.mint(mint);
  const accounts =
    kind === "mint"
      ? [writable(mint), writable(account), readonly(authority)]
      : [writable(account), writable(mint), readonly(authority)];
  const data = join(u8(kind === "mint" ? 7 : 8), u64(amount));
  caller.invoke({ program, accounts, data }, (frame) => {
    frame.log(`Instruction: ${kind === "mint" ? "MintTo" : "Burn"}`);
    const change = kind === "mint" ? amount : -amount;
    ledger.addTokens(account, change);
    ledger.addSupply(mint, change);
    const expected: ExpectedSupply = {
      kind,
      leg: 0,
      mint,
      amount,
      decimals,
      accountCount: accounts.length,
      authority,
    };
    frame.expect(() => [expected]);
  });
}

/** The owner's associated token account, created by the associated token program where it does not exist. */
export function ensureTokenAccount(
  caller: Caller,
  { payer, owner, mint }: { payer: string; owner: string; mint: string },
): string {
  const { ledger } = caller;
  const { program } = ledger.mint(mint);
  const account = findTokenAccount(ledger, owner, mint);
  const accounts = [
    writable(payer),
    writable(account),
    readonly(owner),
    readonly(mint),
    readonly(SYSTEM_PROGRAM),
    readonly(program),
  ];
  caller.invoke({ program: ASSOCIATED_TOKEN_PROGRAM, accounts, data: u8(1) }, (frame) => {
    frame.log("CreateIdempotent");
    if (ledger.tokens.has(account)) return;
    const extension = program === TOKEN_2022_PROGRAM ? 170 : 165;
    frame.invoke({ program, accounts: [readonly(mint)], data: hex("150700") });
    createAccount(frame, {
      payer,
      address: account,
      lamports: TOKEN_ACCOUNT_RENT,
      space: extension,
      owner: program,
    });
    frame.invoke({ program, accounts: [writable(account)], data: hex("16") });
    frame.invoke(
      { program, accounts: [writable(account), readonly(mint)], data: join(u8(18), key(owner)) },
      () => ledger.tokens.set(account, { mint, owner, amount: 0n, withheld: 0n }),
    );
  });
  return account;
}

const associated = new Map<string, string>();

/** Finding these takes a tenth of a millisecond, and there are not many. */
export function findTokenAccount(ledger: Ledger, owner: string, mint: string): string {
  const name = `${owner}/${mint}`;
  let address = associated.get(name);
  if (address === undefined) {
    address = associatedTokenAddress(owner, mint, ledger.mint(mint).program);
    associated.set(name, address);
  }
  return address;
}

/** Closes an empty account, or one of wrapped SOL, whose lamports all go to the owner. */
export function closeAccount(caller: Caller, { account, owner }: { account: string; owner: string }): void {
  const { ledger } = caller;
  const { program } = ledger.mint(ledger.token(account).mint);
  const accounts = [writable(account), writable(owner), readonly(owner)];
  caller.invoke({ program, accounts, data: u8(9) }, (frame) => {
    frame.log("Instruction: CloseAccount");
    const lamports = ledger.lamportsOf(account);
    ledger.addLamports(account, -lamports);
    ledger.addLamports(owner, lamports);
    ledger.tokens.delete(account);
  });
}

/** Makes lamports that were sent to an account of wrapped SOL count as tokens. */
export function syncNative(caller: Caller, account: string): void {
  const { ledger } = caller;
  caller.invoke(
    { program: ledger.mint(WRAPPED_SOL).program, accounts: [writable(account)], data: u8(17) },
    (frame) => {
      frame.log("Instruction: SyncNative");
      const amount = ledger.lamportsOf(account) - TOKEN_ACCOUNT_RENT;
      ledger.tokens.set(account, { ...ledger.token(account), amount });
    },
  );
}

export function transferLamports(
  caller: Caller,
  { from, to, lamports }: { from: string; to: string; lamports: bigint },
): void {
  caller.invoke(
    { program: SYSTEM_PROGRAM, accounts: [writable(from), writable(to)], data: join(u32(2), u64(lamports)) },
    ({ ledger }) => {
      ledger.addLamports(from, -lamports);
      ledger.addLamports(to, lamports);
    },
  );
}

export function createAccount(
  caller: Caller,
  {
    payer,
    address,
    lamports,
    space,
    owner,
  }: { payer: string; address: string; lamports: bigint; space: number; owner: string },
): void {
  const data = join(u32(0), u64(lamports), u64(space), key(owner));
  caller.invoke(
    { program: SYSTEM_PROGRAM, accounts: [writable(payer), writable(address)], data },
    ({ ledger }) => {
      ledger.addLamports(payer, -lamports);
      ledger.addLamports(address, lamports);
    },
  );
}

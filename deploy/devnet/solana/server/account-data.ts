import { Buffer } from "node:buffer";
import {
  METADATA_PROGRAM,
  metadataAddress,
  TOKEN_2022_PROGRAM,
} from "../../../../services/solana/chain/program-address.ts";
import { deriveAddress, SYSTEM_PROGRAM } from "../chain/addresses.ts";
import { flag, join, key, text, u8, u16, u32, u64, zeros } from "../chain/bytes.ts";
import type { Ledger, Mint, TokenAccount } from "../chain/ledger.ts";
import { TOKEN_ACCOUNT_RENT, WRAPPED_SOL } from "../chain/token-program.ts";
import { countCoins, getCoin } from "../market/coins.ts";
import { TOKENS, type TokenSpec } from "../market/tokens.ts";

export interface NodeAccount {
  readonly owner: string;
  readonly lamports: number;
  readonly data: Uint8Array;
}

export interface AccountReader {
  account(address: string): NodeAccount | null;
  /** At most 20, largest first; undefined where the address is no mint. */
  largest(mint: string): { address: string; amount: bigint; decimals: number }[] | undefined;
  /** Addresses of a mint's token accounts, ascending. */
  ofMint(mint: string): string[];
}

interface MetadataFields {
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
  readonly isMutable: boolean;
  readonly mint: string;
}

/** Accounts of a generated chain: mints, their metadata, token accounts, wallets. */
export function createAccountReader(ledger: Ledger): AccountReader {
  const byMetadata = new Map<string, MetadataFields>();
  for (const token of Object.values<TokenSpec>(TOKENS))
    if (token.metadata === "metaplex") byMetadata.set(metadataAddress(token.mint), toMetadataFields(token));
  let coins = 0;

  /** Coins are launched while the chain runs. */
  function findNamed(address: string): MetadataFields | undefined {
    for (; coins < countCoins(ledger); coins++) {
      const { pool, ...coin } = getCoin(coins);
      byMetadata.set(metadataAddress(pool.mints[0]), { ...coin, isMutable: false, mint: pool.mints[0] });
    }
    const named = byMetadata.get(address);
    return named !== undefined && ledger.mints.has(named.mint) ? named : undefined;
  }

  return {
    account(address) {
      const lamports = Number(ledger.lamportsOf(address));
      const mint = ledger.mints.get(address);
      if (mint !== undefined) return { owner: mint.program, lamports, data: writeMint(address, mint) };
      const token = ledger.tokens.get(address);
      if (token !== undefined) {
        const { program } = ledger.mint(token.mint);
        return { owner: program, lamports, data: writeTokenAccount(token, program) };
      }
      const named = findNamed(address);
      if (named !== undefined)
        return { owner: METADATA_PROGRAM, lamports: 15_616_720, data: writeMetadata(named) };
      return lamports === 0 ? null : { owner: SYSTEM_PROGRAM, lamports, data: new Uint8Array(0) };
    },
    largest(mint) {
      const known = ledger.mints.get(mint);
      if (known === undefined) return undefined;
      const accounts = [...ledger.tokens.entries()].filter(([, account]) => account.mint === mint);
      accounts.sort(([, a], [, b]) => (a.amount === b.amount ? 0 : a.amount < b.amount ? 1 : -1));
      return accounts
        .slice(0, 20)
        .map(([address, { amount }]) => ({ address, amount, decimals: known.decimals }));
    },
    ofMint(mint) {
      const accounts = [...ledger.tokens.entries()].filter(([, account]) => account.mint === mint);
      return accounts.map(([address]) => address).sort();
    },
  };
}

function toMetadataFields({ name, symbol, isMutable, mint }: TokenSpec): MetadataFields {
  return { name, symbol, isMutable, mint, uri: `https://example.invalid/${symbol.toLowerCase()}.json` };
}

/** COption of a pubkey. */
function optional(address: string | null): Uint8Array {
  return address === null ? zeros(36) : join(u32(1), key(address));
}

/** The 82 bytes of a mint; of Token-2022 with its extensions behind them. */
export function writeMint(address: string, mint: Mint): Uint8Array {
  const base = join(
    optional(mint.mintAuthority),
    u64(mint.supply),
    u8(mint.decimals),
    flag(true),
    optional(mint.freezeAuthority),
  );
  if (mint.program !== TOKEN_2022_PROGRAM) return base;
  const spec = Object.values<TokenSpec>(TOKENS).find((token) => token.mint === address);
  const extensions = [
    ...(mint.transferFee === undefined ? [] : [extension(1, transferFeeConfig(mint.transferFee))]),
    ...(mint.nonTransferable === true ? [extension(9, zeros(0))] : []),
    ...(spec === undefined ? [] : metadataExtensions(toMetadataFields(spec))),
  ];
  // Mints are padded to the length of an account, then comes what kind of account it is.
  return extensions.length === 0 ? base : join(base, zeros(165 - base.length), u8(1), ...extensions);
}

function extension(type: number, data: Uint8Array): Uint8Array {
  return join(u16(type), u16(data.length), data);
}

function transferFeeConfig({ bps, most }: { bps: number; most: bigint }): Uint8Array {
  const fee = join(u64(0), u64(most), u16(bps));
  return join(key(deriveAddress("fee authority")), key(deriveAddress("fee collector")), u64(0), fee, fee);
}

function metadataExtensions(named: MetadataFields): Uint8Array[] {
  const authority = named.isMutable ? key(deriveAddress("update authority", named.mint)) : zeros(32);
  const metadata = join(
    authority,
    key(named.mint),
    text(named.name),
    text(named.symbol),
    text(named.uri),
    u32(0),
  );
  // The mint is where its metadata is.
  return [extension(18, join(authority, key(named.mint))), extension(19, metadata)];
}

export function writeTokenAccount(
  { mint, owner, amount, withheld }: TokenAccount,
  program: string,
): Uint8Array {
  const native = mint === WRAPPED_SOL ? join(u32(1), u64(TOKEN_ACCOUNT_RENT)) : zeros(12);
  const base = join(key(mint), key(owner), u64(amount), zeros(36), u8(1), native, u64(0), zeros(36));
  return program === TOKEN_2022_PROGRAM
    ? join(base, u8(2), extension(7, zeros(0)), extension(2, u64(withheld)))
    : base;
}

/** Metaplex pads its texts with zeros, and the account too. */
export function writeMetadata({ mint, name, symbol, uri, isMutable }: MetadataFields): Uint8Array {
  const padded = (value: string, length: number) =>
    join(u32(length), pad(new TextEncoder().encode(value), length));
  const data = join(
    u8(4),
    key(deriveAddress("update authority", mint)),
    key(mint),
    padded(name, 32),
    padded(symbol, 10),
    padded(uri, 200),
    ...[u16(0), u8(0), flag(false), flag(isMutable), u8(1), u8(255), u8(1), u8(2), u8(0), u8(0)],
  );
  return pad(data, 679);
}

function pad(bytes: Uint8Array, length: number): Uint8Array {
  return join(bytes, zeros(length - bytes.length));
}

export function toBase64(data: Uint8Array): string {
  return Buffer.from(data).toString("base64");
}

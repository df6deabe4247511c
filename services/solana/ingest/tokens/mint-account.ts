import type { AccountInfo } from "../../chain/port.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../chain/program-address.ts";
import { readU32, readU64 } from "../../decode/bytes.ts";
import type { MintExtensions } from "../../metrics/mint-extensions.ts";
import { readKey, readText, readU16 } from "./account-bytes.ts";
import { readMintExtensions } from "./mint-extensions.ts";

/** Contents of a mint account; of Token-2022 with its extensions. */
export interface MintFacts {
  readonly supply: bigint;
  readonly decimals: number;
  readonly mintAuthority: string | null;
  readonly freezeAuthority: string | null;
  readonly isToken2022: boolean;
  readonly extensions: MintExtensions;
  /** Name and symbol in the mint itself. */
  readonly metadata: EmbeddedMetadata | undefined;
}

export interface EmbeddedMetadata {
  readonly name: string;
  readonly symbol: string;
  readonly isMutable: boolean;
}

const MINT_LENGTH = 82;
const IS_INITIALIZED = 45;
/** Mints with extensions are padded to the length of a token account; the account type follows. */
const KIND_AT = 165;
const KIND_MINT = 1;

const METADATA = 19;

/** Undefined unless it is a mint of a token program. */
export function readMint({ owner, data }: AccountInfo): MintFacts | undefined {
  const isToken2022 = owner === TOKEN_2022_PROGRAM;
  if (!isToken2022 && owner !== TOKEN_PROGRAM) return undefined;
  if (data.length < MINT_LENGTH || data[IS_INITIALIZED] !== 1) return undefined;
  if (data.length > MINT_LENGTH && !(isToken2022 && data[KIND_AT] === KIND_MINT)) return undefined;
  const extensions = isToken2022 ? readExtensions(data) : new Map<number, Uint8Array>();
  const metadata = extensions.get(METADATA);
  return {
    supply: readU64(data, 36),
    decimals: data[44] as number,
    mintAuthority: readOptionalKey(data, 0),
    freezeAuthority: readOptionalKey(data, 46),
    isToken2022,
    extensions: readMintExtensions(extensions),
    metadata: metadata && readEmbedded(metadata),
  };
}

/** Contents of a token account. */
export interface TokenAccountFacts {
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
}

const ACCOUNT_LENGTH = 165;
const ACCOUNT_STATE = 108;

/** Undefined unless it is a token account of a token program. */
export function readTokenAccount({ owner, data }: AccountInfo): TokenAccountFacts | undefined {
  if (owner !== TOKEN_2022_PROGRAM && owner !== TOKEN_PROGRAM) return undefined;
  if (data.length < ACCOUNT_LENGTH || data[ACCOUNT_STATE] === 0) return undefined;
  return { mint: readKey(data, 0), owner: readKey(data, 32), amount: readU64(data, 64) };
}

/** Type, length and value, one after another, until a type of 0. */
function readExtensions(data: Uint8Array): Map<number, Uint8Array> {
  const found = new Map<number, Uint8Array>();
  let at = KIND_AT + 1;
  while (at + 4 <= data.length) {
    const type = readU16(data, at);
    const end = at + 4 + readU16(data, at + 2);
    if (type === 0 || end > data.length) break;
    found.set(type, data.subarray(at + 4, end));
    at = end;
  }
  return found;
}

function readEmbedded(data: Uint8Array): EmbeddedMetadata | undefined {
  const name = readText(data, 64);
  const symbol = name && readText(data, name.end);
  if (name === undefined || symbol === undefined) return undefined;
  const hasAuthority = data.subarray(0, 32).some((byte) => byte !== 0);
  return { name: name.text, symbol: symbol.text, isMutable: hasAuthority };
}

function readOptionalKey(data: Uint8Array, at: number): string | null {
  return readU32(data, at) === 0 ? null : readKey(data, at + 4);
}

import { encodeBase58 } from "../../../shared/contract/base58.ts";
import type { SolanaInstruction, SolanaTransaction } from "../../chain/port.ts";
import { u8, u32, u64 } from "./encode.ts";

/** Encoding "jsonParsed" of getTransaction. */
interface ParsedKey {
  readonly pubkey: string;
  readonly source?: "transaction" | "lookupTable";
  readonly writable: boolean;
}

interface ParsedInstruction {
  readonly programId: string;
  readonly program?: string;
  readonly accounts?: readonly string[];
  readonly data?: string;
  readonly parsed?: string | { readonly type: string; readonly info: Info };
  readonly stackHeight?: number | null;
}

type Info = Readonly<Record<string, unknown>>;

/** The same transaction in encoding "json"; one that is in that shape already comes back as it is. */
export function toJsonShape(recorded: SolanaTransaction): SolanaTransaction {
  const { message } = recorded.transaction;
  const keys = message.accountKeys as unknown as readonly (string | ParsedKey)[];
  if (!keys.some((key) => typeof key !== "string")) return recorded;
  const parsed = keys as readonly ParsedKey[];
  const own = parsed.filter(({ source }) => source !== "lookupTable");
  const loaded = parsed.filter(({ source }) => source === "lookupTable");
  const writable = loaded.filter((key) => key.writable).map(({ pubkey }) => pubkey);
  const readonly = loaded.filter((key) => !key.writable).map(({ pubkey }) => pubkey);
  const accountKeys = own.map(({ pubkey }) => pubkey);
  const indexes = new Map([...accountKeys, ...writable, ...readonly].map((key, index) => [key, index]));
  const convert = (instruction: SolanaInstruction) =>
    encode(instruction as unknown as ParsedInstruction, (key) => {
      const index = indexes.get(key);
      if (index === undefined) throw new Error(`${key} is no account of the transaction.`);
      return index;
    });
  const { meta } = recorded;
  if (meta === null) throw new Error("A recorded transaction came without its meta.");
  return {
    ...recorded,
    transaction: {
      ...recorded.transaction,
      message: { accountKeys, instructions: message.instructions.map(convert) },
    },
    meta: {
      ...meta,
      loadedAddresses: { writable, readonly },
      innerInstructions: (meta.innerInstructions ?? []).map(({ index, instructions }) => ({
        index,
        instructions: instructions.map(convert),
      })),
    },
  };
}

function encode(from: ParsedInstruction, indexOf: (key: string) => number): SolanaInstruction {
  const { accounts, data } =
    from.parsed === undefined
      ? { accounts: from.accounts ?? [], data: from.data ?? "" }
      : encodeParsed(from.program ?? "", from.parsed);
  return {
    programIdIndex: indexOf(from.programId),
    accounts: accounts.map(indexOf),
    data,
    stackHeight: from.stackHeight ?? null,
  };
}

/** Accounts in the order of the instruction, and its data; of instructions that move nothing only the first bytes. */
type Encoding = readonly [accounts: readonly string[], data: readonly (readonly number[])[]];

const ENCODINGS: Readonly<Record<string, (info: Info) => Encoding>> = {
  "spl-token transfer": (i) => [texts(i, "source", "destination", "authority"), [u8(3), u64(i.amount)]],
  "spl-token transferChecked": (i) => [
    texts(i, "source", "mint", "destination", "authority"),
    [u8(12), u64(tokenAmount(i).amount), u8(tokenAmount(i).decimals)],
  ],
  "spl-token mintTo": (i) => [texts(i, "mint", "account", "mintAuthority"), [u8(7), u64(i.amount)]],
  "spl-token initializeMint2": (i) => [texts(i, "mint"), [u8(20), u8(i.decimals)]],
  "spl-token closeAccount": (i) => [texts(i, "account", "destination", "owner"), [u8(9)]],
  "spl-token initializeAccount": (i) => [texts(i, "account", "mint", "owner", "rentSysvar"), [u8(1)]],
  "spl-token initializeAccount3": (i) => [texts(i, "account", "mint"), [u8(18)]],
  "spl-token getAccountDataSize": (i) => [texts(i, "mint"), [u8(21)]],
  "spl-token initializeImmutableOwner": (i) => [texts(i, "account"), [u8(22)]],
  "spl-token setAuthority": (i) => [texts(i, "mint", "authority"), [u8(6)]],
  "spl-token initializeMetadataPointer": (i) => [texts(i, "mint"), [u8(39), u8(0)]],
  "spl-token initializeTokenMetadata": (i) => [texts(i, "metadata", "updateAuthority", "mint"), [u8(210)]],
  "spl-token updateTokenMetadataAuthority": (i) => [texts(i, "metadata", "updateAuthority"), [u8(215)]],
  "system transfer": (i) => [texts(i, "source", "destination"), [u32(2), u64(i.lamports)]],
  "system createAccount": (i) => [texts(i, "source", "newAccount"), [u32(0), u64(i.lamports), u64(i.space)]],
  "system createAccountWithSeed": (i) => [texts(i, "source", "newAccount", "base"), [u32(3)]],
  "spl-associated-token-account create": (i) => [texts(i, "source", "account", "wallet", "mint"), [u8(0)]],
  "spl-associated-token-account createIdempotent": (i) => [
    texts(i, "source", "account", "wallet", "mint"),
    [u8(1)],
  ],
};

function encodeParsed(
  program: string,
  parsed: Exclude<ParsedInstruction["parsed"], undefined>,
): { accounts: readonly string[]; data: string } {
  if (typeof parsed === "string") return { accounts: [], data: encodeBase58(Buffer.from(parsed)) };
  const encoding = ENCODINGS[`${program} ${parsed.type}`];
  if (encoding === undefined) throw new Error(`No encoding of ${program} ${parsed.type} is known.`);
  const [accounts, data] = encoding(parsed.info);
  return { accounts, data: encodeBase58(Uint8Array.from(data.flat())) };
}

function texts(info: Info, ...names: readonly string[]): string[] {
  return names.map((name) => {
    const value = info[name];
    if (typeof value !== "string") throw new Error(`${name} is ${String(value)}, no text.`);
    return value;
  });
}

function tokenAmount(info: Info): Info {
  return info.tokenAmount as Info;
}

import type { AccountInfo } from "../../chain/port.ts";
import { METADATA_PROGRAM } from "../../chain/program-address.ts";
import { readU32 } from "../../decode/bytes.ts";
import { readKey, readText } from "./account-bytes.ts";
import type { EmbeddedMetadata } from "./mint-account.ts";

export interface MetadataFacts extends EmbeddedMetadata {
  readonly mint: string;
}

/** First byte of a metadata account. */
const METADATA_V1 = 4;
const CREATOR_LENGTH = 34;

/** A metadata account of Metaplex; undefined for any other account. */
export function readMetadata({ owner, data }: AccountInfo): MetadataFacts | undefined {
  if (owner !== METADATA_PROGRAM || data[0] !== METADATA_V1 || data.length < 65) return undefined;
  const name = readText(data, 65);
  const symbol = name && readText(data, name.end);
  const uri = symbol && readText(data, symbol.end);
  if (name === undefined || symbol === undefined || uri === undefined) return undefined;
  // Seller's fee, creators if there are any, whether it was sold: then whether it may still change.
  let at = uri.end + 2;
  if (data[at] === 1 && at + 5 <= data.length) at += 4 + readU32(data, at + 1) * CREATOR_LENGTH;
  return {
    mint: readKey(data, 33),
    name: name.text,
    symbol: symbol.text,
    isMutable: data[at + 2] === 1,
  };
}

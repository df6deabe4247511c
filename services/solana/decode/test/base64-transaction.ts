import { encodeBase58 } from "../../../shared/contract/base58.ts";
import type { SolanaInstruction, SolanaTransaction } from "../../chain/port.ts";

/** A transaction in its wire format: signatures, then a legacy or version 0 message. */
export function readBase64Transaction(text: string): SolanaTransaction["transaction"] {
  const bytes = Buffer.from(text, "base64");
  let at = 0;
  const readByte = () => bytes[at++] as number;
  const take = (length: number) => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  /** Compact-u16: seven bits a byte, lowest first. */
  const readLength = (): number => {
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = readByte();
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) return length;
    }
  };
  const list = <T>(read: () => T): T[] => Array.from({ length: readLength() }, read);
  const signatures = list(() => encodeBase58(take(64)));
  if ((bytes[at] as number) >= 0x80) at++;
  take(3);
  const accountKeys = list(() => encodeBase58(take(32)));
  take(32);
  const instructions = list(
    (): SolanaInstruction => ({
      programIdIndex: readByte(),
      accounts: list(readByte),
      data: encodeBase58(take(readLength())),
    }),
  );
  return { signatures, message: { accountKeys, instructions } };
}

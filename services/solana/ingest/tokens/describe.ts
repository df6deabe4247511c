import type { AccountInfo } from "../../chain/port.ts";
import { METADATA_PROGRAM } from "../../chain/program-address.ts";
import type { TokenRow } from "../../store/token-collections.ts";
import type { TokenDescription } from "../state/token-state.ts";
import { readMetadata } from "./metadata-account.ts";
import { readMint } from "./mint-account.ts";

/**
 * A token's properties from its accounts as of a slot. Name and symbol are those in a Token-2022 mint itself, else those
 * of its metadata account; without either they are empty. A closed or invalid mint leaves the defaults.
 */
export function describeToken(
  token: Pick<TokenRow, "mint" | "decimals" | "isToken2022">,
  {
    mintAccount,
    metadataAccount,
    slot,
  }: {
    readonly mintAccount: AccountInfo | null;
    readonly metadataAccount: AccountInfo | null;
    readonly slot: number;
  },
): TokenDescription {
  const facts = mintAccount === null ? undefined : readMint(mintAccount);
  const found = metadataAccount === null ? undefined : readMetadata(metadataAccount);
  const metadata = facts?.metadata ?? (found?.mint === token.mint ? found : undefined);
  return {
    symbol: metadata?.symbol ?? "",
    name: metadata?.name ?? "",
    decimals: facts?.decimals ?? token.decimals,
    supply: facts?.supply ?? 0n,
    mintAuthority: facts?.mintAuthority ?? null,
    freezeAuthority: facts?.freezeAuthority ?? null,
    isToken2022: facts?.isToken2022 ?? token.isToken2022,
    extensions: facts?.extensions ?? {},
    mutableMetadata: metadata?.isMutable ?? false,
    readSlot: slot,
  };
}

/** The mint that a changed account describes: the account itself, or a metadata account's mint. */
export function findDescribedMint(address: string, account: AccountInfo | null): string | undefined {
  if (account === null) return undefined;
  return account.owner === METADATA_PROGRAM ? readMetadata(account)?.mint : address;
}

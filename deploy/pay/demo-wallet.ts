import { type HDAccount, mnemonicToAccount } from "viem/accounts";
import { DEV_MNEMONIC } from "../devnet/anvil.ts";

/**
 * Wallets of the first run, from the phrase that every development chain knows: worth nothing anywhere else. None is
 * one of the chain's own accounts (the first 32), which its traders use.
 */
const WALLETS = { payer: 100, till: 101, facilitator: 102 } as const;

export function demoWallet(role: keyof typeof WALLETS): HDAccount {
  return mnemonicToAccount(DEV_MNEMONIC, { addressIndex: WALLETS[role] });
}

/** 0x and 64 digits. */
export function privateKeyOf(account: HDAccount): `0x${string}` {
  const { privateKey } = account.getHdKey();
  if (privateKey === null) throw new Error("The wallet has no private key");
  return `0x${Buffer.from(privateKey).toString("hex")}`;
}

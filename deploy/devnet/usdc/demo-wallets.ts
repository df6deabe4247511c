import { type Hex, keccak256, stringToHex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import type { Rpc } from "../node/rpc.ts";
import { fundWithEther, installUsdc, mintUsdc, readUsdcBalance } from "./usdc.ts";

/**
 * Wallets of the first run. Their keys are public, and worth nothing on any other chain; none is one of the chain's own
 * accounts, whose nonces its traders count.
 */
export interface DemoWallet {
  readonly address: Hex;
  readonly privateKey: Hex;
}

/** Pays for requests. */
export const demoPayer = createDemoWallet("payer");
/** Is paid. */
export const demoTill = createDemoWallet("till");
/** Pays for the gas of settlements. */
export const demoFacilitator = createDemoWallet("facilitator");

function createDemoWallet(role: string): DemoWallet {
  const privateKey = keccak256(stringToHex(`chaintables devnet: ${role}`));
  return { privateKey, address: privateKeyToAddress(privateKey) };
}

const DOLLAR = 1_000_000n;
const FULL_PURSE = 100n * DOLLAR;
const EMPTY_PURSE = 10n * DOLLAR;

/** Sees to it that payments can be made: USDC is there, the payer has some, and the facilitator has gas. */
export async function preparePayments(rpc: Rpc): Promise<void> {
  await fundWithEther(rpc, demoFacilitator.address);
  if (await installUsdc(rpc, { [demoPayer.address]: FULL_PURSE })) return;
  if ((await readUsdcBalance(rpc, demoPayer.address)) < EMPTY_PURSE)
    await mintUsdc(rpc, { [demoPayer.address]: FULL_PURSE });
}

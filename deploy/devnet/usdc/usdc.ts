import { encodeFunctionData, type Hex, keccak256, stringToHex } from "viem";
import { readSignatureCheckerCode, readStablecoinCode, stablecoinAbi } from "../contracts/stablecoin.ts";
import type { Rpc } from "../node/rpc.ts";
import { type Address, mineTransactions, toHex } from "../node/transactions.ts";

/** Where Base has its USDC. The devnet's pools trade a token of their own under that name. */
export const USDC: Address = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";

const LIBRARY = localAddress("signature checker");
/** Owner, minter and everything else that USDC has an office for. */
const ISSUER = localAddress("issuer of USDC");
const ENOUGH_GAS = toHex(10n ** 21n);
const GAS = toHex(500_000);

/** Holders with their balances in millionths of a dollar. */
export type Holders = Readonly<Record<Address, bigint>>;

/**
 * Puts Circle's token at USDC's address and gives the holders their balances, in one block; a chain that has it
 * already is left as it is. Answers whether it was new.
 */
export async function installUsdc(rpc: Rpc, holders: Holders): Promise<boolean> {
  if ((await rpc.call<Hex>("eth_getCode", [USDC, "latest"])) !== "0x") return false;
  await rpc.batch([
    { method: "anvil_setCode", params: [LIBRARY, readSignatureCheckerCode(LIBRARY)] },
    { method: "anvil_setCode", params: [USDC, readStablecoinCode(LIBRARY)] },
  ]);
  await mineAsIssuer(rpc, [...creation(), ...issue(holders)]);
  return true;
}

/** Gives holders more of it, in one block. */
export async function mintUsdc(rpc: Rpc, holders: Holders): Promise<void> {
  await mineAsIssuer(rpc, issue(holders));
}

async function mineAsIssuer(rpc: Rpc, calls: readonly Hex[]): Promise<void> {
  await rpc.batch([
    { method: "anvil_setBalance", params: [ISSUER, ENOUGH_GAS] },
    { method: "anvil_impersonateAccount", params: [ISSUER] },
  ]);
  await mineTransactions(
    rpc,
    calls.map((data) => ({ from: ISSUER, to: USDC, data, gas: GAS })),
  );
  await rpc.call("anvil_stopImpersonatingAccount", [ISSUER]);
}

export async function readUsdcBalance(rpc: Rpc, holder: Address): Promise<bigint> {
  const data = encodeFunctionData({ abi: stablecoinAbi, functionName: "balanceOf", args: [holder] });
  return BigInt(await rpc.call<Hex>("eth_call", [{ to: USDC, data }, "latest"]));
}

/** Gives an address what it pays gas with, without a transaction. */
export async function fundWithEther(rpc: Rpc, address: Address): Promise<void> {
  await rpc.call("anvil_setBalance", [address, ENOUGH_GAS]);
}

/** All of the token's versions one after the other, as its proxy on Base went through them. */
function creation(): Hex[] {
  const office = [ISSUER, ISSUER, ISSUER, ISSUER] as const;
  return [
    encodeFunctionData({
      abi: stablecoinAbi,
      functionName: "initialize",
      args: ["USD Coin", "USDC", "USD", 6, ...office],
    }),
    encodeFunctionData({ abi: stablecoinAbi, functionName: "initializeV2", args: ["USD Coin"] }),
    encodeFunctionData({ abi: stablecoinAbi, functionName: "initializeV2_1", args: [ISSUER] }),
    encodeFunctionData({ abi: stablecoinAbi, functionName: "initializeV2_2", args: [[], "USDC"] }),
    encodeFunctionData({
      abi: stablecoinAbi,
      functionName: "configureMinter",
      args: [ISSUER, 10n ** 18n],
    }),
  ];
}

function issue(holders: Holders): Hex[] {
  return Object.entries(holders).map(([holder, amount]) =>
    encodeFunctionData({ abi: stablecoinAbi, functionName: "mint", args: [holder as Address, amount] }),
  );
}

/** An address without a known key. */
function localAddress(purpose: string): Address {
  return `0x${keccak256(stringToHex(`chaintables devnet: ${purpose}`)).slice(-40)}`;
}

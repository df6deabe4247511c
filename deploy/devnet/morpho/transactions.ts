import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type EncodeFunctionDataParameters,
  encodeFunctionData,
  type Hex,
  maxUint256,
  parseAbi,
} from "viem";
import { metaMorphoAbi, morphoAbi } from "../contracts/morpho/abi.ts";
import { priceOracle } from "../contracts/morpho/artifacts.ts";
import { type Address, type Transaction, toHex } from "../node/transactions.ts";
import type { DeployedToken } from "../pools.ts";

/** Fixed, which spares an estimate per transaction; nothing here needs it in full. */
const GAS: Hex = toHex(2_500_000);

const tokenAbi = parseAbi([
  "function approve(address spender, uint256 value) returns (bool)",
  "function mint(address to, uint256 value)",
  "function deposit() payable",
]);

/** Names of an interface's functions that change something. */
export type Named<A extends Abi> = ContractFunctionName<A, "nonpayable">;
export type Args<A extends Abi, N extends Named<A>> = ContractFunctionArgs<A, "nonpayable", N>;

function call(
  from: Address,
  to: Address,
  what: { abi: Abi; functionName: string; args: unknown },
): Transaction {
  return { from, to, data: encodeFunctionData(what as EncodeFunctionDataParameters), gas: GAS };
}

/** A transaction to Morpho Blue. */
export function morphoCall<N extends Named<typeof morphoAbi>>(
  [from, morpho]: readonly [Address, Address],
  functionName: N,
  args: Args<typeof morphoAbi, N>,
): Transaction {
  return call(from, morpho, { abi: morphoAbi, functionName, args });
}

/** A transaction to a vault. */
export function vaultCall<N extends Named<typeof metaMorphoAbi>>(
  [from, vault]: readonly [Address, Address],
  functionName: N,
  args: Args<typeof metaMorphoAbi, N>,
): Transaction {
  return call(from, vault, { abi: metaMorphoAbi, functionName, args });
}

export function approve(from: Address, token: Address, spender: Address): Transaction {
  return call(from, token, { abi: tokenAbi, functionName: "approve", args: [spender, maxUint256] });
}

/** A market's oracle says another price from now on; anybody may make it. */
export function setPrice(from: Address, oracle: Address, price: bigint): Transaction {
  return call(from, oracle, { abi: priceOracle.abi, functionName: "setPrice", args: [price] });
}

/** Gives the account tokens: minted, or wrapped from its own ether. */
export function fund(account: Address, token: DeployedToken, amount: bigint): Transaction {
  if (token.form === "wrapped") {
    const data = encodeFunctionData({ abi: tokenAbi, functionName: "deposit" });
    return { from: account, to: token.address, data, gas: GAS, value: toHex(amount) };
  }
  return call(account, token.address, { abi: tokenAbi, functionName: "mint", args: [account, amount] });
}

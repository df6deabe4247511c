import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type EncodeFunctionDataParameters,
  encodeFunctionData,
  type Hex,
  parseAbi,
} from "viem";
import {
  eulerEarnAbi,
  eulerEarnFactoryAbi,
  eulerFactoryAbi,
  eulerPerspectiveAbi,
  eulerVaultAbi,
} from "../contracts/euler/abi.ts";
import { eulerConnector, eulerOracle } from "../contracts/euler/artifacts.ts";
import { type Address, type Transaction, toHex } from "../node/transactions.ts";

/** Fixed, which spares an estimate per transaction. The most that is needed makes an EulerEarn vault. */
const GAS: Hex = toHex(8_000_000);

type Write = "nonpayable" | "payable";

/** A function that changes something, with what it takes. */
type CallOf<A extends Abi> = {
  [N in ContractFunctionName<A, Write>]: {
    readonly functionName: N;
    readonly args: ContractFunctionArgs<A, Write, N>;
    readonly value?: bigint;
  };
}[ContractFunctionName<A, Write>];

function transactionsOn<const A extends Abi>(abi: A) {
  return (from: Address, to: Address, { value, ...call }: CallOf<A>): Transaction => {
    const data = encodeFunctionData({ abi, ...call } as unknown as EncodeFunctionDataParameters);
    return { from, to, data, gas: GAS, ...(value === undefined ? {} : { value: toHex(value) }) };
  };
}

/** Builders of one transaction each: who sends it, to which contract, and what it calls. Amounts are raw. */
export const onVault = transactionsOn(eulerVaultAbi);
export const onVaultFactory = transactionsOn(eulerFactoryAbi);
export const onEarn = transactionsOn(eulerEarnAbi);
export const onEarnFactory = transactionsOn(eulerEarnFactoryAbi);
export const onOracle = transactionsOn(eulerOracle.abi);
export const onPerspective = transactionsOn(eulerPerspectiveAbi);
export const onConnector = transactionsOn(eulerConnector.abi);
export const onToken = transactionsOn(
  parseAbi([
    "function approve(address spender, uint256 value) returns (bool)",
    "function mint(address to, uint256 value)",
    "function deposit() payable",
  ]),
);

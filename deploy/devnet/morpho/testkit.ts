import { encodeFunctionData, type Hex } from "viem";
import type { metaMorphoAbi, morphoAbi } from "../contracts/morpho/abi.ts";
import { lossKeepingVault } from "../contracts/morpho/artifacts.ts";
import type { Rpc } from "../node/rpc.ts";
import { type Address, sendTransactions, type Transaction, toHex } from "../node/transactions.ts";
import type { MorphoDeployment, MorphoMarket } from "./plan.ts";
import { type Args, morphoCall, type Named, setPrice, vaultCall } from "./transactions.ts";

/** Morpho on a test chain. Each verb queues one transaction and answers its hash; nothing is mined. Amounts are raw. */
export interface MorphoKit {
  readonly deployment: MorphoDeployment;
  /** Calls Morpho Blue. Supplier and borrower have tokens and have approved Morpho, the supplier the vaults too. */
  morpho<N extends Named<typeof morphoAbi>>(
    from: Address,
    functionName: N,
    args: Args<typeof morphoAbi, N>,
  ): Promise<Hex>;
  /** Calls a vault. */
  vault<N extends Named<typeof metaMorphoAbi>>(
    parties: readonly [from: Address, vault: Address],
    functionName: N,
    args: Args<typeof metaMorphoAbi, N>,
  ): Promise<Hex>;
  /** Renames a vault of v1.1. */
  rename(vault: Address, to: { name: string; symbol: string }): Promise<Hex>;
  /** What the market's oracle says from now on: raw loan units for a raw unit of collateral, times 1e36. */
  setPrice(market: MorphoMarket, price: bigint): Promise<Hex>;
}

export function createMorphoKit(rpc: Rpc, deployment: MorphoDeployment): MorphoKit {
  const { morpho, actors } = deployment;
  const send = async (...transactions: Transaction[]) =>
    (await sendTransactions(rpc, transactions)).at(-1) as Hex;
  const byOwner = (to: Address, data: Hex): Transaction => ({
    from: actors.owner,
    to,
    data,
    gas: toHex(500_000),
  });
  return {
    deployment,
    morpho: (from, functionName, args) => send(morphoCall([from, morpho], functionName, args)),
    vault: (parties, functionName, args) => send(vaultCall(parties, functionName, args)),
    rename(vault, { name, symbol }) {
      const { abi } = lossKeepingVault;
      return send(
        byOwner(vault, encodeFunctionData({ abi, functionName: "setName", args: [name] })),
        byOwner(vault, encodeFunctionData({ abi, functionName: "setSymbol", args: [symbol] })),
      );
    },
    setPrice: ({ params }, price) => send(setPrice(actors.owner, params.oracle, price)),
  };
}

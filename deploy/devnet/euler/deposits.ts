import { maxUint256 } from "viem";
import type { Address, Transaction } from "../node/transactions.ts";
import type { DeployedToken as Token } from "../pools.ts";
import { COLLATERAL_COVER } from "./market.ts";
import { type EulerDeployment, rawUsd, vaultNamed } from "./plan.ts";
import { onConnector, onEarn, onToken, onVault } from "./transactions.ts";

/** Approvals and first deposits. */
export function eulerLiquidity(deployment: EulerDeployment): Transaction[] {
  const { vaults, earnVaults, supplier } = deployment;
  const deposits = [
    ...vaults.map((to) => ({ from: supplier, to, usd: to.spec.supplyUsd })),
    ...vaults.flatMap(({ borrower, spec }) => {
      if (borrower === undefined || spec.loan === undefined) return [];
      const usd = (spec.loan.usd * COLLATERAL_COVER) / spec.collaterals.length;
      return spec.collaterals.map(({ vault }) => ({ from: borrower, to: vaultNamed(vaults, vault), usd }));
    }),
    ...earnVaults.map((to) => ({
      from: supplier,
      to,
      usd: to.spec.strategies.reduce((sum, { usd }) => sum + usd, 0),
    })),
  ];
  return deposits.flatMap(({ from, to, usd }) => {
    const amount = rawUsd(to.asset, usd);
    return [
      // Twice as much: the other half is there to be supplied later.
      fundEuler(deployment, { account: from, token: to.asset, amount: amount * 2n }),
      approve(from, to.asset, to.address),
      onVault(from, to.address, { functionName: "deposit", args: [amount, from] }),
    ];
  });
}

/** First loans, and how the earn vaults share out what they got: in a later block than the deposits, which others make. */
export function eulerLoans(deployment: EulerDeployment): Transaction[] {
  const { vaults, earnVaults } = deployment;
  return [
    ...vaults.flatMap((vault) => loan(deployment, vault)),
    ...earnVaults.map(({ address, asset, curator, spec }) => {
      const shares = spec.strategies.map(({ vault, usd }, i) => ({
        id: vaultNamed(vaults, vault).address,
        assets: i === spec.strategies.length - 1 ? maxUint256 : rawUsd(asset, usd),
      }));
      return onEarn(curator, address, { functionName: "reallocate", args: [shares] });
    }),
  ];
}

/** Tokens for an account out of nothing: minted, or wrapped from its ether. */
export function fundEuler(
  { tokens }: EulerDeployment,
  { account, token, amount }: { account: Address; token: Token; amount: bigint },
): Transaction {
  return token.address === tokens.WETH.address
    ? onToken(account, token.address, { functionName: "deposit", args: [], value: amount })
    : onToken(account, token.address, { functionName: "mint", args: [account, amount] });
}

export function approve(from: Address, token: Token, spender: Address): Transaction {
  return onToken(from, token.address, { functionName: "approve", args: [spender, maxUint256] });
}

function loan(
  deployment: EulerDeployment,
  { address, asset, borrower, spec }: EulerDeployment["vaults"][number],
) {
  if (borrower === undefined || spec.loan === undefined) return [];
  const assets = rawUsd(asset, spec.loan.usd);
  return [
    onConnector(borrower, deployment.connector, {
      functionName: "enableController",
      args: [borrower, address],
    }),
    onVault(borrower, address, { functionName: "borrow", args: [assets, borrower] }),
    // For repaying, with interest.
    fundEuler(deployment, { account: borrower, token: asset, amount: assets }),
    approve(borrower, asset, address),
  ];
}

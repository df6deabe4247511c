import { encodeDeployData, stringToHex } from "viem";
import { aaveBorrows, aaveContracts, aaveMarket, aaveSupplies } from "./aave/deploy.ts";
import {
  aerodromeContracts,
  aerodromeLiquidity,
  aerodromePools,
  aerodromeStakes,
} from "./aerodrome/deploy.ts";
import { desk as deskArtifact, devToken, oldToken, wrappedEther } from "./contracts/artifacts.ts";
import { eulerContracts, eulerVaults } from "./euler/deploy.ts";
import { eulerLiquidity, eulerLoans } from "./euler/deposits.ts";
import { morphoContracts, morphoCreations, morphoLiquidity, openVaults } from "./morpho/deploy.ts";
import { installMulticall } from "./node/multicall.ts";
import type { Rpc } from "./node/rpc.ts";
import { type Address, mineTransactions, type Transaction, toHex } from "./node/transactions.ts";
import { type Deployment, type DeployOptions, planDeployment } from "./plan.ts";
import { CREATION_GAS } from "./pools.ts";
import { pancakeContracts, pancakeLiquidity, pancakePools } from "./v3/pancake.ts";
import { slipstreamContracts, slipstreamLiquidity, slipstreamPools } from "./v3/slipstream.ts";
import { type UniswapDeployment, uniswapFactory, uniswapLiquidity, uniswapPools } from "./v3/uniswap.ts";

export type { Deployment, DeployOptions, Family } from "./plan.ts";
export type { DeployedPool, DeployedToken } from "./pools.ts";

/**
 * Puts Multicall3, factories, tokens, pools and liquidity on a fresh chain (block 0 only), in the same places every time.
 * Three blocks, two seconds apart: contracts; pools and markets; prices, liquidity and supplies. A fourth where
 * something follows from that: stakes of liquidity, debts.
 */
export async function deployDevnet(rpc: Rpc, options: DeployOptions = {}): Promise<Deployment> {
  const deployment = await planDeployment(rpc, options);
  if (Number(await rpc.call("eth_blockNumber")) !== 0)
    throw new Error("The devnet is deployed on a fresh chain only");
  await installMulticall(rpc);
  for (const transactions of blocksOf(deployment, options)) await mineTransactions(rpc, transactions);
  const { aerodrome, aave, morpho, euler, tokens } = deployment;
  const last = aerodrome ? await aerodromeStakes(rpc, aerodrome, tokens.AERO.usd) : [];
  if (aave) last.push(...aaveBorrows(aave));
  if (morpho) {
    await openVaults(rpc, morpho);
    last.push(...morphoLiquidity(morpho));
  }
  if (euler) last.push(...eulerLoans(euler));
  if (last.length > 0) await mineTransactions(rpc, last);
  return deployment;
}

function blocksOf(deployment: Deployment, { plantFaults = true }: DeployOptions): Transaction[][] {
  const { factory, pools, desk, tokens, aerodrome, slipstream, pancake, sushi, aave, morpho, euler } =
    deployment;
  const uniswap: UniswapDeployment = { owner: deployment.accounts[0] as Address, factory, pools };
  const contracts = [...tokenCreations(deployment), uniswapFactory(uniswap), deskCreation(deployment)];
  const creations = uniswapPools(uniswap);
  const liquidity = uniswapLiquidity(uniswap, desk);
  if (aerodrome) {
    contracts.push(...aerodromeContracts(aerodrome, tokens));
    creations.push(...aerodromePools(aerodrome));
    liquidity.push(...aerodromeLiquidity(aerodrome));
  }
  if (slipstream) {
    contracts.push(...slipstreamContracts(slipstream, desk));
    creations.push(...slipstreamPools(slipstream));
    liquidity.push(...slipstreamLiquidity(slipstream, desk));
  }
  if (pancake) {
    contracts.push(...pancakeContracts(pancake));
    creations.push(...pancakePools(pancake));
    liquidity.push(...pancakeLiquidity(pancake, desk));
  }
  if (sushi) {
    contracts.push(uniswapFactory(sushi));
    creations.push(...uniswapPools(sushi));
    liquidity.push(...uniswapLiquidity(sushi, desk));
  }
  if (aave) {
    contracts.push(...aaveContracts(aave));
    creations.push(...aaveMarket(aave));
    liquidity.push(...aaveSupplies(aave));
  }
  if (morpho) {
    contracts.push(...morphoContracts(morpho));
    creations.push(...morphoCreations(morpho));
  }
  if (euler) {
    contracts.push(...eulerContracts(euler));
    creations.push(...eulerVaults(euler, { plantFaults }));
    liquidity.push(...eulerLiquidity(euler));
  }
  return [contracts, creations, liquidity];
}

function tokenCreations({ tokens, accounts }: Deployment): Transaction[] {
  const from = accounts[0] as Address;
  return Object.values(tokens).map((token) => {
    const { name, symbol, decimals } = token;
    if (token.form === "wrapped") return { from, gas: CREATION_GAS, data: wrappedEther.bytecode };
    if (token.form === "old") {
      const args = [stringToHex(name, { size: 32 }), stringToHex(symbol, { size: 32 })] as const;
      return { from, gas: CREATION_GAS, data: encodeDeployData({ ...oldToken, args }) };
    }
    const data = encodeDeployData({ ...devToken, args: [name, symbol, decimals] });
    return { from, gas: CREATION_GAS, data };
  });
}

function deskCreation({ tokens, accounts }: Deployment): Transaction {
  const data = encodeDeployData({ ...deskArtifact, args: [tokens.WETH.address] });
  return { from: accounts[0] as Address, gas: CREATION_GAS, data, value: toHex(10n ** 26n) };
}

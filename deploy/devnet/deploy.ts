import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex, stringToHex } from "viem";
import {
  type AerodromeDeployment,
  aerodromeContracts,
  aerodromeLiquidity,
  aerodromePools,
  aerodromeStakes,
  planAerodrome,
} from "./aerodrome/deploy.ts";
import { PROVIDERS } from "./aerodrome/market.ts";
import { desk as deskArtifact, devToken, oldToken, wrappedEther } from "./contracts/artifacts.ts";
import {
  factoryAbi,
  poolAbi,
  poolAddresses,
  readFactoryBytecode,
  TICK_SPACING,
} from "./contracts/uniswap.ts";
import { type Action, deskTransaction, type Range } from "./desk.ts";
import { POOLS, type PoolSpec, RANGES, TOKENS, type TokenSpec, type TokenSymbol } from "./market.ts";
import type { Rpc } from "./rpc.ts";
import { liquidityFor, pairPrice, rangeAround } from "./ticks.ts";
import { type Address, mineTransactions, type Transaction, toHex } from "./transactions.ts";

export interface DeployedToken extends TokenSpec {
  readonly address: Address;
}

export interface DeployedPool {
  readonly address: Address;
  readonly token0: DeployedToken;
  readonly token1: DeployedToken;
  readonly fee: number;
  readonly tickSpacing: number;
  /** The tick that traders pull the price back to. */
  readonly startTick: number;
  readonly spec: PoolSpec;
}

/** What a chain can have besides Uniswap v3. */
export const FAMILIES = ["aerodrome-v2"] as const;
export type Family = (typeof FAMILIES)[number];

export interface DeployOptions {
  /** The first n Uniswap pools of the market; absent = all ten. */
  readonly poolCount?: number | undefined;
  /** Absent = none: Uniswap v3 alone. */
  readonly families?: readonly Family[] | undefined;
}

export interface Deployment {
  readonly chainId: number;
  /** Tells two chains with the same id apart. */
  readonly genesisHash: Hex;
  readonly deployBlock: number;
  readonly factory: Address;
  readonly desk: Address;
  readonly tokens: Readonly<Record<TokenSymbol, DeployedToken>>;
  readonly pools: readonly DeployedPool[];
  readonly aerodrome?: AerodromeDeployment;
  /** Anvil's own accounts, the first is the deployer and the factory's owner. */
  readonly accounts: readonly Address[];
}

/** The plan of a deployment follows from the first account and the chain, so a restart finds it without a file. */
export async function planDeployment(rpc: Rpc, options: DeployOptions = {}): Promise<Deployment> {
  const { poolCount = POOLS.length, families = [] } = options;
  const [nodeAccounts, chainId, genesis] = await Promise.all([
    rpc.call<Hex[]>("eth_accounts"),
    rpc.call<Hex>("eth_chainId"),
    rpc.call<{ hash: Hex; number: Hex }>("eth_getBlockByNumber", ["0x0", false]),
  ]);
  const accounts = nodeAccounts.map((account) => account.toLowerCase() as Hex);
  const [deployer, aerodromeOwner] = accounts;
  if (!deployer) throw new Error("The node has no account to deploy with");
  if (poolCount < 1 || poolCount > POOLS.length)
    throw new Error(`Cannot deploy ${poolCount} pools: 1 to ${POOLS.length}`);
  const created = (nonce: number) =>
    getContractAddress({ from: deployer, nonce: BigInt(nonce) }).toLowerCase() as Hex;
  const symbols = Object.keys(TOKENS) as TokenSymbol[];
  const tokens = Object.fromEntries(
    symbols.map((symbol, nonce) => [symbol, { ...TOKENS[symbol], address: created(nonce) }]),
  ) as Record<TokenSymbol, DeployedToken>;
  const factory = created(symbols.length);
  const addressOf = poolAddresses(factory);
  const pools = POOLS.slice(0, poolCount).map((spec): DeployedPool => {
    const [base, quote] = [tokens[spec.base], tokens[spec.quote]];
    const [token0, token1] = base.address < quote.address ? [base, quote] : [quote, base];
    const address = addressOf({ token0: token0.address, token1: token1.address, fee: spec.fee });
    const startTick = pairPrice(token0, token1).tick;
    return { address, token0, token1, fee: spec.fee, tickSpacing: TICK_SPACING[spec.fee], startTick, spec };
  });
  const aerodrome = () => {
    const providers = accounts.slice(2, 2 + PROVIDERS.length);
    if (!aerodromeOwner || providers.length < PROVIDERS.length)
      throw new Error(`Aerodrome needs ${2 + PROVIDERS.length} accounts: the node has ${accounts.length}`);
    return planAerodrome(tokens, { owner: aerodromeOwner, providers });
  };
  return {
    chainId: Number(chainId),
    genesisHash: genesis.hash,
    deployBlock: 1,
    factory,
    desk: created(symbols.length + 1),
    tokens,
    pools,
    ...(families.includes("aerodrome-v2") ? { aerodrome: aerodrome() } : {}),
    accounts,
  };
}

/**
 * Puts factories, tokens, pools and liquidity on a fresh chain (block 0 only), in the same places every time.
 * Three blocks, two seconds apart: contracts; pools; prices and liquidity. A fourth stakes liquidity where there are gauges.
 */
export async function deployDevnet(rpc: Rpc, options: DeployOptions = {}): Promise<Deployment> {
  const deployment = await planDeployment(rpc, options);
  if (Number(await rpc.call("eth_blockNumber")) !== 0)
    throw new Error("The devnet is deployed on a fresh chain only");
  const { aerodrome, tokens, accounts } = deployment;
  const from = accounts[0] as Address;
  const byDeployer = (calls: { to?: Address; data: Hex; value?: Hex; gas?: Hex }[]) =>
    calls.map((call): Transaction => ({ gas: toHex(0xe00000), ...call, from }));

  const contracts = byDeployer(contractCreations(deployment));
  const pools = byDeployer(poolCreations(deployment));
  const liquidity = byDeployer([...initializations(deployment), ...firstLiquidity(deployment)]);
  if (aerodrome) {
    contracts.push(...aerodromeContracts(aerodrome, tokens));
    pools.push(...aerodromePools(aerodrome));
    liquidity.push(...aerodromeLiquidity(aerodrome));
  }
  for (const transactions of [contracts, pools, liquidity]) await mineTransactions(rpc, transactions);
  if (aerodrome) await mineTransactions(rpc, await aerodromeStakes(rpc, aerodrome, tokens.AERO.usd));
  return deployment;
}

/** Addresses that must hold code for the deployment to be there. */
export function deployedAddresses({ factory, desk, pools, aerodrome }: Deployment): Address[] {
  const gauged =
    aerodrome?.pools.flatMap(({ address, gauge }) => (gauge ? [address, gauge] : [address])) ?? [];
  return [factory, desk, ...pools.map(({ address }) => address), ...gauged];
}

function contractCreations({ tokens }: Deployment): { data: Hex; value?: Hex }[] {
  const creations = Object.values(tokens).map((token) => {
    if (token.form === "wrapped") return { data: wrappedEther.bytecode };
    if (token.form === "old") {
      const args = [stringToHex(token.name, { size: 32 }), stringToHex(token.symbol, { size: 32 })] as const;
      return { data: encodeDeployData({ ...oldToken, args }) };
    }
    return { data: encodeDeployData({ ...devToken, args: [token.name, token.symbol, token.decimals] }) };
  });
  const desk = {
    data: encodeDeployData({ ...deskArtifact, args: [tokens.WETH.address] }),
    value: toHex(10n ** 26n),
  };
  return [...creations, { data: readFactoryBytecode() }, desk];
}

function poolCreations({ factory, pools }: Deployment): { to: Address; data: Hex }[] {
  const enable = encodeFunctionData({
    abi: factoryAbi,
    functionName: "enableFeeAmount",
    args: [100, TICK_SPACING[100]],
  });
  const creations = pools.map(({ token0, token1, fee }) =>
    encodeFunctionData({
      abi: factoryAbi,
      functionName: "createPool",
      args: [token0.address, token1.address, fee],
    }),
  );
  return [enable, ...creations].map((data) => ({ to: factory, data }));
}

function initializations({ pools }: Deployment): { to: Address; data: Hex }[] {
  return pools.flatMap(({ address, token0, token1, spec }) => {
    const { sqrtPriceX96 } = pairPrice(token0, token1);
    const calls = [encodeFunctionData({ abi: poolAbi, functionName: "initialize", args: [sqrtPriceX96] })];
    const share = spec.protocolFee;
    if (share)
      calls.push(encodeFunctionData({ abi: poolAbi, functionName: "setFeeProtocol", args: [share, share] }));
    return calls.map((data) => ({ to: address, data }));
  });
}

function firstLiquidity({ pools, desk, accounts }: Deployment): { to: Address; data: Hex; gas: Hex }[] {
  const deployer = accounts[0] as Address;
  return pools.map((pool) => {
    const mints = basePositions(pool).map(
      (position): Action => ({ kind: "mint", pool: pool.address, ...position }),
    );
    const { data, gas } = deskTransaction(desk, deployer, mints);
    return { to: desk, data, gas };
  });
}

/** The positions that stay in a pool for ever. */
export function basePositions(pool: DeployedPool): (Range & { liquidity: bigint })[] {
  const { token0, token1, spec, tickSpacing, startTick } = pool;
  const price = pairPrice(token0, token1);
  const rawPerSide = (token: DeployedToken) => (spec.depthUsd / token.usd) * 10 ** token.decimals;
  return RANGES.map(([halfWidth, share]) => {
    const range = rangeAround(startTick, halfWidth, tickSpacing);
    const amounts: [number, number] = [rawPerSide(token0) * share, rawPerSide(token1) * share];
    return { ...range, liquidity: liquidityFor(price.raw, range, amounts) };
  });
}

/** What the ingest reads from DEPLOYMENTS_FILE to index this chain. */
export function deploymentsDocument({ chainId, factory, deployBlock, tokens }: Deployment) {
  const uniswap = {
    address: factory,
    dexName: "Uniswap V3",
    family: "dexb",
    kind: "uniswap-v3",
    fromBlock: deployBlock,
  };
  const stablecoins = [tokens.USDC.address, tokens.DAI.address];
  return {
    evmDex: { chains: [{ chainId, name: "Base (local devnet)", stablecoins, factories: [uniswap] }] },
  };
}

export async function writeDeploymentsFile(file: string, deployment: Deployment): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(deploymentsDocument(deployment), null, 2)}\n`);
}

import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex, stringToHex } from "viem";
import { desk as deskArtifact, devToken, oldToken, wrappedEther } from "./contracts/artifacts.ts";
import {
  factoryAbi,
  poolAbi,
  poolAddresses,
  readFactoryBytecode,
  TICK_SPACING,
} from "./contracts/uniswap.ts";
import { type Action, type Address, deskTransaction, type Range } from "./desk.ts";
import { POOLS, type PoolSpec, RANGES, TOKENS, type TokenSpec, type TokenSymbol } from "./market.ts";
import type { Rpc, RpcRequest } from "./rpc.ts";
import { liquidityFor, pairPrice, rangeAround } from "./ticks.ts";

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

export interface Deployment {
  readonly chainId: number;
  /** Tells two chains with the same id apart. */
  readonly genesisHash: Hex;
  readonly deployBlock: number;
  readonly factory: Address;
  readonly desk: Address;
  readonly tokens: Readonly<Record<TokenSymbol, DeployedToken>>;
  readonly pools: readonly DeployedPool[];
  /** Anvil's own accounts, the first is the deployer and the factory's owner. */
  readonly accounts: readonly Address[];
}

/** The plan of a deployment follows from the first account and the chain, so a restart finds it without a file. */
export async function planDeployment(rpc: Rpc, poolCount: number = POOLS.length): Promise<Deployment> {
  const [accounts, chainId, genesis] = await Promise.all([
    rpc.call<Hex[]>("eth_accounts"),
    rpc.call<Hex>("eth_chainId"),
    rpc.call<{ hash: Hex; number: Hex }>("eth_getBlockByNumber", ["0x0", false]),
  ]);
  const deployer = accounts[0];
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
  return {
    chainId: Number(chainId),
    genesisHash: genesis.hash,
    deployBlock: 1,
    factory,
    desk: created(symbols.length + 1),
    tokens,
    pools,
    accounts: accounts.map((account) => account.toLowerCase() as Hex),
  };
}

/**
 * Puts factory, tokens, pools and liquidity on a fresh chain (block 0 only), in the same places every time.
 * Three blocks, two seconds apart: contracts; pools; prices and liquidity.
 */
export async function deployDevnet(rpc: Rpc, options: { poolCount?: number } = {}): Promise<Deployment> {
  const deployment = await planDeployment(rpc, options.poolCount);
  if (Number(await rpc.call("eth_blockNumber")) !== 0)
    throw new Error("The devnet is deployed on a fresh chain only");
  const deployer = deployment.accounts[0] as Address;
  let nonce = 0;
  const mineBlock = async (transactions: { to?: Address; data: Hex; value?: bigint; gas?: Hex }[]) => {
    const requests = transactions.map(({ value = 0n, ...transaction }): RpcRequest => {
      const fields = {
        gas: "0xe00000",
        ...transaction,
        from: deployer,
        value: toHex(value),
        nonce: toHex(nonce++),
      };
      return { method: "eth_sendTransaction", params: [fields] };
    });
    const hashes = await rpc.batch<Hex>(requests);
    await rpc.call("evm_mine");
    const receipts = await rpc.batch<{ status: Hex } | null>(
      hashes.map((hash) => ({ method: "eth_getTransactionReceipt", params: [hash] })),
    );
    const failed = receipts.findIndex((receipt) => receipt?.status !== "0x1");
    if (failed >= 0) throw new Error(`Transaction ${failed} of a deployment block failed: ${hashes[failed]}`);
  };

  await mineBlock(contractCreations(deployment));
  await mineBlock(poolCreations(deployment));
  await mineBlock([...initializations(deployment), ...firstLiquidity(deployment)]);
  return deployment;
}

function toHex(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

function contractCreations({ tokens }: Deployment): { data: Hex; value?: bigint }[] {
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
    value: 10n ** 26n,
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
    const { to, data, gas } = deskTransaction(desk, deployer, mints);
    return { to, data, gas };
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

import { getContractAddress, type Hex } from "viem";
import { type AaveDeployment, planAave } from "./aave/deploy.ts";
import { AAVE_USERS } from "./aave/market.ts";
import { type AerodromeDeployment, planAerodrome } from "./aerodrome/deploy.ts";
import { PROVIDERS } from "./aerodrome/market.ts";
import { type EulerDeployment, planEuler } from "./euler/plan.ts";
import { POOLS, TOKENS, type TokenSymbol } from "./market.ts";
import { MORPHO_USERS } from "./morpho/market.ts";
import { type MorphoDeployment, planMorpho } from "./morpho/plan.ts";
import { MULTICALL3 } from "./node/multicall.ts";
import type { Rpc } from "./node/rpc.ts";
import type { Address } from "./node/transactions.ts";
import type { DeployedPool, DeployedToken, Tokens } from "./pools.ts";
import { SUSHI_POOLS } from "./v3/market.ts";
import { type PancakeDeployment, planPancake } from "./v3/pancake.ts";
import { planSlipstream, type SlipstreamDeployment } from "./v3/slipstream.ts";
import { planUniswap, type UniswapDeployment } from "./v3/uniswap.ts";

/** Exchanges that a chain can have besides Uniswap v3. */
export const DEX_FAMILIES = ["aerodrome-v2", "slipstream", "pancake-v3", "sushi-v3"] as const;
/** Lending protocols that it can have, by their protocolId. */
export const LENDING_FAMILIES = ["aave-v3", "morpho-v1", "euler-v2"] as const;
export const FAMILIES = [...DEX_FAMILIES, ...LENDING_FAMILIES] as const;
export type Family = (typeof FAMILIES)[number];

export interface DeployOptions {
  /** The first n Uniswap pools of the market; absent = all ten. */
  readonly poolCount?: number | undefined;
  /** Absent = none: Uniswap v3 alone. */
  readonly families?: readonly Family[] | undefined;
  /** False leaves out contracts that only exist to fail readers, such as Euler's broken vault. Absent = true. */
  readonly plantFaults?: boolean | undefined;
}

export interface Deployment {
  readonly chainId: number;
  /** Distinguishes two chains with the same id. */
  readonly genesisHash: Hex;
  readonly deployBlock: number;
  readonly factory: Address;
  /** Trades on the pools of Uniswap v3 and its kin. */
  readonly desk: Address;
  readonly tokens: Tokens;
  /** Uniswap's. */
  readonly pools: readonly DeployedPool[];
  readonly aerodrome?: AerodromeDeployment;
  readonly slipstream?: SlipstreamDeployment;
  readonly pancake?: PancakeDeployment;
  /** Genuine Uniswap v3 under another factory. */
  readonly sushi?: UniswapDeployment;
  readonly aave?: AaveDeployment;
  readonly morpho?: MorphoDeployment;
  readonly euler?: EulerDeployment;
  /** Anvil's own accounts, the first is the deployer and the factory's owner. */
  readonly accounts: readonly Address[];
}

/**
 * Each family has an owner of its own, whose first transactions make its contracts: their addresses then do not depend
 * on what else is deployed. By index into the accounts; the first provider follows on Aerodrome's owner.
 */
const OWNERS = {
  "aerodrome-v2": 1,
  slipstream: 8,
  "pancake-v3": 9,
  "sushi-v3": 10,
  "aave-v3": 11,
  "morpho-v1": 12,
  "euler-v2": 13,
} as const;
const FIRST_PROVIDER = 2;
/** Users of lending protocols, each protocol from the first. */
const FIRST_USER = 14;

/** The plan of a deployment follows from the node's accounts and the chain, so a restart finds it without a file. */
export async function planDeployment(rpc: Rpc, options: DeployOptions = {}): Promise<Deployment> {
  const { poolCount = POOLS.length, families = [] } = options;
  const [nodeAccounts, chainId, genesis] = await Promise.all([
    rpc.call<Hex[]>("eth_accounts"),
    rpc.call<Hex>("eth_chainId"),
    rpc.call<{ hash: Hex; number: Hex }>("eth_getBlockByNumber", ["0x0", false]),
  ]);
  const accounts = nodeAccounts.map((account) => account.toLowerCase() as Hex);
  const owner = accounts[0];
  if (!owner) throw new Error("The node has no account to deploy with");
  if (poolCount < 1 || poolCount > POOLS.length)
    throw new Error(`Cannot deploy ${poolCount} pools: 1 to ${POOLS.length}`);
  const created = (from: Address, nonce: number) =>
    getContractAddress({ from, nonce: BigInt(nonce) }).toLowerCase() as Hex;
  const symbols = Object.keys(TOKENS) as TokenSymbol[];
  const tokens = Object.fromEntries(
    symbols.map((symbol, nonce) => [symbol, { ...TOKENS[symbol], address: created(owner, nonce) }]),
  ) as Record<TokenSymbol, DeployedToken>;
  const factory = created(owner, symbols.length);

  const ownerOf = (family: Family): Address => {
    const found = accounts[OWNERS[family]];
    if (!found)
      throw new Error(`${family} needs ${OWNERS[family] + 1} accounts: the node has ${accounts.length}`);
    return found;
  };
  const aerodrome = () => {
    const providers = accounts.slice(FIRST_PROVIDER, FIRST_PROVIDER + PROVIDERS.length);
    return { aerodrome: planAerodrome(tokens, { owner: ownerOf("aerodrome-v2"), providers }) };
  };
  const sushi = () => {
    const from = ownerOf("sushi-v3");
    return { sushi: planUniswap(SUSHI_POOLS, { owner: from, factory: created(from, 0), tokens }) };
  };
  const aave = () => {
    const users = accounts.slice(FIRST_USER, FIRST_USER + AAVE_USERS.length);
    return { aave: planAave(tokens, { owner: ownerOf("aave-v3"), users }) };
  };
  const morpho = () => {
    const users = accounts.slice(FIRST_USER, FIRST_USER + MORPHO_USERS.length);
    return { morpho: planMorpho(tokens, { owner: ownerOf("morpho-v1"), users }) };
  };
  const euler = () => ({ euler: planEuler(tokens, { owner: ownerOf("euler-v2"), accounts }) });
  return {
    chainId: Number(chainId),
    genesisHash: genesis.hash,
    deployBlock: 1,
    factory,
    desk: created(owner, symbols.length + 1),
    tokens,
    pools: planUniswap(POOLS.slice(0, poolCount), { owner, factory, tokens }).pools,
    ...(families.includes("aerodrome-v2") ? aerodrome() : {}),
    ...(families.includes("slipstream") ? { slipstream: planSlipstream(ownerOf("slipstream"), tokens) } : {}),
    ...(families.includes("pancake-v3") ? { pancake: planPancake(ownerOf("pancake-v3"), tokens) } : {}),
    ...(families.includes("sushi-v3") ? sushi() : {}),
    ...(families.includes("aave-v3") ? aave() : {}),
    ...(families.includes("morpho-v1") ? morpho() : {}),
    ...(families.includes("euler-v2") ? euler() : {}),
    accounts,
  };
}

/** Every pool that the desk can trade on: Uniswap's first, then its kin's. */
export function deskPools({ pools, slipstream, pancake, sushi }: Deployment): readonly DeployedPool[] {
  return [...pools, ...[slipstream, pancake, sushi].flatMap((family) => family?.pools ?? [])];
}

/** Addresses that must hold code for the deployment to be there. */
export function deployedAddresses(deployment: Deployment): Address[] {
  const { factory, desk, aerodrome, slipstream, aave, morpho, euler } = deployment;
  const gauged = [...(aerodrome?.pools ?? []), ...(slipstream?.pools ?? [])];
  const gauges = gauged.flatMap(({ gauge }) => (gauge ? [gauge] : []));
  const pools = [...deskPools(deployment), ...(aerodrome?.pools ?? [])].map(({ address }) => address);
  const lending = aave ? [aave.pool, ...aave.reserves.map(({ aToken }) => aToken)] : [];
  const vaults = [
    ...Object.values(morpho?.vaults ?? {}),
    ...(euler?.vaults ?? []),
    ...(euler?.earnVaults ?? []),
  ].map(({ address }) => address);
  return [MULTICALL3, factory, desk, ...pools, ...gauges, ...lending, ...vaults];
}

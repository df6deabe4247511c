import { type Address, formatUnits, type Hex, parseAbi, parseAbiItem, zeroAddress } from "viem";
import {
  adaptiveCurveIrmAbi,
  metaMorphoAbi,
  morphoAbi,
} from "../../../deploy/devnet/contracts/morpho/abi.ts";
import { lossKeepingVault } from "../../../deploy/devnet/contracts/morpho/artifacts.ts";
import type { MorphoDeployment } from "../../../deploy/devnet/morpho/plan.ts";
import type { TestChain } from "../../../deploy/devnet/testkit.ts";
import type { LendingRow } from "../protocols/rows.ts";

const tokenAbi = parseAbi([
  "function symbol() view returns (string)",
  "function decimals() view returns (uint8)",
]);
const YEAR_S = 31_536_000;
const WAD = 10n ** 18n;
const NO_CAP = 2n ** 184n - 1n;

type Params = Awaited<ReturnType<typeof readMarkets>>[number]["params"];

/** A market as the contracts have it once they have accrued, in the same call. */
interface TrueMarket {
  readonly id: Hex;
  readonly params: Params;
  readonly supply: bigint;
  readonly supplyShares: bigint;
  readonly borrow: bigint;
  /** What the model answers just after accruing; 0 without a model. */
  readonly rate: bigint;
  readonly fee: bigint;
}

/** Every row of Morpho at the end of a block, from the contracts' own views, read by viem. Ids are lower case. */
export async function morphoTruth(
  chain: TestChain,
  query: { block: number; vaults?: readonly Address[]; markets?: readonly Hex[] },
): Promise<LendingRow[]> {
  const { deployment } = chain.morpho;
  const ids = query.markets ?? Object.values(deployment.markets).map(({ id }) => id);
  const vaults = query.vaults ?? Object.values(deployment.vaults).map(({ address }) => address);
  const at = { chain, blockNumber: BigInt(query.block), deployment };
  const markets = await readMarkets(at, ids);
  const rows: LendingRow[] = await Promise.all(markets.map((market) => marketRow(at, market)));
  for (const vault of vaults) rows.push(...(await vaultRows(at, vault, markets)));
  return rows;
}

interface At {
  readonly chain: TestChain;
  readonly blockNumber: bigint;
  readonly deployment: MorphoDeployment;
}

/** All calls in one eth_call: what the first ones change, the later ones see. */
async function readMarkets({ chain: { client }, blockNumber, deployment }: At, ids: readonly Hex[]) {
  const morpho = { address: deployment.morpho, abi: morphoAbi } as const;
  const options = { blockNumber, deployless: true, allowFailure: false, batchSize: 0 } as const;
  const params = await Promise.all(
    ids.map((id) =>
      client.readContract({ ...morpho, functionName: "idToMarketParams", args: [id], blockNumber }),
    ),
  );
  const accruals = params.map(
    (each) => ({ ...morpho, functionName: "accrueInterest", args: [each] }) as const,
  );
  const states = ids.map((id) => ({ ...morpho, functionName: "market", args: [id] }) as const);
  const [, accrued] = halves(
    await client.multicall({ ...options, contracts: [...accruals, ...states] as never[] }),
  );
  const rates = params.map((each, i) => {
    const market = accrued[i] as Accrued;
    const call = { abi: adaptiveCurveIrmAbi, functionName: "borrowRateView", args: [each, market] } as const;
    // A market without a model gets no call: any other value will do.
    return each.irm === zeroAddress ? states[i] : { ...call, address: each.irm };
  });
  const [, answered] = halves(
    await client.multicall({ ...options, contracts: [...accruals, ...rates] as never[] }),
  );
  return ids.map((id, i) => {
    const market = accrued[i] as Accrued;
    const each = params[i] as (typeof params)[number];
    return {
      id,
      params: each,
      supply: market.totalSupplyAssets,
      supplyShares: market.totalSupplyShares,
      borrow: market.totalBorrowAssets,
      rate: each.irm === zeroAddress ? 0n : (answered[i] as bigint),
      fee: market.fee,
    };
  });
}

interface Accrued {
  readonly totalSupplyAssets: bigint;
  readonly totalSupplyShares: bigint;
  readonly totalBorrowAssets: bigint;
  readonly totalBorrowShares: bigint;
  readonly lastUpdate: bigint;
  readonly fee: bigint;
}

function halves(results: readonly unknown[]): [readonly unknown[], readonly unknown[]] {
  return [results.slice(0, results.length / 2), results.slice(results.length / 2)];
}

function ratesOf({ supply, borrow, rate, fee }: TrueMarket) {
  const utilizationRate = supply === 0n ? 0 : Number(borrow) / Number(supply);
  const perYear = (Number(rate) / 1e18) * YEAR_S;
  return {
    supplyApy: Math.expm1(perYear * utilizationRate * (1 - Number(fee) / 1e18)),
    borrowApy: Math.expm1(perYear),
    utilizationRate,
  };
}

async function token({ chain: { client } }: At, address: Address) {
  if (address === zeroAddress) return { address, symbol: "", decimals: 0 };
  const [symbol, decimals] = await Promise.all([
    client.readContract({ address, abi: tokenAbi, functionName: "symbol" }),
    client.readContract({ address, abi: tokenAbi, functionName: "decimals" }),
  ]);
  return { address: address.toLowerCase(), symbol, decimals };
}

async function pairOf(at: At, { params }: TrueMarket) {
  const [loan, collateral] = await Promise.all([
    token(at, params.loanToken),
    token(at, params.collateralToken),
  ]);
  const refOf = ({ address, symbol }: typeof loan) => ({ address, symbol });
  return { pair: { loan: refOf(loan), collateral: refOf(collateral) }, decimals: loan.decimals };
}

const createMetaMorpho = parseAbiItem(
  "event CreateMetaMorpho(address indexed metaMorpho, address indexed caller, address initialOwner, uint256 initialTimelock, address indexed asset, string name, string symbol, bytes32 salt)",
);

function listedVaults({ deployment }: At): readonly Address[] {
  return Object.values(deployment.vaults).map(({ address }) => address);
}

/** Whether a listed vault has enabled the market. */
async function isListedMarket(at: At, id: Hex): Promise<boolean> {
  const { chain, blockNumber } = at;
  const configs = listedVaults(at).map((address) =>
    chain.client.readContract({
      address,
      abi: metaMorphoAbi,
      functionName: "config",
      args: [id],
      blockNumber,
    }),
  );
  return (await Promise.all(configs)).some(([, enabled]) => enabled);
}

const units = (raw: bigint, decimals: number) => Number(formatUnits(raw, decimals));

async function marketRow(at: At, market: TrueMarket): Promise<LendingRow> {
  const { pair, decimals } = await pairOf(at, market);
  return {
    table: "market",
    protocolId: "morpho-v1",
    listed: await isListedMarket(at, market.id),
    marketId: market.id,
    ...pair,
    supply: units(market.supply, decimals),
    borrow: units(market.borrow, decimals),
    available: units(market.supply - market.borrow, decimals),
    ...ratesOf(market),
    ltv: Number(market.params.lltv) / 1e18,
  };
}

async function vaultRows(at: At, vault: Address, known: readonly TrueMarket[]): Promise<LendingRow[]> {
  const { client } = at.chain;
  const { blockNumber, deployment } = at;
  const contract = { address: vault, abi: metaMorphoAbi, blockNumber } as const;
  const [name, symbol, asset, owner, curator, fee, totalAssets, maxDeposit, inQueue, enabled] =
    await Promise.all([
      client.readContract({ ...contract, functionName: "name" }),
      client.readContract({ ...contract, functionName: "symbol" }),
      client.readContract({ ...contract, functionName: "asset" }),
      client.readContract({ ...contract, functionName: "owner" }),
      client.readContract({ ...contract, functionName: "curator" }),
      client.readContract({ ...contract, functionName: "fee" }),
      client.readContract({ ...contract, functionName: "totalAssets" }),
      client.readContract({ ...contract, functionName: "maxDeposit", args: [zeroAddress] }),
      client.readContract({ ...contract, functionName: "supplyQueueLength" }),
      client.readContract({ ...contract, functionName: "withdrawQueueLength" }),
    ]);
  const queued = async (functionName: "supplyQueue" | "withdrawQueue", length: bigint) =>
    Promise.all(
      Array.from({ length: Number(length) }, (_, i) =>
        client.readContract({ ...contract, functionName, args: [BigInt(i)] }),
      ),
    );
  const [supplyQueue, withdrawQueue] = await Promise.all([
    queued("supplyQueue", inQueue),
    queued("withdrawQueue", enabled),
  ]);
  const capOf = async (id: Hex) =>
    (await client.readContract({ ...contract, functionName: "config", args: [id] }))[0];
  const underlying = await token(at, asset);
  const { decimals } = underlying;
  const held = await Promise.all(
    withdrawQueue.map(async (id) => {
      const market = known.find((each) => each.id === id);
      if (!market) throw new Error(`${vault} is in ${id}, which was not read`);
      const position = { address: deployment.morpho, abi: morphoAbi, functionName: "position" } as const;
      const [shares] = await client.readContract({ ...position, args: [id, vault], blockNumber });
      // What a withdrawal of all shares would give (SharesMathLib).
      const assets = (shares * (market.supply + 1n)) / (market.supplyShares + 10n ** 6n);
      const cap = await capOf(id);
      // A deposit leaves what the vault has, rounded up, below the cap (MetaMorpho._maxDeposit).
      const virtualShares = market.supplyShares + 10n ** 6n;
      const headroom = cap - (shares * (market.supply + 1n) + virtualShares - 1n) / virtualShares;
      return { market, assets, cap, headroom: headroom > 0n ? headroom : 0n };
    }),
  );
  const sum = (amount: (each: (typeof held)[number]) => bigint) =>
    held.reduce((all, each) => all + amount(each), 0n);
  const borrowed = sum(({ assets, market: { supply, borrow } }) =>
    supply === 0n ? 0n : (assets * borrow) / supply,
  );
  // The contract's own maxDeposit() counts a market twice that is in the queue twice.
  const deposit = sum(({ market, headroom }) => (supplyQueue.includes(market.id) ? headroom : 0n));
  if (new Set(supplyQueue).size === supplyQueue.length && deposit !== maxDeposit)
    throw new Error(`${vault} takes ${maxDeposit}, its caps leave ${deposit}`);
  const caps = await Promise.all([...new Set(supplyQueue)].map(capOf));
  const mean = (rate: (market: TrueMarket) => number, total: bigint) =>
    total === 0n
      ? 0
      : held.reduce((all, { market, assets }) => all + rate(market) * Number(assets), 0) / Number(total);
  const lltvs = held.flatMap(({ market: { params } }) =>
    params.collateralToken === zeroAddress ? [] : [Number(params.lltv) / 1e18],
  );
  const address = vault.toLowerCase();
  const account = (curator === zeroAddress ? owner : curator).toLowerCase();
  const [creation] = await client.getLogs({
    ...{ event: createMetaMorpho, args: { metaMorpho: vault }, fromBlock: 0n, toBlock: blockNumber },
  });
  const row: LendingRow = {
    table: "vault",
    protocolId: "morpho-v1",
    address,
    // The devnet lists the vaults that it begins with.
    listed: listedVaults(at).includes(address as Address),
    curator: account,
    isOfCurator: account === creation?.args.caller?.toLowerCase(),
    symbol,
    vaultName: name,
    underlying: { address: underlying.address, symbol: underlying.symbol },
    supply: units(totalAssets, decimals),
    borrow: units(borrowed, decimals),
    available: units(
      sum(({ assets, market: { supply, borrow } }) => (assets < supply - borrow ? assets : supply - borrow)),
      decimals,
    ),
    supplyCap: caps.includes(NO_CAP) ? null : units(totalAssets + deposit, decimals),
    borrowCap: null,
    supplyApy: mean((market) => ratesOf(market).supplyApy, totalAssets),
    borrowApy: mean(
      (market) => ratesOf(market).borrowApy,
      sum(({ assets }) => assets),
    ),
    utilizationRate: totalAssets === 0n ? 0 : Number(borrowed) / Number(totalAssets),
    performanceFee: Number(fee) / 1e18,
    managementFee: 0,
    ltv: lltvs.length === 0 ? null : Math.max(...lltvs),
    borrowable: held.some(
      ({ market: { params, supply, borrow }, assets }) => params.lltv > 0n && assets > 0n && supply > borrow,
    ),
    depositEnabled: maxDeposit > 0n,
  };
  const markets = held.map(
    async ({ market, assets, cap }): Promise<LendingRow> => ({
      table: "vault-market",
      protocolId: "morpho-v1",
      vaultAddress: address,
      marketId: market.id,
      ...(await pairOf(at, market)).pair,
      ...ratesOf(market),
      ltv: Number(market.params.lltv) / 1e18,
      allocation: units(assets, decimals),
      allocationShare: totalAssets === 0n ? 0 : Number(assets) / Number(totalAssets),
      supplyCap: cap === NO_CAP ? null : units(cap, decimals),
    }),
  );
  return [row, ...(await Promise.all(markets))];
}

/** What a vault has by the contracts, over and above what its markets hold for it: nothing in v1.0. */
export async function lostAssets(chain: TestChain, vault: Address, block: number): Promise<bigint> {
  const { abi } = lossKeepingVault;
  const read = { address: vault, abi, functionName: "lostAssets", blockNumber: BigInt(block) } as const;
  return chain.client.readContract(read);
}

/** `value` per WAD. */
export function ofWad(value: number): bigint {
  return BigInt(Math.round(value * 1e6)) * (WAD / 10n ** 6n);
}

import { encodeDeployData, encodeFunctionData, type Hex, maxUint256, numberToHex, zeroAddress } from "viem";
import { readMorphoBytecode, TIMELOCK_SLOT } from "../contracts/morpho/abi.ts";
import { priceOracle, vaultFactory } from "../contracts/morpho/artifacts.ts";
import type { Rpc } from "../node/rpc.ts";
import type { Address, Transaction } from "../node/transactions.ts";
import { CREATION_GAS, type DeployedToken as Token } from "../pools.ts";
import { type MorphoMarketName, NO_CAP } from "./market.ts";
import { type MorphoDeployment, type MorphoMarket, type MorphoVault, vaultCode } from "./plan.ts";
import { approve, fund, morphoCall, vaultCall } from "./transactions.ts";

const DAY_S = 86_400n;
/** Of what may be borrowed against a collateral, what is at first. */
const FIRST_LOAN = 0.6;
/** USD of each token that everybody who trades gets: more than ever is needed. */
const PURSE_USD = 1e9;

/** Raw units of a token for USD at its starting price. */
export function rawOf(usd: number, token: Token): bigint {
  return (BigInt(Math.round((usd / token.usd) * 1e6)) * 10n ** BigInt(token.decimals)) / 10n ** 6n;
}

/** The contracts, which must be the owner's first transactions. */
export function morphoContracts({ actors, morpho, markets }: MorphoDeployment): Transaction[] {
  const create = (data: Hex): Transaction => ({ from: actors.owner, gas: CREATION_GAS, data });
  const padded = (address: Address) => address.slice(2).padStart(64, "0");
  const factory = create(encodeDeployData({ ...vaultFactory, args: [morpho] }));
  const oracles = Object.values(markets).flatMap(({ collateral, price }) =>
    collateral ? [create(encodeDeployData({ ...priceOracle, args: [price] }))] : [],
  );
  return [
    create(`${readMorphoBytecode("Morpho")}${padded(actors.owner)}`),
    create(`${readMorphoBytecode("AdaptiveCurveIrm")}${padded(morpho)}`),
    factory,
    factory,
    ...oracles,
  ];
}

/** Markets and vaults. */
export function morphoCreations({ actors, morpho, irm, markets, vaults }: MorphoDeployment): Transaction[] {
  const admin = [actors.owner, morpho] as const;
  const all = Object.values(markets);
  const lltvs = new Set(all.map(({ params }) => params.lltv));
  return [
    ...[irm, zeroAddress].map((model) => morphoCall(admin, "enableIrm", [model])),
    ...[...lltvs].map((lltv) => morphoCall(admin, "enableLltv", [lltv])),
    ...all.map(({ params }) => morphoCall(admin, "createMarket", [params])),
    morphoCall(admin, "setFeeRecipient", [actors.owner]),
    ...all.flatMap(({ params, spec: { feePct } }) =>
      feePct === undefined ? [] : [morphoCall(admin, "setFee", [params, percent(feePct)])],
    ),
    ...Object.values(vaults).map(({ factory, spec, creation }): Transaction => {
      const args = [vaultCode(spec.version), creation] as const;
      const data = encodeFunctionData({ abi: vaultFactory.abi, functionName: "createMetaMorpho", args });
      return { from: actors.owner, to: factory, data, gas: CREATION_GAS };
    }),
  ];
}

/** Lets the vaults of v1.0 take their first caps at once, which would else need a day to pass on the chain. */
export async function openVaults(rpc: Rpc, { vaults }: MorphoDeployment): Promise<void> {
  const slot = numberToHex(TIMELOCK_SLOT, { size: 32 });
  const zero = numberToHex(0, { size: 32 });
  for (const { address, spec } of Object.values(vaults))
    if (spec.version === "1.0") await rpc.call("anvil_setStorageAt", [address, slot, zero]);
}

/** Caps, queues, fees and roles of the vaults; then what everybody puts in and takes out. */
export function morphoLiquidity(deployment: MorphoDeployment): Transaction[] {
  const { markets, vaults } = deployment;
  return [
    ...Object.values(vaults).flatMap((vault) => vaultSettings(deployment, vault)),
    ...purses(deployment),
    ...Object.values(markets).flatMap((market) => marketSupplies(deployment, market)),
    ...Object.values(vaults).flatMap((vault) => vaultDeposits(deployment, vault)),
    ...Object.values(markets).flatMap((market) => marketLoans(deployment, market)),
  ];
}

function vaultSettings({ actors, markets }: MorphoDeployment, vault: MorphoVault): Transaction[] {
  const { address, asset, spec } = vault;
  const admin = [actors.owner, address] as const;
  const caps = Object.entries(spec.capsUsd) as [MorphoMarketName, number | null][];
  const genuine = [
    vaultCall(admin, "submitTimelock", [DAY_S]),
    vaultCall(admin, "setIsAllocator", [actors.allocator, true]),
  ];
  return [
    ...caps.flatMap(([name, usd]) => [
      vaultCall(admin, "submitCap", [markets[name].params, usd === null ? NO_CAP : rawOf(usd, asset)]),
      vaultCall(admin, "acceptCap", [markets[name].params]),
    ]),
    vaultCall(admin, "setSupplyQueue", [spec.supplyQueue.map((name) => markets[name].id)]),
    ...(spec.hasCurator ? [vaultCall(admin, "setCurator", [actors.curator])] : []),
    vaultCall(admin, "setFeeRecipient", [actors.owner]),
    ...(spec.feePct === undefined ? [] : [vaultCall(admin, "setFee", [percent(spec.feePct)])]),
    ...(spec.version === "1.0" ? genuine : []),
  ];
}

/** Tokens and approvals for supplier and borrower. */
function purses({ actors, morpho, markets, vaults }: MorphoDeployment): Transaction[] {
  const { supplier, borrower } = actors;
  const tokens = [
    ...new Set(Object.values(markets).flatMap(({ loan, collateral }) => [loan, collateral ?? loan])),
  ];
  return [
    ...[supplier, borrower].flatMap((account) =>
      tokens.flatMap((token) => {
        const purse = token.form === "wrapped" ? 10n ** 24n : rawOf(PURSE_USD, token);
        return [fund(account, token, purse), approve(account, token.address, morpho)];
      }),
    ),
    ...Object.values(vaults).map(({ address, asset }) => approve(supplier, asset.address, address)),
  ];
}

function marketSupplies(
  { actors, morpho }: MorphoDeployment,
  { params, loan, spec }: MorphoMarket,
): Transaction[] {
  const { supplier } = actors;
  const amount = rawOf(spec.suppliedUsd, loan);
  return [morphoCall([supplier, morpho], "supply", [params, amount, 0n, supplier, "0x"])];
}

function vaultDeposits({ actors, markets }: MorphoDeployment, vault: MorphoVault): Transaction[] {
  const { address, asset, spec } = vault;
  if (spec.depositUsd === 0) return [];
  const { supplier, allocator } = actors;
  const deposits = [vaultCall([supplier, address], "deposit", [rawOf(spec.depositUsd, asset), supplier])];
  if (!spec.reallocation) return deposits;
  // The one it is taken from had only what the deposit left over.
  const { from, to, usd } = spec.reallocation;
  const queued = spec.supplyQueue.filter((name) => name !== from);
  const left = spec.depositUsd - queued.reduce((sum, name) => sum + (spec.capsUsd[name] ?? 0), 0);
  const allocations = [
    { marketParams: markets[from].params, assets: rawOf(left - usd, asset) },
    { marketParams: markets[to].params, assets: maxUint256 },
  ];
  return [...deposits, vaultCall([allocator, address], "reallocate", [allocations])];
}

function marketLoans({ actors, morpho }: MorphoDeployment, market: MorphoMarket): Transaction[] {
  const { params, loan, collateral, spec } = market;
  if (!collateral || spec.borrowedUsd === 0) return [];
  const { borrower } = actors;
  const pledged = rawOf(spec.borrowedUsd / (spec.lltvPct / 100) / FIRST_LOAN, collateral);
  const amount = rawOf(spec.borrowedUsd, loan);
  return [
    morphoCall([borrower, morpho], "supplyCollateral", [params, pledged, borrower, "0x"]),
    morphoCall([borrower, morpho], "borrow", [params, amount, 0n, borrower, borrower]),
  ];
}

function percent(value: number): bigint {
  return BigInt(value * 10) * 10n ** 15n;
}

import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex } from "viem";
import { aaveAclAbi, aaveConfiguratorAbi, aaveProviderAbi } from "../contracts/aave/abi.ts";
import { priceFeed } from "../contracts/aave/artifacts.ts";
import { AAVE_LIBRARIES, type AaveLibraries, aaveCreation } from "../contracts/aave/genuine.ts";
import type { TokenSymbol } from "../market.ts";
import type { Address, Transaction } from "../node/transactions.ts";
import { CREATION_GAS, type DeployedToken, type Tokens } from "../pools.ts";
import { AAVE_RESERVES, AAVE_USERS, type AaveReserveSpec, type RateSpec } from "./market.ts";
import { STABLE, aaveTransactions as transactions } from "./transactions.ts";

export interface AaveReserve {
  readonly token: DeployedToken;
  readonly aToken: Address;
  readonly stableDebtToken: Address;
  readonly variableDebtToken: Address;
  /** Where the oracle has its price from; anybody may set it. */
  readonly feed: Address;
  readonly strategy: Address;
  readonly spec: AaveReserveSpec;
}

export interface AaveDeployment {
  /** Deployer, every kind of admin, and the treasury. */
  readonly owner: Address;
  readonly provider: Address;
  readonly pool: Address;
  readonly configurator: Address;
  readonly oracle: Address;
  readonly dataProvider: Address;
  readonly aclManager: Address;
  readonly libraries: AaveLibraries;
  /** What proxies stand before. */
  readonly implementations: Readonly<Record<Implementation, Address>>;
  readonly reserves: readonly AaveReserve[];
  /** Accounts of market.ts's users: they have approved the Pool for every token, and have plenty of each. */
  readonly users: readonly Address[];
}

const CORE = ["Pool", "PoolConfigurator"] as const;
const TOKENS = ["AToken", "StableDebtToken", "VariableDebtToken"] as const;
type Implementation = (typeof CORE)[number] | (typeof TOKENS)[number];

/** Where everything will be: follows from the owner, whose first transactions these are, and the tokens. */
export function planAave(
  tokens: Tokens,
  { owner, users }: { owner: Address; users: readonly Address[] },
): AaveDeployment {
  const created = (from: Address, nonce: number) =>
    getContractAddress({ from, nonce: BigInt(nonce) }).toLowerCase() as Hex;
  let nonce = 0;
  const next = () => created(owner, nonce++);
  const provider = next();
  // The ACL manager reads the admin in its constructor: a call comes between.
  nonce++;
  const aclManager = next();
  const libraries = Object.fromEntries(AAVE_LIBRARIES.map((name) => [name, next()])) as AaveLibraries;
  const core = CORE.map((name) => [name, next()] as const);
  // Tokens ask their Pool who its provider is when they are made: it and the configurator are set up before them.
  nonce += 2;
  const implementations = Object.fromEntries([...core, ...TOKENS.map((name) => [name, next()] as const)]);
  const dataProvider = next();
  const strategies = AAVE_RESERVES.map(next);
  const feeds = AAVE_RESERVES.map(next);
  const oracle = next();
  // A contract's own nonces begin with 1: the provider makes the two proxies, the configurator three for each reserve.
  const [pool, configurator] = [created(provider, 1), created(provider, 2)];
  const reserves = AAVE_RESERVES.map((spec, i): AaveReserve => {
    const [aToken, stableDebtToken, variableDebtToken] = [1, 2, 3].map((n) =>
      created(configurator, 3 * i + n),
    ) as [Address, Address, Address];
    const [feed, strategy] = [feeds[i], strategies[i]] as [Address, Address];
    return { token: tokens[spec.token], aToken, stableDebtToken, variableDebtToken, feed, strategy, spec };
  });
  return {
    owner,
    provider,
    pool,
    configurator,
    oracle,
    dataProvider,
    aclManager,
    libraries,
    implementations: implementations as AaveDeployment["implementations"],
    reserves,
    users,
  };
}

/** The contracts, which must be the owner's first transactions. */
export function aaveContracts(aave: AaveDeployment): Transaction[] {
  const { owner: from, provider, pool, libraries, implementations, reserves } = aave;
  const create = (data: Hex): Transaction => ({ from, gas: CREATION_GAS, data });
  const ofProvider = { types: "address", args: [provider] };
  return [
    create(aaveCreation("PoolAddressesProvider", { types: "string, address", args: ["Devnet", from] })),
    name(aave, "setACLAdmin", from),
    create(aaveCreation("ACLManager", ofProvider)),
    ...AAVE_LIBRARIES.map((name) => create(aaveCreation(name, { libraries }))),
    create(aaveCreation("Pool", { libraries, ...ofProvider })),
    create(aaveCreation("PoolConfigurator", { libraries })),
    name(aave, "setPoolImpl", implementations.Pool),
    name(aave, "setPoolConfiguratorImpl", implementations.PoolConfigurator),
    ...TOKENS.map((token) => create(aaveCreation(token, { types: "address", args: [pool] }))),
    create(aaveCreation("AaveProtocolDataProvider", ofProvider)),
    ...reserves.map(({ spec }) => create(strategyCreation(provider, spec.rates))),
    ...reserves.map(({ token }) =>
      create(encodeDeployData({ ...priceFeed, args: [BigInt(Math.round(token.usd * 1e8))] })),
    ),
    create(oracleCreation(aave)),
  ];
}

type Setter = Extract<(typeof aaveProviderAbi)[number], { inputs: readonly [{ type: "address" }] }>["name"];

/** Registers the contract of one of the provider's names. */
function name({ owner, provider }: AaveDeployment, functionName: Setter, address: Address): Transaction {
  const data = encodeFunctionData({ abi: aaveProviderAbi, functionName, args: [address] });
  return { from: owner, to: provider, data, gas: CREATION_GAS };
}

function strategyCreation(provider: Address, { optimal, base, slope1, slope2 }: RateSpec): Hex {
  const ofStable = { slope1: 0.5, slope2: 60, offset: 2, excessOffset: 8, optimalShare: 20 };
  const rays = [optimal, base, slope1, slope2, ...Object.values(ofStable)].map(
    (percent) => BigInt(Math.round(percent * 100)) * 10n ** 23n,
  );
  const types = ["address", ...rays.map(() => "uint256")].join(", ");
  return aaveCreation("DefaultReserveInterestRateStrategy", { types, args: [provider, ...rays] });
}

const NO_ADDRESS: Address = `0x${"0".repeat(40)}`;

/** Prices in USD with 8 decimals, without another oracle behind it. */
function oracleCreation({ provider, reserves }: AaveDeployment): Hex {
  const assets = reserves.map(({ token }) => token.address);
  const feeds = reserves.map(({ feed }) => feed);
  return aaveCreation("AaveOracle", {
    types: "address, address[], address[], address, address, uint256",
    args: [provider, assets, feeds, NO_ADDRESS, NO_ADDRESS, 10n ** 8n],
  });
}

/** The market with its reserves, by the owner. */
export function aaveMarket(aave: AaveDeployment): Transaction[] {
  const { owner, aclManager, oracle, dataProvider } = aave;
  const call = (to: Address, data: Hex): Transaction => ({ from: owner, to, data, gas: CREATION_GAS });
  const grant = (functionName: "addPoolAdmin" | "addEmergencyAdmin") =>
    call(aclManager, encodeFunctionData({ abi: aaveAclAbi, functionName, args: [owner] }));
  return [
    name(aave, "setACLManager", aclManager),
    grant("addPoolAdmin"),
    grant("addEmergencyAdmin"),
    name(aave, "setPriceOracle", oracle),
    name(aave, "setPoolDataProvider", dataProvider),
    call(aave.configurator, listing(aave)),
    ...aave.reserves.flatMap((reserve) => configuration(aave, reserve)),
  ];
}

function listing({ owner, implementations, reserves }: AaveDeployment): Hex {
  const inputs = reserves.map(({ token, strategy }) => ({
    aTokenImpl: implementations.AToken,
    stableDebtTokenImpl: implementations.StableDebtToken,
    variableDebtTokenImpl: implementations.VariableDebtToken,
    underlyingAssetDecimals: token.decimals,
    interestRateStrategyAddress: strategy,
    underlyingAsset: token.address,
    treasury: owner,
    incentivesController: NO_ADDRESS,
    aTokenName: `Aave Devnet ${token.symbol}`,
    aTokenSymbol: `aDev${token.symbol}`,
    variableDebtTokenName: `Aave Devnet Variable Debt ${token.symbol}`,
    variableDebtTokenSymbol: `variableDebtDev${token.symbol}`,
    stableDebtTokenName: `Aave Devnet Stable Debt ${token.symbol}`,
    stableDebtTokenSymbol: `stableDebtDev${token.symbol}`,
    params: "0x" as const,
  }));
  return encodeFunctionData({ abi: aaveConfiguratorAbi, functionName: "initReserves", args: [inputs] });
}

function configuration({ owner, configurator }: AaveDeployment, { token, spec }: AaveReserve): Transaction[] {
  const asset = token.address;
  const percent = (value: number) => BigInt(Math.round(value * 100));
  const set = (
    functionName: Parameters<typeof transactions.configure>[2]["functionName"],
    ...args: unknown[]
  ) => transactions.configure(owner, configurator, { functionName, args: [asset, ...args] });
  const { collateral } = spec;
  return [
    ...(spec.borrowable ? [set("setReserveBorrowing", true)] : []),
    ...(spec.stableRate ? [set("setReserveStableRateBorrowing", true)] : []),
    ...(collateral
      ? [
          set(
            "configureReserveAsCollateral",
            percent(collateral.ltv),
            percent(collateral.threshold),
            percent(100 + collateral.bonus),
          ),
          set("setLiquidationProtocolFee", percent(10)),
        ]
      : []),
    set("setReserveFactor", percent(spec.reserveFactor)),
    set("setSupplyCap", BigInt(spec.supplyCap)),
    set("setBorrowCap", BigInt(spec.borrowCap)),
  ];
}

/** What every user has in hand of each token, in USD; supplies and repayments come out of it. */
const FUNDS_USD = 20_000_000;

/** Funds, approvals, and what users supply. */
export function aaveSupplies({ pool, reserves, users }: AaveDeployment): Transaction[] {
  return users.flatMap((user, i) => {
    const funds = reserves.flatMap(({ token }) => [
      transactions.fund(user, token, raw(token, Math.round(FUNDS_USD / token.usd))),
      transactions.approve(user, token.address, pool),
    ]);
    const supplies = amountsOf(reserves, AAVE_USERS[i]?.supplies).map((order) =>
      transactions.supply(user, pool, order),
    );
    return [...funds, ...supplies];
  });
}

/** What they borrow, in a later block than all supplies. */
export function aaveBorrows({ pool, reserves, users }: AaveDeployment): Transaction[] {
  return users.flatMap((user, i) => {
    const spec = AAVE_USERS[i];
    return [
      ...amountsOf(reserves, spec?.borrows).map((order) => transactions.borrow(user, pool, order)),
      ...amountsOf(reserves, spec?.stableBorrows).map((order) =>
        transactions.borrow(user, pool, { ...order, mode: STABLE }),
      ),
    ];
  });
}

function amountsOf(reserves: readonly AaveReserve[], amounts: Partial<Record<TokenSymbol, number>> = {}) {
  return reserves.flatMap(({ token, spec }) => {
    const whole = amounts[spec.token];
    return whole === undefined ? [] : [{ asset: token.address, amount: raw(token, whole) }];
  });
}

function raw({ decimals }: DeployedToken, whole: number): bigint {
  return BigInt(whole) * 10n ** BigInt(decimals);
}

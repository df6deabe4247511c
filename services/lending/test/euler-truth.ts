import {
  type Abi,
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  createPublicClient,
  defineChain,
  formatUnits,
  http,
  maxUint136,
  parseAbi,
  parseAbiItem,
  zeroAddress,
} from "viem";
import {
  eulerEarnAbi,
  eulerPerspectiveAbi,
  eulerVaultAbi,
} from "../../../deploy/devnet/contracts/euler/abi.ts";
import type { EulerDeployment } from "../../../deploy/devnet/euler/plan.ts";
import { MULTICALL3 } from "../../../deploy/devnet/node/multicall.ts";
import type { Books } from "../protocols/euler-v2/accrual.ts";
import type { LendingRow, MarketRow, VaultMarketRow, VaultRow } from "../protocols/rows.ts";

/** What the rows of Euler's vaults should say, worked out from the contracts' own views at one block. */
export interface EulerTruth {
  /** Of the EVK vaults and EulerEarn vaults named, and of their pairs. */
  rows(query: { vaults: readonly Address[]; earn: readonly Address[] }, block: number): Promise<LendingRow[]>;
  /** What an EVK vault's books are at the end of a block, to the last digit. */
  books(vault: Address, block: number): Promise<BooksTruth>;
}

export interface BooksTruth extends Omit<Books, "rate" | "interestFee"> {
  readonly feesAssets: bigint;
}

const erc20Abi = parseAbi([
  "function symbol() view returns (string)",
  "function decimals() view returns (uint8)",
]);
const createEulerEarn = parseAbiItem(
  "event CreateEulerEarn(address indexed eulerEarn, address indexed caller, address initialOwner, uint256 initialTimelock, address indexed asset, string name, string symbol, bytes32 salt)",
);

type View = "view" | "pure";
type Read = <const A extends Abi, N extends ContractFunctionName<A, View>>(
  abi: A,
  address: string,
  call: { name: N; args?: ContractFunctionArgs<A, View, N> },
) => Promise<ContractFunctionReturnType<A, View, N, ContractFunctionArgs<A, View, N>>>;

/** Who may say that a vault is listed, and where EulerEarn vaults come from. */
export type EulerLists = Pick<EulerDeployment, "perspectives" | "earnFactory">;

export function createEulerTruth(url: string, { perspectives, earnFactory }: EulerLists): EulerTruth {
  const chain = defineChain({
    id: 8453,
    name: "devnet",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [url] } },
    contracts: { multicall3: { address: MULTICALL3 } },
  });
  const batch = { multicall: { batchSize: 1 << 20 } };
  const client = createPublicClient({ chain, transport: http(url), batch, cacheTime: 0 });

  const readerAt =
    (block: number): Read =>
    (abi, address, { name, args }) =>
      client.readContract({
        abi,
        address,
        functionName: name,
        args,
        blockNumber: BigInt(block),
      } as never) as never;

  return {
    async books(vault, block) {
      const read = readerAt(block);
      const [cash, shares, fees, debt, accumulator, feesAssets] = await Promise.all([
        read(eulerVaultAbi, vault, { name: "cash" }),
        read(eulerVaultAbi, vault, { name: "totalSupply" }),
        read(eulerVaultAbi, vault, { name: "accumulatedFees" }),
        read(eulerVaultAbi, vault, { name: "totalBorrowsExact" }),
        read(eulerVaultAbi, vault, { name: "interestAccumulator" }),
        read(eulerVaultAbi, vault, { name: "accumulatedFeesAssets" }),
      ]);
      return { cash, shares, fees, debt, accumulator, feesAssets };
    },
    async rows({ vaults, earn }, block) {
      const read = readerAt(block);
      const isListed = async (vault: Address, names: readonly (keyof typeof perspectives)[]) => {
        const call = { name: "isVerified", args: [vault] } as const;
        const lists = names.map((name) => read(eulerPerspectiveAbi, perspectives[name], call));
        return (await Promise.all(lists)).includes(true);
      };
      const evk = await Promise.all(
        vaults.map(async (address) => {
          // On the devnet, every escrow of the perspective is a listed vault's collateral.
          const listed = await isListed(address, ["governed", "ungoverned", "escrow"]);
          return evkTruth(address, { read, listed });
        }),
      );
      const known = new Map(evk.map((each) => [each.row.address, each]));
      const others = new Set(earn.map((address) => address.toLowerCase()));
      const earned = await Promise.all(
        earn.map(async (address) => {
          const [creation] = await client.getLogs({
            ...{ address: earnFactory, event: createEulerEarn, args: { eulerEarn: address } },
            ...{ fromBlock: 0n, toBlock: BigInt(block) },
          });
          const creator = creation?.args.caller?.toLowerCase();
          const listed = await isListed(address, ["eulerEarn"]);
          return earnTruth(address, { read, known, others, listed, creator });
        }),
      );
      return [...evk, ...earned].flatMap(({ row, pairs }) => [row, ...pairs]);
    },
  };
}

interface VaultTruth {
  readonly row: VaultRow;
  readonly pairs: readonly (MarketRow | VaultMarketRow)[];
  readonly raw: { readonly cash: bigint; readonly borrows: bigint; readonly assets: bigint };
  /** Raw assets by the EVK vault that they are lent by. */
  readonly holds: ReadonlyMap<string, bigint>;
  /** What it pays to its depositors in a year. */
  readonly pays: number | null;
}

async function evkTruth(
  vault: string,
  { read, listed }: { read: Read; listed: boolean },
): Promise<VaultTruth> {
  const view = <N extends ContractFunctionName<typeof eulerVaultAbi, View>>(
    name: N,
    args?: ContractFunctionArgs<typeof eulerVaultAbi, View, N>,
  ) => read(eulerVaultAbi, vault, args === undefined ? { name } : { name, args });
  const [asset, symbol, name, assets, borrows, cash] = await Promise.all([
    view("asset"),
    view("symbol"),
    view("name"),
    view("totalAssets"),
    view("totalBorrows"),
    view("cash"),
  ]);
  const [caps, [hookTarget, hooked], rate, fee, list, oracle] = await Promise.all([
    view("caps"),
    view("hookConfig"),
    view("interestRate"),
    view("interestFee"),
    view("LTVList"),
    view("oracle"),
  ]);
  const [governor, creator] = await Promise.all([view("governorAdmin"), view("creator")]);
  const token = await tokenTruth(asset, read);
  const units = (raw: bigint) => Number(formatUnits(raw, token.decimals));
  const [supplyCap, borrowCap] = caps.map(capTruth);
  const ltvs = await Promise.all(list.map((collateral) => view("LTVBorrow", [collateral])));
  const open = list.flatMap((collateral, i) =>
    ltvs[i] === 0 ? [] : [{ collateral, ltv: (ltvs[i] as number) / 1e4 }],
  );
  /** Of the operation, or of the status check that ends every one. */
  const disabled = (operation: number) =>
    hookTarget === zeroAddress && (hooked & (operation | (1 << 14))) !== 0;
  const borrowApy = yearTruth(rate);
  const utilizationRate = assets === 0n ? 0 : Number(borrows) / Number(assets);
  const headroom = borrowCap == null ? cash : borrowCap > borrows ? borrowCap - borrows : 0n;
  const shared = {
    protocolId: "euler-v2",
    supplyApy: assets === 0n ? 0 : ((borrowApy * Number(borrows)) / Number(assets)) * (1 - fee / 1e4),
    borrowApy,
    utilizationRate,
  } as const;
  const amounts = {
    supply: units(assets),
    borrow: units(borrows),
    available: units(disabled(1 << 2) ? 0n : cash),
  };
  const loan = { address: token.address, symbol: token.symbol };
  const cap = supplyCap == null ? null : units(supplyCap);
  const row: VaultRow = {
    table: "vault",
    address: vault.toLowerCase(),
    listed,
    curator: governor === zeroAddress ? null : governor.toLowerCase(),
    isOfCurator: governor !== zeroAddress && governor === creator,
    symbol,
    vaultName: name,
    underlying: loan,
    ...shared,
    ...amounts,
    supplyCap: cap,
    borrowCap: borrowCap == null ? null : units(borrowCap),
    performanceFee: 0,
    managementFee: 0,
    ltv: open.length === 0 ? null : Math.max(...open.map(({ ltv }) => ltv)),
    borrowable:
      !disabled(1 << 6) && open.length > 0 && smaller(headroom, cash) > 0n && oracle !== zeroAddress,
    depositEnabled: !disabled(1 << 0) && (await view("maxDeposit", [zeroAddress])) > 0n,
  };
  const pairs = await Promise.all(
    open.map(async ({ collateral, ltv }) => {
      const held = await tokenTruth(await read(eulerVaultAbi, collateral, { name: "asset" }), read);
      const pair = {
        marketId: `${row.address}:${collateral.toLowerCase()}`,
        loan,
        collateral: { address: held.address, symbol: held.symbol },
        ltv,
        ...shared,
      };
      const share = { allocation: amounts.supply, allocationShare: assets === 0n ? 0 : 1, supplyCap: cap };
      return [
        { table: "market", listed, ...pair, ...amounts } as const,
        { table: "vault-market", vaultAddress: row.address, ...pair, ...share } as const,
      ];
    }),
  );
  const raw = { cash: disabled(1 << 2) ? 0n : cash, borrows, assets };
  const holds = new Map([[row.address, assets]]);
  return { row, pairs: pairs.flat(), raw, holds, pays: row.supplyApy };
}

interface EarnContext {
  readonly read: Read;
  readonly known: ReadonlyMap<string, VaultTruth>;
  /** Earn vaults, which may be strategies of each other. */
  readonly others: ReadonlySet<string>;
  readonly listed: boolean;
  readonly creator: string | undefined;
}

async function earnTruth(vault: string, context: EarnContext): Promise<VaultTruth> {
  const { read, known, others, listed, creator } = context;
  const view = <N extends ContractFunctionName<typeof eulerEarnAbi, View>>(
    name: N,
    args?: ContractFunctionArgs<typeof eulerEarnAbi, View, N>,
  ) => read(eulerEarnAbi, vault, args === undefined ? { name } : { name, args });
  const [asset, symbol, name, total, curator, owner, fee] = await Promise.all([
    view("asset"),
    view("symbol"),
    view("name"),
    view("totalAssets"),
    view("curator"),
    view("owner"),
    view("fee"),
  ]);
  const [length, queueLength] = await Promise.all([view("withdrawQueueLength"), view("supplyQueueLength")]);
  const indexes = (count: bigint) => Array.from({ length: Number(count) }, (_, i) => BigInt(i));
  const queue = await Promise.all(indexes(length).map((i) => view("withdrawQueue", [i])));
  const supplyQueue = await Promise.all(indexes(queueLength).map((i) => view("supplyQueue", [i])));
  const token = await tokenTruth(asset, read);
  const units = (raw: bigint) => Number(formatUnits(raw, token.decimals));
  const strategies = await Promise.all(
    queue.map(async (id) => {
      const [assets, [, cap], liquid, most] = await Promise.all([
        view("expectedSupplyAssets", [id]),
        view("config", [id]),
        view("maxWithdrawFromStrategy", [id]),
        read(eulerVaultAbi, id, { name: "maxDeposit", args: [vault as Address] }),
      ]);
      const own = known.get(id.toLowerCase());
      const isEarn = own === undefined && others.has(id.toLowerCase());
      const evk = isEarn ? await earnTruth(id, context) : own;
      const free = cap > assets ? cap - assets : 0n;
      // maxDeposit() of an EVK vault does not know of the status check that refuses.
      const takes = evk?.row.depositEnabled === false ? 0n : smaller(free, most);
      return { assets, cap, liquid, isEarn, evk, room: supplyQueue.includes(id) ? takes : 0n };
    }),
  );
  const sum = (amount: (strategy: (typeof strategies)[number]) => bigint) =>
    strategies.reduce((all, each) => all + amount(each), 0n);
  const headroom = sum(({ room }) => room);
  const borrowed = sum(({ assets, evk }) =>
    evk && evk.raw.assets > 0n ? (assets * evk.raw.borrows) / evk.raw.assets : 0n,
  );
  const weighted = (rate: "supplyApy" | "borrowApy", over: bigint) => {
    if (strategies.some(({ assets, evk }) => assets > 0n && evk === undefined)) return null;
    const rateOf = (truth: VaultTruth) => (rate === "supplyApy" ? truth.pays : truth.row.borrowApy);
    const rates = strategies.map(({ assets, evk }) => ((evk && rateOf(evk)) ?? 0) * Number(assets));
    return over === 0n ? 0 : rates.reduce((all, each) => all + each, 0) / Number(over);
  };
  const ltvs = strategies.flatMap(({ evk }) => evk?.row.ltv ?? []);
  const available = sum(({ assets, evk, liquid }) => (evk ? smaller(assets, evk.raw.cash) : liquid));
  const row: VaultRow = {
    table: "vault",
    protocolId: "euler-v2",
    address: vault.toLowerCase(),
    listed,
    curator: (curator === zeroAddress ? owner : curator).toLowerCase(),
    isOfCurator: (curator === zeroAddress ? owner : curator).toLowerCase() === creator,
    symbol,
    vaultName: name,
    underlying: { address: token.address, symbol: token.symbol },
    supply: units(total),
    borrow: units(borrowed),
    available: units(available),
    // An EVK vault without a cap takes 2^112 − 1 less what it has.
    supplyCap: headroom > 2n ** 111n ? null : units(total + headroom),
    borrowCap: null,
    supplyApy: weighted("supplyApy", total),
    borrowApy: weighted(
      "borrowApy",
      sum(({ assets }) => assets),
    ),
    utilizationRate: total === 0n ? 0 : Number(borrowed) / Number(total),
    performanceFee: Number(formatUnits(fee, 18)),
    managementFee: 0,
    ltv: ltvs.length === 0 ? null : Math.max(...ltvs),
    borrowable: strategies.some(({ assets, evk }) => assets > 0n && evk?.row.borrowable === true),
    depositEnabled: headroom > 0n,
  };
  const holds = new Map<string, bigint>();
  const pairs = strategies.flatMap(({ assets, cap, evk, isEarn }) =>
    (evk?.pairs ?? []).flatMap((pair): VaultMarketRow[] => {
      if (pair.table !== "vault-market" || evk === undefined) return [];
      const lender = pair.marketId.split(":")[0] as string;
      const held = evk.raw.assets > 0n ? (assets * (evk.holds.get(lender) ?? 0n)) / evk.raw.assets : 0n;
      holds.set(lender, held);
      return [
        {
          ...pair,
          vaultAddress: row.address,
          allocation: units(held),
          allocationShare: total === 0n ? 0 : Number(held) / Number(total),
          supplyCap: isEarn ? pair.supplyCap : cap === maxUint136 ? null : units(cap),
        },
      ];
    }),
  );
  const raw = { cash: available, borrows: borrowed, assets: total };
  const pays = row.supplyApy === null ? null : row.supplyApy * (1 - row.performanceFee);
  return { row, pairs, raw, holds, pays };
}

async function tokenTruth(address: string, read: Read) {
  const [symbol, decimals] = await Promise.all([
    read(erc20Abi, address, { name: "symbol" }),
    read(erc20Abi, address, { name: "decimals" }),
  ]);
  return { address: address.toLowerCase(), symbol, decimals };
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function capTruth(raw: number): bigint | null {
  return raw === 0 ? null : (10n ** BigInt(raw % 64) * BigInt(Math.floor(raw / 64))) / 100n;
}

/** (1 + rate)^31,556,952 − 1 in 60 decimals: no float before the end. */
function yearTruth(rate: bigint): number {
  const one = 10n ** 60n;
  let base = one + rate * 10n ** 33n;
  let power = one;
  for (let left = 31_556_952; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) power = (power * base) / one;
    base = (base * base) / one;
  }
  return Number(power - one) / 1e60;
}

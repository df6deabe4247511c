import { decodeText, readAddress, readInt, readUint } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import type { ContractReader } from "../protocol.ts";
import { type Contract, contractAt } from "./calls.ts";
import { readToken, type Token } from "./evk-state.ts";

/** A vault that an aggregation vault deposits its asset into. */
export type AggregationStrategy = {
  readonly vault: string;
  /** False in an emergency: what is in it then counts as lost. */
  readonly isActive: boolean;
  /** Encoded as AmountCap. */
  readonly cap: number;
  readonly shares: bigint;
  /** At the block of the reading: the assets of the shares, and how much could be withdrawn. */
  readonly assets: bigint;
  readonly withdrawable: bigint;
};

/** An EulerEarn vault as it was before August 2025. */
export type AggregationState = {
  readonly asset: Token;
  readonly name: string;
  readonly symbol: string;
  /** The first account with the admin role; the zero address = none. */
  readonly admin: string;
  /** Share of the harvested yield, 18 decimals. */
  readonly fee: bigint;
  readonly totalSupply: bigint;
  /** Without the interest that is handed out since `lastUpdate`. */
  readonly deposited: bigint;
  /** Harvested yield that is not handed out yet: in a straight line from `lastUpdate` to `smearEnd` (Unix seconds). */
  readonly interestLeft: bigint;
  readonly lastUpdate: number;
  readonly smearEnd: number;
  /** Its balance of the asset at the block of the reading. */
  readonly cash: bigint;
  /** What a hook refused when the vault was read. */
  readonly refused: readonly Operation[];
  /** In the order of withdrawals. */
  readonly strategies: readonly AggregationStrategy[];
};

/** Operations that a hook may refuse. Source: EulerEarn of before August 2025, ConstantsLib. */
const OPERATIONS = { deposit: 1 << 0, withdraw: 1 << 1 };
type Operation = keyof typeof OPERATIONS;

const ADMIN_ROLE = 0;
/** IEulerEarn.StrategyStatus.Active. */
const ACTIVE = 1;

/**
 * Reads an aggregation vault. Rejects with UnreadableEntity, also where previewRedeem() of an active strategy reverts:
 * nothing can be withdrawn then.
 */
export async function readAggregation(
  vault: string,
  { reader, previous }: { reader: ContractReader; previous: AggregationState | undefined },
): Promise<AggregationState> {
  const contract = contractAt(reader, vault);
  const asset: Token = previous?.asset ?? (await readToken(await contract.address("asset()"), reader));
  const [name, symbol, admins, books, cash, refused, strategies] = await Promise.all([
    contract.tryCall("name()"),
    contract.tryCall("symbol()"),
    contract.addresses("getRoleMembers(bytes32)", [ADMIN_ROLE]),
    readBooks(contract),
    contractAt(reader, asset.address).uint("balanceOf(address)", [vault as Hex]),
    tryHooked(contract, reader),
    contract
      .addresses("withdrawalQueue()")
      .then((queue) => Promise.all(queue.map((id) => readStrategy(id, { holder: vault as Hex, reader })))),
  ]);
  return {
    asset,
    name: decodeText(name) ?? "",
    symbol: decodeText(symbol) ?? "",
    admin: admins[0] ?? `0x${"0".repeat(40)}`,
    ...books,
    cash,
    refused,
    strategies,
  };
}

async function readBooks(contract: Contract) {
  const [fee, totalSupply, deposited, interest] = await Promise.all([
    contract.read("performanceFeeConfig()", (data) => (readUint(data, 0) === 0n ? 0n : readUint(data, 1))),
    contract.uint("totalSupply()"),
    contract.uint("totalAssetsDeposited()"),
    contract.read("getEulerEarnSavingRate()", (data) => ({
      lastUpdate: readInt(data, 0),
      smearEnd: readInt(data, 1),
      interestLeft: readUint(data, 2),
    })),
  ]);
  return { fee, totalSupply, deposited, ...interest };
}

/** Tries the hooked operations, each of nothing: the vault asks its hook as always, but moves no tokens. */
async function tryHooked(contract: Contract, { caller }: ContractReader): Promise<Operation[]> {
  const { target, functions } = await contract.read("getHooksConfig()", (data) => ({
    target: BigInt(readAddress(data, 0)),
    functions: readInt(data, 1),
  }));
  if (target === 0n) return [];
  const attempts: Record<Operation, () => Promise<Hex | null>> = {
    deposit: () => contract.tryCall("deposit(uint256,address)", [0, caller]),
    withdraw: () => contract.tryCall("withdraw(uint256,address,address)", [0, caller, caller]),
  };
  const hooked = (Object.keys(OPERATIONS) as Operation[]).filter((each) => functions & OPERATIONS[each]);
  const results = await Promise.all(hooked.map((each) => attempts[each]()));
  return hooked.filter((_, i) => results[i] === null);
}

async function readStrategy(
  vault: string,
  { holder, reader }: { holder: Hex; reader: ContractReader },
): Promise<AggregationStrategy> {
  const strategy = contractAt(reader, vault);
  const [config, shares, withdrawable] = await Promise.all([
    contractAt(reader, holder).read("getStrategy(address)", decodeConfig, [vault as Hex]),
    strategy.uint("balanceOf(address)", [holder]),
    strategy.tryCall("maxWithdraw(address)", [holder]),
  ]);
  const assets = config.isActive ? await strategy.uint("previewRedeem(uint256)", [shares]) : 0n;
  return {
    ...{ vault, ...config, shares, assets },
    withdrawable: withdrawable !== null && withdrawable.length === 66 ? readUint(withdrawable, 0) : 0n,
  };
}

function decodeConfig(data: Hex) {
  // Words 0 and 1 are what was allocated at the last harvest, and the points.
  return { cap: readInt(data, 2), isActive: readInt(data, 3) === ACTIVE };
}

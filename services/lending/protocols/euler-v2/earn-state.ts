import { decodeText, readInt, readUint } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import type { ContractReader } from "../protocol.ts";
import { type Contract, contractAt } from "./calls.ts";
import { readToken, type Token } from "./evk-state.ts";

/** A vault that an EulerEarn vault deposits its asset into. */
export type Strategy = {
  readonly vault: string;
  /** Shares from the earn vault's own deposits; donated shares do not count. */
  readonly shares: bigint;
  /** Raw units of the asset; MAX_CAP = uncapped. */
  readonly cap: bigint;
  /** Unix seconds from which it may be removed with assets in it; 0 = no removal is pending. */
  readonly removableAt: number;
  /** At the block of the reading: the assets of the shares, how much could be withdrawn, how much could be deposited. */
  readonly assets: bigint;
  readonly withdrawable: bigint;
  readonly depositable: bigint;
};

export type EarnState = {
  readonly asset: Token;
  readonly name: string;
  readonly symbol: string;
  readonly owner: string;
  /** The zero address = none. */
  readonly curator: string;
  /** Share of the yield, 18 decimals. */
  readonly fee: bigint;
  readonly feeRecipient: string;
  readonly timelock: bigint;
  readonly totalSupply: bigint;
  /** As of the last accrual, including uncovered losses. */
  readonly lastTotalAssets: bigint;
  readonly lostAssets: bigint;
  /** Strategies that deposits go to, in order. */
  readonly supplyQueue: readonly string[];
  /** Every enabled strategy, in the order of withdrawals. */
  readonly strategies: readonly Strategy[];
};

/** EulerEarn's own limit is 30. */
const MAX_STRATEGIES = 100;

/** EulerEarn's cap of a strategy without a cap. */
export const MAX_CAP = (1n << 136n) - 1n;

/**
 * Reads an EulerEarn vault. Rejects with UnreadableEntity, also where a strategy's previewRedeem() reverts: the vault's
 * own totalAssets() reverts then.
 */
export async function readEarn(
  vault: string,
  { reader, previous }: { reader: ContractReader; previous: EarnState | undefined },
): Promise<EarnState> {
  const contract = contractAt(reader, vault);
  const [asset, name, symbol, roles, amounts, supplyQueue, strategies] = await Promise.all([
    previous?.asset ?? contract.address("asset()").then((address) => readToken(address, reader)),
    contract.tryCall("name()"),
    contract.tryCall("symbol()"),
    readRoles(contract),
    readAmounts(contract),
    readQueue(contract, "supplyQueue"),
    readQueue(contract, "withdrawQueue").then((queue) =>
      Promise.all(queue.map((id) => readStrategy(id, { earnVault: vault, reader }))),
    ),
  ]);
  return {
    asset,
    name: decodeText(name) ?? "",
    symbol: decodeText(symbol) ?? "",
    ...roles,
    ...amounts,
    supplyQueue,
    strategies,
  };
}

async function readRoles(contract: Contract) {
  const [owner, curator, feeRecipient] = await Promise.all([
    contract.address("owner()"),
    contract.address("curator()"),
    contract.address("feeRecipient()"),
  ]);
  return { owner, curator, feeRecipient };
}

async function readAmounts(contract: Contract) {
  const [fee, timelock, totalSupply, lastTotalAssets, lostAssets] = await Promise.all([
    contract.uint("fee()"),
    contract.uint("timelock()"),
    contract.uint("totalSupply()"),
    contract.uint("lastTotalAssets()"),
    contract.uint("lostAssets()"),
  ]);
  return { fee, timelock, totalSupply, lastTotalAssets, lostAssets };
}

async function readQueue(contract: Contract, queue: "supplyQueue" | "withdrawQueue"): Promise<string[]> {
  const length = await contract.count(`${queue}Length()`, MAX_STRATEGIES);
  return Promise.all(Array.from({ length }, (_, i) => contract.address(`${queue}(uint256)`, [i])));
}

async function readStrategy(
  vault: string,
  { earnVault, reader }: { earnVault: string; reader: ContractReader },
): Promise<Strategy> {
  const strategy = contractAt(reader, vault);
  const readLimit = async (getter: "maxWithdraw(address)" | "maxDeposit(address)") => {
    const data = await strategy.tryCall(getter, [earnVault as Hex]);
    return data !== null && data.length === 66 ? readUint(data, 0) : 0n;
  };
  const [config, withdrawable, depositable] = await Promise.all([
    contractAt(reader, earnVault).read("config(address)", decodeConfig, [vault as Hex]),
    readLimit("maxWithdraw(address)"),
    readLimit("maxDeposit(address)"),
  ]);
  const assets = await strategy.uint("previewRedeem(uint256)", [config.shares]);
  return { vault, ...config, assets, withdrawable, depositable };
}

function decodeConfig(data: Hex) {
  return {
    shares: readUint(data, 0),
    cap: readUint(data, 1),
    // Word 2 is `enabled`, true for every strategy of the withdraw queue.
    removableAt: readInt(data, 3),
  };
}

/** The curator, or the owner; null where both are the zero address. */
export function curatorOf({ curator, owner }: EarnState): string | null {
  return [curator, owner].find((account) => BigInt(account) !== 0n) ?? null;
}

import { decodeText, readInt, readUint } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import type { UnitReader } from "../protocol.ts";
import { type Contract, contractAt } from "./calls.ts";
import { readToken, type Token } from "./evk-state.ts";

/** A vault that an EulerEarn vault puts its asset into. */
export type Strategy = {
  readonly vault: string;
  /** Shares that came by the earn vault's own doing; those given to it do not count. */
  readonly shares: bigint;
  /** Raw units of the asset; MAX_CAP = none. */
  readonly cap: bigint;
  /** Unix seconds from which it may be taken out with what is in it; 0 = no such thing was asked for. */
  readonly removableAt: number;
  /** What the shares were worth at the block that was read, what of it could be had back, and what could be added. */
  readonly assets: bigint;
  readonly withdrawable: bigint;
  readonly depositable: bigint;
};

export type EarnState = {
  readonly asset: Token;
  readonly name: string;
  readonly symbol: string;
  readonly owner: string;
  /** Zero address = none. */
  readonly curator: string;
  /** Part of the yield, 18 decimals. */
  readonly fee: bigint;
  readonly feeRecipient: string;
  readonly timelock: bigint;
  readonly totalSupply: bigint;
  /** As of the last accrual, losses not made good included. */
  readonly lastTotalAssets: bigint;
  readonly lostAssets: bigint;
  /** Where deposits go. */
  readonly supplyQueue: readonly string[];
  /** Every strategy that is enabled, in the order in which withdrawals take from them. */
  readonly strategies: readonly Strategy[];
};

/** EulerEarn takes 30 itself. */
const MOST_STRATEGIES = 100;

/** What EulerEarn writes for a strategy that may take any amount. */
export const MAX_CAP = (1n << 136n) - 1n;

/**
 * Reads an EulerEarn vault whole. Rejects with UnreadableUnit, also where one of its strategies does not tell what it
 * holds: its own totalAssets() fails then.
 */
export async function readEarn(
  vault: string,
  { reader, previous }: { reader: UnitReader; previous: EarnState | undefined },
): Promise<EarnState> {
  const contract = contractAt(reader, vault);
  const [asset, name, symbol, roles, amounts, supplyQueue, strategies] = await Promise.all([
    previous?.asset ?? contract.address("asset()").then((address) => readToken(address, reader)),
    contract.ask("name()"),
    contract.ask("symbol()"),
    readRoles(contract),
    readAmounts(contract),
    readQueue(contract, "supplyQueue"),
    readQueue(contract, "withdrawQueue").then((queue) =>
      Promise.all(queue.map((id) => readStrategy(id, { of: vault, reader }))),
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
  const length = await contract.count(`${queue}Length()`, MOST_STRATEGIES);
  return Promise.all(Array.from({ length }, (_, i) => contract.address(`${queue}(uint256)`, [i])));
}

async function readStrategy(
  vault: string,
  { of, reader }: { of: string; reader: UnitReader },
): Promise<Strategy> {
  const strategy = contractAt(reader, vault);
  const ask = async (getter: "maxWithdraw(address)" | "maxDeposit(address)") => {
    const answer = await strategy.ask(getter, [of as Hex]);
    return answer !== null && answer.length === 66 ? readUint(answer, 0) : 0n;
  };
  const [config, withdrawable, depositable] = await Promise.all([
    contractAt(reader, of).read("config(address)", decodeConfig, [vault as Hex]),
    ask("maxWithdraw(address)"),
    ask("maxDeposit(address)"),
  ]);
  const assets = await strategy.uint("previewRedeem(uint256)", [config.shares]);
  return { vault, ...config, assets, withdrawable, depositable };
}

function decodeConfig(data: Hex) {
  return {
    shares: readUint(data, 0),
    cap: readUint(data, 1),
    // After `enabled`, which all strategies of the withdraw queue are.
    removableAt: readInt(data, 3),
  };
}

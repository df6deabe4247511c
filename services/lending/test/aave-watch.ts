import { expect } from "chai";
import { formatUnits, type Hex } from "viem";
import type { AaveReserveView } from "../../../deploy/devnet/aave/reader.ts";
import type { TestChain } from "../../../deploy/devnet/testkit.ts";
import type { RawLog } from "../../shared/evm/port.ts";
import { accrueReserve } from "../protocols/aave-v3/accrue.ts";
import { aaveV3 } from "../protocols/aave-v3/protocol.ts";
import { type AaveDeployment, type ReserveState, reserveRef } from "../protocols/aave-v3/state.ts";
import type { ContractReader, EntityRef } from "../protocols/protocol.ts";
import type { VaultRow } from "../protocols/rows.ts";
import { ProtocolUnits, plainReader } from "./read-protocol.ts";

/** The devnet's Aave as an ingest would follow it, held against the contracts' own views. */
export interface AaveWatch {
  readonly units: ProtocolUnits<AaveDeployment>;
  /** Every log so far. */
  readonly logs: readonly RawLog[];
  /** As it was read last. */
  stateOf(asset: Hex): ReserveState;
  /** Reads at the head. */
  reader(): Promise<ContractReader>;
  /**
   * Mines queued transactions, reads the affected entities (or all, as a refresh) and compares, without the
   * oracle's prices on request; returns the affected entities.
   */
  step(options?: { refresh?: boolean }): Promise<string[]>;
  /** Mines a block so much later and compares without reading anything. */
  pass(seconds: number): Promise<void>;
  /** Compares every column of every row at the head; returns the rows. */
  compare(): Promise<VaultRow[]>;
}

export async function watchAave(chain: TestChain): Promise<AaveWatch> {
  const { rpc } = chain.anvil;
  const { provider, pool } = chain.aave.deployment;
  const deployment = aaveV3.parseDeployment({ markets: [{ name: "Devnet", provider }] });
  const units = new ProtocolUnits({ protocol: aaveV3, deployment });
  const logs: RawLog[] = [];
  let heardTo = await chain.headNumber();
  const reader = async () => plainReader(rpc, await chain.headNumber());
  await units.readRoots(await reader());

  function stateOf(asset: Hex): ReserveState {
    const { kind, id } = reserveRef(pool, asset);
    const state = units.state<ReserveState>(kind, id);
    if (!state) throw new Error(`${id} is not known`);
    return state;
  }

  async function hearNew(): Promise<EntityRef[]> {
    const to = await chain.headNumber();
    const fresh = await logsBetween(chain, heardTo + 1, to);
    heardTo = to;
    logs.push(...fresh);
    return units.affectedEntities(fresh);
  }

  async function compare(): Promise<VaultRow[]> {
    const head = await chain.headNumber();
    const { timestamp: time } = await chain.header(head);
    const rows = units.rows({ chainId: chain.deployment.chainId, time }) as VaultRow[];
    const assets = await chain.aave.assets();
    const expected = await Promise.all(assets.map((asset) => rowOf(chain, asset)));
    const exact = ({ supplyApy: _, borrowApy: __, utilizationRate: ___, ...row }: VaultRow) => row;
    expect(rows.map(exact)).to.deep.equal(expected.map(exact));
    for (const [i, row] of rows.entries()) expectRates(row, expected[i] as VaultRow);
    for (const asset of assets) {
      const { supply, stableDebt, variableDebt } = await chain.aave.view(asset);
      const accrued = accrueReserve(stateOf(asset), time);
      expect([accrued.supply, accrued.debt]).to.deep.equal([supply, stableDebt + variableDebt]);
    }
    return rows;
  }

  const nameOf = ({ kind, id }: EntityRef): string => {
    if (kind === "aave-market") return "market";
    const asset = id.split(":")[1];
    const token = Object.values(chain.deployment.tokens).find(({ address }) => address === asset);
    return token?.symbol ?? id;
  };

  return {
    units,
    logs,
    reader,
    stateOf,
    compare,
    async step({ refresh = false } = {}) {
      await chain.mine(1, { intervalS: 12 });
      const touched = await hearNew();
      await (refresh ? units.readRoots(await reader()) : units.read(touched, await reader()));
      if (refresh) await units.read(everyReserve(units), await reader());
      await compare();
      return touched.map(nameOf).sort();
    },
    async pass(seconds) {
      await chain.mine(1, { intervalS: seconds });
      await compare();
    },
  };
}

function everyReserve(units: ProtocolUnits<AaveDeployment>): EntityRef[] {
  return [...units.table.all("aave-reserve")].map(({ kind, id }) => ({ kind, id }));
}

async function logsBetween(chain: TestChain, from: number, to: number): Promise<RawLog[]> {
  if (to < from) return [];
  const found = await chain.client.getLogs({ fromBlock: BigInt(from), toBlock: BigInt(to) });
  return found
    .filter(({ topics }) => aaveV3.topics.includes(topics[0] as Hex))
    .map(({ address, topics, data, ...log }) => ({
      address: address.toLowerCase() as Hex,
      topics,
      data,
      blockNumber: Number(log.blockNumber),
      blockHash: log.blockHash,
      transactionHash: log.transactionHash,
      transactionIndex: log.transactionIndex,
      logIndex: log.logIndex,
    }));
}

/** The row by the protocol's data provider and tokens. */
async function rowOf(chain: TestChain, asset: Hex): Promise<VaultRow> {
  const view = await chain.aave.view(asset);
  const inTokens = (raw: bigint) => Number(formatUnits(raw, view.decimals));
  const debt = view.stableDebt + view.variableDebt;
  const { isActive, isFrozen, isPaused, isBorrowingEnabled } = view;
  return {
    table: "vault",
    protocolId: "aave-v3",
    address: chain.aave.deployment.pool,
    listed: true,
    curator: null,
    isOfCurator: false,
    symbol: view.symbol,
    vaultName: view.name,
    underlying: { address: asset, symbol: view.underlyingSymbol },
    supply: inTokens(view.supply),
    borrow: inTokens(debt),
    available: isActive && !isPaused ? inTokens(view.liquidity) : 0,
    supplyCap: view.supplyCap === 0n ? null : Number(view.supplyCap),
    borrowCap: view.borrowCap === 0n ? null : Number(view.borrowCap),
    supplyApy: yieldOf(view.liquidityRate),
    borrowApy: yieldOf(view.variableBorrowRate),
    utilizationRate: debt === 0n ? 0 : Number(formatUnits((debt * 10n ** 18n) / (debt + view.liquidity), 18)),
    performanceFee: 0,
    managementFee: 0,
    ltv: view.canBeCollateral ? Number(view.ltv) / 10_000 : null,
    borrowable: isActive && !isFrozen && !isPaused && isBorrowingEnabled && canLend(view, debt),
    depositEnabled: await chain.aave.acceptsSupply(asset),
  };
}

function canLend({ borrowCap, decimals, liquidity }: AaveReserveView, debt: bigint): boolean {
  return liquidity > 0n && (borrowCap === 0n || borrowCap * 10n ** BigInt(decimals) > debt);
}

function expectRates(row: VaultRow, expected: VaultRow): void {
  for (const column of ["supplyApy", "borrowApy", "utilizationRate"] as const) {
    const [is, should] = [row[column] as number, expected[column] as number];
    expect(is, `${column} of ${row.symbol}`).to.be.closeTo(should, Math.abs(should) * 1e-9);
  }
}

/** (1 + rate / 1e27 / 31,536,000)^31,536,000 − 1 with sixty decimals. */
function yieldOf(rate: bigint): number {
  const one = 10n ** 60n;
  let power = one + (rate * 10n ** 33n) / 31_536_000n;
  let result = one;
  for (let left = 31_536_000; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = (result * power) / one;
    power = (power * power) / one;
  }
  return Number(formatUnits(result - one, 60));
}

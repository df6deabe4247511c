import { expect } from "chai";
import { decodeEventLog, type Hex } from "viem";
import {
  eulerEarnAbi,
  eulerEarnFactoryAbi,
  eulerFactoryAbi,
  eulerPerspectiveAbi,
  eulerVaultAbi,
} from "../../../deploy/devnet/contracts/euler/abi.ts";
import {
  eulerAggregationFactory,
  eulerAggregationVault,
} from "../../../deploy/devnet/contracts/euler/more-artifacts.ts";
import { deploymentsDocument } from "../../../deploy/devnet/deployments-file.ts";
import { onVault } from "../../../deploy/devnet/euler/transactions.ts";
import type { Address, Transaction } from "../../../deploy/devnet/node/transactions.ts";
import type { TestChain } from "../../../deploy/devnet/testkit.ts";
import type { RawLog } from "../../shared/evm/port.ts";
import { accrue, toAssets } from "../protocols/euler-v2/accrual.ts";
import type { EulerDeployment } from "../protocols/euler-v2/deployment.ts";
import type { EarnState } from "../protocols/euler-v2/earn-state.ts";
import type { EvkState } from "../protocols/euler-v2/evk-state.ts";
import { eulerV2 } from "../protocols/euler-v2/protocol.ts";
import type { ContractReader, EntityRef } from "../protocols/protocol.ts";
import type { LendingRow, VaultRow } from "../protocols/rows.ts";
import { createEulerTruth, type EulerTruth } from "./euler-truth.ts";
import { ProtocolUnits, plainReader } from "./read-protocol.ts";

interface LogAnswer {
  readonly address: Hex;
  readonly topics: Hex[];
  readonly data: Hex;
  readonly blockNumber: Hex;
  readonly blockHash: Hex;
  readonly transactionHash: Hex;
  readonly transactionIndex: Hex;
  readonly logIndex: Hex;
}

/** Euler's entities on a test chain: follows each block as an ingest, and compares rows with the contracts. */
export class EulerWatch {
  readonly units: ProtocolUnits<EulerDeployment>;
  /** Names of the requested events of the last block, whether or not they affect an entity. */
  events: string[] = [];
  readonly #chain: TestChain;
  readonly #deployment: EulerDeployment;
  readonly #truth: EulerTruth;

  /** @param more contracts that the devnet itself does not have */
  constructor(chain: TestChain, more: Partial<EulerDeployment> = {}) {
    this.#chain = chain;
    // As from the file that the devnet writes.
    const [written] = deploymentsDocument(chain.deployment).lending.chains;
    const section = { ...(written?.protocols["euler-v2"] as object), ...more };
    this.#deployment = eulerV2.parseDeployment(section) as EulerDeployment;
    this.units = new ProtocolUnits({ protocol: eulerV2, deployment: this.#deployment });
    this.#truth = createEulerTruth(chain.url, chain.euler.deployment);
  }

  get deployment(): EulerDeployment {
    return this.#deployment;
  }

  async reader(): Promise<ContractReader> {
    return plainReader(this.#chain.anvil.rpc, await this.#chain.headNumber());
  }

  /** Reads all entities at the head except the unreadable vault, whose error is returned. */
  async start(): Promise<unknown> {
    const { brokenVault: id } = this.#chain.euler.deployment;
    const reader = await this.reader();
    const refused = await this.units.read([{ kind: "evk-vault", id }], reader).catch((error) => error);
    await this.units.readRoots(reader);
    await this.#scan();
    return refused;
  }

  /** Follows the transactions, reads the affected entities, and compares everything with the contracts. */
  async act(...transactions: Transaction[]): Promise<EntityRef[]> {
    const touched = await this.mine(transactions);
    await this.compare();
    return touched;
  }

  /** A vault that is poked is as stored then: what is read of it in the same block is not accrued yet. */
  poke(vault: Address): Transaction {
    return onVault(this.#chain.euler.deployment.supplier, vault, { functionName: "touch", args: [] });
  }

  async rowOf(address: string): Promise<VaultRow | undefined> {
    const rows = await this.rows();
    return rows.find((row): row is VaultRow => row.table === "vault" && row.address === address);
  }

  /** Takes in past logs as the scans want them, and reads what they name. */
  async #scan(): Promise<void> {
    const head = await this.#chain.headNumber();
    const found: EntityRef[] = [];
    for (const { addresses, topics, fromBlock } of eulerV2.scans(this.#deployment)) {
      const filter = { address: addresses, topics: [topics], ...range(fromBlock, head) };
      found.push(...this.units.affectedEntities(await this.#logs(filter)));
    }
    await this.units.read(found, await this.reader());
  }

  /** Mines the transactions into one block, which must not fail, and follows it. */
  async mine(transactions: readonly Transaction[]): Promise<EntityRef[]> {
    const hashes = await this.#chain.sendTransactions(transactions);
    const block = await this.#chain.mine();
    for (const hash of hashes) {
      const { status } = await this.#chain.client.getTransactionReceipt({ hash });
      expect(status, `transaction ${hashes.indexOf(hash)}`).to.equal("success");
    }
    return this.follow(block);
  }

  /** Reads the entities that the newest block affects; returns them. */
  async follow(block: number): Promise<EntityRef[]> {
    const logs = await this.#logs({ topics: [eulerV2.topics], ...range(block, block) });
    this.events = logs.map(({ topics, data }) => eventName(topics, data));
    const touched = this.units.affectedEntities(logs);
    await this.units.read(touched, await this.reader());
    return touched;
  }

  /** An empty block so much later; nothing is read. */
  async wait(seconds: number): Promise<void> {
    await this.#chain.anvil.rpc.call("evm_mine", [{ timestamp: (await this.time()) + seconds, blocks: 1 }]);
  }

  async time(): Promise<number> {
    return (await this.#chain.header(await this.#chain.headNumber())).timestamp;
  }

  async rows(): Promise<LendingRow[]> {
    return this.units.rows({ chainId: 8453, time: await this.time() });
  }

  evkState(id: string): EvkState {
    return stateOf(this.units.table.get<EvkState>("evk-vault", id));
  }

  earnState(id: string): EarnState {
    return stateOf(this.units.table.get<EarnState>("earn-vault", id));
  }

  /** What the EVK vaults that are known hold at the head, by their contracts. */
  async supplies(): Promise<number[]> {
    const vaults = [...this.units.table.all("evk-vault")].map(({ id }) => id as Address);
    const rows = await this.#truth.rows({ vaults, earn: [] }, await this.#chain.headNumber());
    return rows.flatMap((row) => (row.table === "vault" && row.supply > 0 ? [row.supply] : []));
  }

  /** Compares every column of every row with the contracts at the head: amounts to the raw unit, rates to a billionth. */
  async compare(allowed: Allowed = { unitsOff: 0, earnOff: 0 }): Promise<void> {
    const { table } = this.units;
    const ids = (kind: string) => [...table.all(kind)].map(({ id }) => id as Address);
    const query = { vaults: ids("evk-vault"), earn: ids("earn-vault") };
    const [rows, expected] = await Promise.all([
      this.rows(),
      this.#truth.rows(query, await this.#chain.headNumber()),
    ]);
    expect(rows.map(keyOf)).to.have.members(expected.map(keyOf));
    const byKey = new Map(rows.map((row) => [keyOf(row), row]));
    for (const truth of expected) sameRow(byKey.get(keyOf(truth)) as LendingRow, { truth, allowed });
  }

  /** The books of every EVK vault, accrued from where they were read, against the contracts at the head: to the last digit. */
  async compareBooks(): Promise<void> {
    const [head, time] = [await this.#chain.headNumber(), await this.time()];
    for (const unit of this.units.table.all<EvkState>("evk-vault")) {
      const { rate, interestFee, ...books } = accrue(unit.state.books, time - unit.time);
      const truth = await this.#truth.books(unit.id as Address, head);
      expect({ ...books, feesAssets: toAssets(books, books.fees) }, unit.id).to.deep.equal(truth);
      expect([rate, interestFee]).to.deep.equal([unit.state.books.rate, unit.state.books.interestFee]);
    }
  }

  /** The same for the rows of one EVK vault. */
  async compareVault(address: Address): Promise<void> {
    const expected = await this.#truth.rows({ vaults: [address], earn: [] }, await this.#chain.headNumber());
    const byKey = new Map((await this.rows()).map((row) => [keyOf(row), row]));
    const allowed = { unitsOff: 0, earnOff: 0 };
    for (const truth of expected) sameRow(byKey.get(keyOf(truth)) as LendingRow, { truth, allowed });
  }

  async #logs(filter: object): Promise<RawLog[]> {
    const answers = await this.#chain.anvil.rpc.call<LogAnswer[]>("eth_getLogs", [filter]);
    return answers.map(({ address, topics, data, blockHash, transactionHash, ...numbers }) => ({
      ...{ address, topics, data, blockHash, transactionHash },
      blockNumber: Number(numbers.blockNumber),
      transactionIndex: Number(numbers.transactionIndex),
      logIndex: Number(numbers.logIndex),
    }));
  }
}

function range(fromBlock: number, toBlock: number) {
  return { fromBlock: `0x${fromBlock.toString(16)}`, toBlock: `0x${toBlock.toString(16)}` };
}

function eventName(topics: readonly Hex[], data: Hex): string {
  const abi = [
    ...eulerFactoryAbi,
    ...eulerVaultAbi,
    ...eulerEarnFactoryAbi,
    ...eulerEarnAbi,
    ...eulerPerspectiveAbi,
    ...eulerAggregationFactory.abi,
    ...eulerAggregationVault.abi,
  ];
  return decodeEventLog({ abi, topics: topics as [Hex], data }).eventName;
}

function stateOf<S>(unit: { state: S } | undefined): S {
  if (unit === undefined) throw new Error("No such unit was read");
  return unit.state;
}

function keyOf(row: LendingRow): string {
  if (row.table === "vault") return `vault ${row.address}`;
  return row.table === "market" ? `market ${row.marketId}` : `${row.vaultAddress} in ${row.marketId}`;
}

/** The tolerance of rows whose states were read between events. */
interface Allowed {
  /** In raw units of the token, for any amount. */
  readonly unitsOff: number;
  /** As a part of an earn vault's amounts and rates. */
  readonly earnOff: number;
}

const RATES = new Set(["supplyApy", "borrowApy", "utilizationRate", "allocationShare"]);
const AMOUNTS = new Set(["supply", "borrow", "available", "allocation", "supplyCap"]);

function sameRow(row: LendingRow, { truth, allowed }: { truth: LendingRow; allowed: Allowed }): void {
  expect(Object.keys(row), keyOf(row)).to.have.members(Object.keys(truth));
  const decimals = { USDC: 6, WBTC: 8 }[tokenOf(truth)] ?? 18;
  const units = allowed.unitsOff * 10 ** -decimals;
  for (const [column, expected] of Object.entries(truth)) {
    const value = row[column as keyof LendingRow] as unknown;
    const what = `${column} of ${keyOf(row)}`;
    if (typeof expected === "number" && RATES.has(column))
      expect(value, what).to.be.closeTo(expected, Math.abs(expected) * (1e-9 + allowed.earnOff));
    else if (typeof expected === "number" && AMOUNTS.has(column) && units > 0) {
      const part = isOfEarn(truth) ? allowed.earnOff : 2 ** -52;
      expect(value, what).to.be.closeTo(expected, units * 1.01 + expected * part);
    } else expect(value, what).to.deep.equal(expected);
  }
}

function isOfEarn(row: LendingRow): boolean {
  if (row.table === "vault") return !row.symbol.startsWith("e");
  return row.table === "vault-market" && !row.marketId.startsWith(row.vaultAddress);
}

function tokenOf(row: LendingRow): string {
  return row.table === "vault" ? row.underlying.symbol : row.loan.symbol;
}

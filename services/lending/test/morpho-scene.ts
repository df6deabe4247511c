import { expect } from "chai";
import type { Hex } from "viem";
import { deploymentsDocument } from "../../../deploy/devnet/deployments-file.ts";
import type { MorphoMarketName, MorphoVaultName } from "../../../deploy/devnet/morpho/market.ts";
import type { MorphoMarket, MorphoVault } from "../../../deploy/devnet/morpho/plan.ts";
import type { MorphoKit } from "../../../deploy/devnet/morpho/testkit.ts";
import type { TestChain } from "../../../deploy/devnet/testkit.ts";
import type { RawLog } from "../../shared/evm/port.ts";
import type { MorphoDeployment } from "../protocols/morpho-v1/deployment.ts";
import { morphoV1 } from "../protocols/morpho-v1/protocol.ts";
import type { VaultMarket, VaultState } from "../protocols/morpho-v1/state.ts";
import type { EntityRef } from "../protocols/protocol.ts";
import type { LendingRow, MarketRow, VaultRow } from "../protocols/rows.ts";
import { expectRows } from "./compare-rows.ts";
import { morphoTruth } from "./morpho-truth.ts";
import { ProtocolUnits, plainReader } from "./read-protocol.ts";

/** Morpho on a chain, and its entities as of an ingest that reads only affected entities. */
export interface MorphoScene {
  readonly kit: MorphoKit;
  readonly deployment: MorphoDeployment;
  readonly units: ProtocolUnits<MorphoDeployment>;
  market(name: MorphoMarketName): MorphoMarket;
  vault(name: MorphoVaultName): MorphoVault;
  /** Mines what is queued `intervalS` after the last block, all of which must succeed; returns the read entities. */
  settle(hashes: readonly Hex[], options?: { intervalS?: number }): Promise<string[]>;
  /** Holds every cell of every row at the head against the contracts. */
  expectTruth(): Promise<void>;
  /** Rows at the head. */
  rows(): Promise<LendingRow[]>;
  marketRow(name: MorphoMarketName): Promise<MarketRow>;
  vaultRow(name: MorphoVaultName): Promise<VaultRow>;
  vaultState(name: MorphoVaultName): VaultState;
  /** What a vault's state says of a market in its withdraw queue. */
  marketOf(vault: MorphoVaultName, market: MorphoMarketName): VaultMarket | undefined;
  /** Every log of the protocol's topics in blocks, of any contract. */
  logs(fromBlock: number): Promise<RawLog[]>;
}

/** How `settle` names an entity. */
export const nameOf = ({ kind, id }: EntityRef) => `${kind} ${id}`;

export function createMorphoScene(chain: TestChain): MorphoScene {
  const kit = chain.morpho;
  const [of8453] = deploymentsDocument(chain.deployment).lending.chains;
  const deployment = morphoV1.parseDeployment(of8453?.protocols["morpho-v1"]);
  const units = new ProtocolUnits({ protocol: morphoV1, deployment });
  let heardTo = 0;

  const vault: MorphoScene["vault"] = (name) => kit.deployment.vaults[name];
  const market: MorphoScene["market"] = (name) => kit.deployment.markets[name];
  const logs: MorphoScene["logs"] = async (fromBlock) => {
    const filter = { fromBlock: `0x${fromBlock.toString(16)}`, toBlock: "latest", topics: [morphoV1.topics] };
    return chain.anvil.rpc.call<RawLog[]>("eth_getLogs", [filter]);
  };
  const rows: MorphoScene["rows"] = async () => {
    const { timestamp } = await chain.header(await chain.headNumber());
    return units.rows({ chainId: 8453, time: timestamp });
  };
  const vaultState: MorphoScene["vaultState"] = (name) =>
    units.table.get<VaultState>("metamorpho-vault", vault(name).address)?.state as VaultState;

  return {
    kit,
    deployment,
    units,
    market,
    vault,
    logs,
    rows,
    vaultState,
    async settle(hashes, { intervalS = 12 } = {}) {
      const block = await chain.mine(1, { intervalS });
      for (const hash of hashes)
        expect((await chain.client.getTransactionReceipt({ hash })).status, hash).to.equal("success");
      const touched = units.affectedEntities(await logs(heardTo));
      heardTo = block + 1;
      await units.read(touched, await plainReader(chain.anvil.rpc, block));
      return touched.map(nameOf).sort();
    },
    async expectTruth() {
      expectRows(await rows(), await morphoTruth(chain, { block: await chain.headNumber() }));
    },
    async marketRow(name) {
      const isIt = (row: LendingRow): row is MarketRow =>
        row.table === "market" && row.marketId === market(name).id;
      return (await rows()).find(isIt) as MarketRow;
    },
    async vaultRow(name) {
      const isIt = (row: LendingRow): row is VaultRow =>
        row.table === "vault" && row.address === vault(name).address;
      return (await rows()).find(isIt) as VaultRow;
    },
    marketOf: (name, key) => vaultState(name).markets.find(({ id }) => id === market(key).id),
  };
}

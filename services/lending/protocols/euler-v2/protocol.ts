import type { Hex } from "../../../shared/evm/port.ts";
import type {
  ContractReader,
  DiscoveryScan,
  EntityReading,
  EntityRef,
  LendingProtocol,
} from "../protocol.ts";
import { affectedEulerEntities, CREATE_EULER_EARN, EULER_TOPICS } from "./affected-entities.ts";
import { DEPLOY_EULER_EARN } from "./aggregation-events.ts";
import { type AggregationState, readAggregation } from "./aggregation-state.ts";
import { contractAt } from "./calls.ts";
import { type EulerDeployment, parseEulerDeployment } from "./deployment.ts";
import { type EarnState, readEarn } from "./earn-state.ts";
import {
  AGGREGATION_VAULT,
  EARN_CREATION,
  EARN_VAULT,
  EVK_FACTORY,
  EVK_VAULT,
  PERSPECTIVE,
} from "./entity-kinds.ts";
import { type EvkState, readEvk } from "./evk-state.ts";
import { perspectivesOf, readPerspective } from "./listing.ts";
import { eulerRows } from "./rows.ts";

/** Addresses of the factory's list per call. */
const LIST_PAGE = 500;
/** A longer list means that the contract is not a vault factory: Ethereum's has some hundred vaults. */
const MAX_VAULTS = 1_000_000;

/** Euler v2: the vaults of the Euler Vault Kit, and those of EulerEarn, which deposit into them. */
export const eulerV2: LendingProtocol<EulerDeployment> = {
  id: "euler-v2",
  kinds: [EVK_FACTORY, PERSPECTIVE, EVK_VAULT, EARN_VAULT, AGGREGATION_VAULT, EARN_CREATION],
  topics: EULER_TOPICS,
  parseDeployment: parseEulerDeployment,
  roots: (deployment) => [
    { kind: EVK_FACTORY, id: deployment.eVaultFactory },
    ...perspectivesOf(deployment).map((id) => ({ kind: PERSPECTIVE, id })),
  ],
  scans: ({ eulerEarnFactories, aggregationFactories = [] }) => [
    ...eulerEarnFactories.map((factory) => scanOf(factory, CREATE_EULER_EARN)),
    ...aggregationFactories.map((factory) => scanOf(factory, DEPLOY_EULER_EARN)),
  ],
  affectedEntities: affectedEulerEntities,
  entitiesOf: ({ id }, { entities }) => {
    // A market is a pair of a vault and a collateral, with the vault's rates.
    const [vault = ""] = id.split(":");
    const addresses = new Set([vault]);
    // Grows while it is read: strategies may be vaults with strategies.
    for (const address of addresses)
      for (const kind of [EARN_VAULT, AGGREGATION_VAULT]) {
        const state = entities.get<EarnState | AggregationState>(kind, address)?.state;
        for (const strategy of state?.strategies ?? []) addresses.add(strategy.vault);
      }
    return [...addresses].flatMap((address) =>
      [EVK_VAULT, EARN_VAULT, AGGREGATION_VAULT].map((kind) => ({ kind, id: address })),
    );
  },
  async read({ kind, id }, { reader, previous }): Promise<EntityReading> {
    // The states of a kind are written by its own reader alone.
    if (kind === EVK_VAULT)
      return { state: await readEvk(id, { reader, previous: previous as EvkState | undefined }) };
    if (kind === EARN_VAULT)
      return { state: await readEarn(id, { reader, previous: previous as EarnState | undefined }) };
    if (kind === AGGREGATION_VAULT)
      return {
        state: await readAggregation(id, { reader, previous: previous as AggregationState | undefined }),
      };
    if (kind === PERSPECTIVE) return readPerspective(id, reader);
    // That it happened is all there is.
    if (kind === EARN_CREATION) return { state: true };
    return readFactory(id, reader);
  },
  rows: eulerRows,
};

function scanOf({ address, fromBlock }: { address: Hex; fromBlock: number }, topic: Hex): DiscoveryScan {
  const name = `euler-v2 earn vaults and creators of ${address}`;
  return { name, addresses: [address], topics: [topic], fromBlock };
}

/** Reads the factory's whole list each time: a reorg may have removed vaults from it. */
async function readFactory(id: string, reader: ContractReader): Promise<EntityReading<{ vaults: number }>> {
  const factory = contractAt(reader, id);
  const vaults = await factory.count("getProxyListLength()", MAX_VAULTS);
  const pages = Array.from({ length: Math.ceil(vaults / LIST_PAGE) }, async (_, page) => {
    const start = page * LIST_PAGE;
    const end = Math.min(start + LIST_PAGE, vaults);
    const list = await factory.addresses("getProxyListSlice(uint256,uint256)", [start, end]);
    return list.map((vault): EntityRef => ({ kind: EVK_VAULT, id: vault }));
  });
  return { state: { vaults }, references: (await Promise.all(pages)).flat() };
}

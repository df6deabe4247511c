import type { LendingProtocol, UnitReader, UnitReading, UnitRef } from "../protocol.ts";
import { contractAt } from "./calls.ts";
import { type EulerDeployment, parseEulerDeployment } from "./deployment.ts";
import { type EarnState, readEarn } from "./earn-state.ts";
import { type EvkState, readEvk } from "./evk-state.ts";
import { CREATE_EULER_EARN, hearEuler, TOPICS } from "./hear.ts";
import { eulerRows } from "./rows.ts";
import { EARN_VAULT, EVK_FACTORY, EVK_VAULT } from "./units.ts";

/** How many addresses of the factory's list are asked for at once. */
const LIST_PAGE = 500;
/** More would be no factory of vaults: Ethereum's made some hundred in its first years. */
const MOST_VAULTS = 1_000_000;

/** Euler v2: the vaults of the Euler Vault Kit, and EulerEarn's, which put what they get into those. */
export const eulerV2: LendingProtocol<EulerDeployment> = {
  id: "euler-v2",
  kinds: [EVK_FACTORY, EVK_VAULT, EARN_VAULT],
  topics: TOPICS,
  parseDeployment: parseEulerDeployment,
  roots: ({ eVaultFactory }) => [{ kind: EVK_FACTORY, id: eVaultFactory }],
  scans: ({ eulerEarnFactories }) =>
    eulerEarnFactories.map(({ address, fromBlock }) => ({
      name: `euler-v2 earn vaults of ${address}`,
      addresses: [address],
      topics: [CREATE_EULER_EARN],
      fromBlock,
    })),
  hear: hearEuler,
  async read({ kind, id }, { reader, previous }): Promise<UnitReading> {
    // A kind's states are written by its own reader alone.
    if (kind === EVK_VAULT)
      return { state: await readEvk(id, { reader, previous: previous as EvkState | undefined }) };
    if (kind === EARN_VAULT)
      return { state: await readEarn(id, { reader, previous: previous as EarnState | undefined }) };
    return readFactory(id, reader);
  },
  rows: (units, { time }) => eulerRows(units, time),
};

/** All that the factory lists, each time: what a reorg took from the list is not there by mistake. */
async function readFactory(id: string, reader: UnitReader): Promise<UnitReading<{ vaults: number }>> {
  const factory = contractAt(reader, id);
  const vaults = await factory.count("getProxyListLength()", MOST_VAULTS);
  const pages = Array.from({ length: Math.ceil(vaults / LIST_PAGE) }, async (_, page) => {
    const start = page * LIST_PAGE;
    const end = Math.min(start + LIST_PAGE, vaults);
    const list = await factory.addresses("getProxyListSlice(uint256,uint256)", [start, end]);
    return list.map((vault): UnitRef => ({ kind: EVK_VAULT, id: vault }));
  });
  return { state: { vaults }, found: (await Promise.all(pages)).flat() };
}

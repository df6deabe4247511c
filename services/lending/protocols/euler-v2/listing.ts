import type { ContractReader, EntityReading, EntitySet } from "../protocol.ts";
import { contractAt } from "./calls.ts";
import type { EulerDeployment } from "./deployment.ts";
import { EVK_VAULT, PERSPECTIVE } from "./entity-kinds.ts";
import type { EvkState } from "./evk-state.ts";

export type PerspectiveState = { readonly vaults: readonly string[] };

/** Every perspective of a deployment. */
export function perspectivesOf({ perspectives }: EulerDeployment): readonly string[] {
  if (perspectives === undefined) return [];
  const { governed, ungoverned, escrow, eulerEarn } = perspectives;
  return [governed, ...ungoverned, escrow, eulerEarn];
}

/** Reads a perspective's whole list each time: vaults leave it, too. */
export async function readPerspective(
  id: string,
  reader: ContractReader,
): Promise<EntityReading<PerspectiveState>> {
  const vaults = await contractAt(reader, id).addresses("verifiedArray()");
  return { state: { vaults: vaults.sort() } };
}

/**
 * The vaults that Euler's perspectives list. Anybody may add an escrow of any token to its perspective: one counts from
 * when a vault of the other perspectives accepts it as collateral.
 */
export function listedVaults(entities: EntitySet, { perspectives }: EulerDeployment): ReadonlySet<string> {
  if (perspectives === undefined) return new Set();
  const vaultsOf = (perspective: string) =>
    entities.get<PerspectiveState>(PERSPECTIVE, perspective)?.state.vaults ?? [];
  const { governed, ungoverned, escrow, eulerEarn } = perspectives;
  const lending = new Set([governed, ...ungoverned].flatMap(vaultsOf));
  const accepted = new Set(
    [...lending].flatMap((vault) =>
      (entities.get<EvkState>(EVK_VAULT, vault)?.state.collaterals ?? []).map((each) => each.vault),
    ),
  );
  const escrows = vaultsOf(escrow).filter((vault) => accepted.has(vault));
  return new Set([...lending, ...escrows, ...vaultsOf(eulerEarn)]);
}

import { sortable } from "../../shared/contract/define.ts";
import { curatorColumns, listedColumn, protocolColumns, updatedAtColumn } from "./columns.ts";

/** Which vaults are a curator's: anybody can name anybody as the curator of a vault. */
export const CURATED =
  "A curator's vaults are those that name it and that the protocol lists or it has made itself, and those that a public list attributes to it (on Euler by product); a stranger's vault is not counted by naming it.";

export const curatorListColumns = [
  ...sortable([
    ...protocolColumns,
    ...curatorColumns,
    {
      name: "totalTvlUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description:
        "Sum of tvlUsd over the curator's vaults, each of which has one curator; an empty vault adds 0, and the sum is null if any other has no price. On Euler, what an EulerEarn vault has in EVK vaults is counted there, too.",
    },
    {
      name: "vaultCount",
      type: "UInt32",
      unit: "vaults",
      description: `Number of the curator's vaults. ${CURATED}`,
    },
    {
      name: "verified",
      type: "Bool",
      description: "True when the curator registry lists the address as verified.",
    },
    ...updatedAtColumn,
  ]),
  ...listedColumn("Whether any of the curator's vaults is listed."),
] as const;

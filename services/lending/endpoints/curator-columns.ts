import { sortable } from "../../shared/contract/define.ts";
import { curatorColumns, protocolColumns, updatedAtColumn } from "./columns.ts";

export const curatorListColumns = sortable([
  ...protocolColumns,
  ...curatorColumns,
  {
    name: "totalTvlUsd",
    type: "Nullable(Float64)",
    unit: "USD",
    description: "Sum of tvlUsd over the curator's vaults; null if any of them has no price.",
  },
  {
    name: "vaultCount",
    type: "UInt32",
    unit: "vaults",
    description: "Number of vaults the curator curates.",
  },
  {
    name: "verified",
    type: "Bool",
    description: "True when the curator registry lists the address as verified.",
  },
  ...updatedAtColumn,
]);

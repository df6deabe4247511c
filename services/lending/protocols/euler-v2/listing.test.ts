import { expect } from "chai";
import { describe, it } from "mocha";
import { EntityMap } from "../entity-map.ts";
import type { EntityState } from "../protocol.ts";
import { listedVaults, perspectivesOf } from "./listing.ts";

const address = (n: number) => `0x${n.toString(16).padStart(40, "0")}` as const;
const [GOVERNED, OPEN, OTHER, ESCROW, EARN] = [1, 2, 3, 4, 5].map(address) as `0x${string}`[] as [
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
];
const deployment = {
  eVaultFactory: address(9),
  eulerEarnFactories: [],
  perspectives: {
    ...{ source: "here", date: "2026-01-01", governed: GOVERNED, ungoverned: [OPEN, OTHER] },
    ...{ escrow: ESCROW, eulerEarn: EARN },
  },
};

describe("euler: what its perspectives list", () => {
  const world = (lists: Record<string, string[]>, collaterals: Record<string, string[]> = {}) => {
    const entities = new EntityMap();
    const put = (kind: string, id: string, state: EntityState) =>
      entities.put({ kind, id, state, block: 1, time: 1 });
    for (const [id, vaults] of Object.entries(lists)) put("euler-perspective", id, { vaults });
    for (const [id, accepted] of Object.entries(collaterals))
      put("evk-vault", id, { collaterals: accepted.map((vault) => ({ vault, borrowLtv: 1 })) });
    return [...listedVaults(entities, deployment)];
  };

  it("lists the vaults of each, and none before they are read or where there are none", () => {
    expect(world({ [GOVERNED]: ["a"], [OPEN]: ["b", "a"], [OTHER]: ["c"], [EARN]: ["d"] })).to.have.members([
      ..."abcd",
    ]);
    expect(world({})).to.deep.equal([]);
    expect([...listedVaults(new EntityMap(), { ...deployment, perspectives: undefined })]).to.deep.equal([]);
    expect(perspectivesOf(deployment)).to.deep.equal([GOVERNED, OPEN, OTHER, ESCROW, EARN]);
    expect(perspectivesOf({ ...deployment, perspectives: undefined })).to.deep.equal([]);
  });

  it("lists an escrow while a listed vault accepts it, whatever a stranger's vault accepts", () => {
    const lists = { [GOVERNED]: ["a"], [ESCROW]: ["wanted", "spam"] };
    const collaterals = { a: ["wanted", "unlisted"], stranger: ["spam"] };
    expect(world(lists, collaterals)).to.have.members(["a", "wanted"]);
    expect(world({ ...lists, [GOVERNED]: [] }, collaterals)).to.deep.equal([]);
  });
});

import { expect } from "chai";
import { describe, it } from "mocha";
import { address } from "../../test/kit/rows.ts";
import { type CachedRollup, RecentPoolRows } from "./pool-rows.ts";

/** As many users as one generation takes. */
function fill(rows: RecentPoolRows, pool: number): void {
  const { users } = rows.get(address(pool));
  for (let n = 0; n < 40_000; n++) users.set(`${n}`, n);
  rows.age();
}

describe("RecentPoolRows", () => {
  it("keeps what was used in this generation or the one before, and drops the rest", () => {
    const rows = new RecentPoolRows();
    const users = () => rows.get(address(1)).users;
    users().set("ann", 7);
    users().set("bob", 8);
    fill(rows, 2);
    expect(users().get("ann"), "used before").to.equal(7);
    fill(rows, 3);
    expect(users().get("ann"), "used since").to.equal(7);
    expect(users().get("bob"), "not used").to.equal(undefined);
    fill(rows, 4);
    fill(rows, 5);
    expect(users().get("ann"), "two generations later").to.equal(undefined);
  });

  it("names the pools with changes by address, each once, and what changed once; none of them after a flush", () => {
    const rows = new RecentPoolRows();
    const rollup = { isChanged: false } as CachedRollup;
    const [first, second] = [rows.get(address(1)), rows.get(address(2))];
    rows.changeUser(second, "ann");
    rows.changeRollup(second, rollup);
    rows.changeRollup(second, rollup);
    rows.changeUser(first, "bob");
    second.current[0] = rollup;
    expect(rows.changed()).to.deep.equal([first, second]);
    expect(second.changedRollups).to.deep.equal([rollup]);
    expect(rollup.isChanged).to.equal(true);
    rows.age();
    expect(rows.changed()).to.deep.equal([]);
    expect([second.changedRollups, second.changedUsers]).to.deep.equal([[], []]);
    expect(second.current, "a row may be dropped and loaded as another object").to.deep.equal([]);
  });
});

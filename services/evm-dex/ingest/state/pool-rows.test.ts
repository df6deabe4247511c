import { expect } from "chai";
import { describe, it } from "mocha";
import { address } from "../../test/kit/rows.ts";
import { RecentPoolRows } from "./pool-rows.ts";

const rowOf = (user: string) => ({ chainId: 1, poolAddress: address(1), user, lastMinute: 0 });

/** As many rows as one generation takes. */
function fill(rows: RecentPoolRows, pool: number): void {
  const { users } = rows.get(address(pool));
  for (let n = 0; n < 40_000; n++) users.set(`${n}`, rowOf(`${n}`));
  rows.age();
}

describe("RecentPoolRows", () => {
  it("keeps what was used in this generation or the one before, and drops the rest", () => {
    const rows = new RecentPoolRows();
    const ann = rowOf("ann");
    const users = () => rows.get(address(1)).users;
    users().set("ann", ann);
    users().set("bob", rowOf("bob"));
    fill(rows, 2);
    expect(users().get("ann"), "used before").to.equal(ann);
    fill(rows, 3);
    expect(users().get("ann"), "used since").to.equal(ann);
    expect(users().get("bob"), "not used").to.equal(undefined);
    fill(rows, 4);
    fill(rows, 5);
    expect(users().get("ann"), "two generations later").to.equal(undefined);
  });

  it("has no open row of a batch that has ended", () => {
    const rows = new RecentPoolRows();
    rows.setCurrent(rows.get(address(1)), 0, {} as never);
    expect(rows.get(address(1)).current).to.have.lengthOf(1);
    rows.age();
    expect(rows.get(address(1)).current).to.deep.equal([]);
  });
});

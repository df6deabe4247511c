import { expect } from "chai";
import { describe, it } from "mocha";
import { address } from "../../test/kit/rows.ts";
import { RecentPoolRows } from "./pool-rows.ts";

const NONE = -1;

describe("RecentPoolRows", () => {
  it("names the pools with changes by address, each once, and what changed once; none of them after a flush", () => {
    const rows = new RecentPoolRows();
    const [first, second] = [rows.get(address(1)), rows.get(address(2))];
    const ann = rows.users.add(second.number, address(0xa1), 60);
    const bob = rows.users.add(first.number, address(0xb0), 60);
    const hour = rows.rollups.add(second.number, 1, 3_600);
    rows.changeUser(second, ann);
    rows.changeRollup(second, hour);
    rows.changeRollup(second, hour);
    rows.changeUser(first, bob);
    second.current[1] = hour;
    expect(rows.changed()).to.deep.equal([first, second]);
    expect(rows.rollups.takeChanged(second.changedRollup)).to.deep.equal([hour]);
    expect(rows.users.takeChanged(second.changedUser)).to.deep.equal([ann]);
    expect(rows.rollups.takeChanged(first.changedRollup)).to.deep.equal([]);
    rows.age();
    expect(rows.changed()).to.deep.equal([]);
    expect([second.changedRollup, second.changedUser]).to.deep.equal([NONE, NONE]);
    expect(second.current, "rows may have other numbers").to.deep.equal([NONE, NONE, NONE]);
  });

  it("does not find what a pool had before it was forgotten", () => {
    const rows = new RecentPoolRows();
    rows.users.add(rows.get(address(1)).number, address(0xa1), 60);
    rows.forget(address(1));
    expect(rows.users.find(rows.get(address(1)).number, address(0xa1))).to.equal(NONE);
  });
});

import { expect } from "chai";
import { describe, it } from "mocha";
import { address, poolRow } from "../../test/kit/rows.ts";
import { requestedMember } from "../../views/snapshot.ts";
import { HotPools } from "./hot-pools.ts";

const pool = (n: number) => poolRow({ poolAddress: address(n) });
const requested = (n: number, view = "v3") => requestedMember({ poolAddress: address(n), view });
const T = 1_700_000_000;

describe("HotPools", () => {
  const listed = (hot: HotPools, members: readonly string[] = []) =>
    hot.list(members).map(({ poolAddress, view }) => [Number(poolAddress), view.name]);

  it("lists requested pools before traded ones, the latest first, each once", () => {
    const hot = new HotPools();
    hot.touch([pool(1), pool(2)], T);
    hot.touch([pool(3), pool(1)], T + 2);
    expect(listed(hot, [requested(9), requested(2)])).to.deep.equal([
      [9, "v3"],
      [2, "v3"],
      [1, "v3"],
      [3, "v3"],
    ]);
  });

  it("skips views of another version, and malformed members", () => {
    const hot = new HotPools();
    expect(listed(hot, [requested(1, "v9"), "nonsense", "", requested(2)])).to.deep.equal([[2, "v3"]]);
  });

  it("forgets pools an hour after they traded, by the chain's time", () => {
    const hot = new HotPools();
    hot.touch([pool(1)], T);
    hot.touch([pool(2)], T + 10);
    hot.touch([], T + 3_600);
    expect(listed(hot)).to.have.length(2);
    hot.touch([], T + 3_601);
    expect(listed(hot)).to.deep.equal([[2, "v3"]]);
  });

  it("remembers the last thousand, however many trade", () => {
    const hot = new HotPools();
    for (let block = 0; block < 30; block++) {
      hot.touch(
        Array.from({ length: 100 }, (_, i) => pool(1 + block * 100 + i)),
        T + 2 * block,
      );
    }
    const all = listed(hot).map(([n]) => n);
    expect(all).to.deep.equal(Array.from({ length: 1_000 }, (_, i) => 3_000 - i));
  });
});

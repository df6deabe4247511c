import { expect } from "chai";
import { describe, it } from "mocha";
import { createUpstreamGroup, type OnStateChange, type Upstream } from "./upstream.ts";

function setUp(count: number) {
  const changes: string[] = [];
  const onChange: OnStateChange = ({ name, state }, { before }) => changes.push(`${name} ${before}→${state}`);
  const urls = Array.from({ length: count }, (_, position) => `http://127.0.0.1:${9000 + position}`);
  const group = createUpstreamGroup({ family: "lending", urls, onChange });
  for (const member of group.members) group.report(member, "serving");
  return { group, changes, members: group.members as readonly [Upstream, Upstream, Upstream] };
}

describe("upstream group", () => {
  it("chooses the serving replica with the fewest requests in flight", () => {
    const { group, members } = setUp(3);
    const [a, b, c] = members;
    Object.assign(a, { inFlight: 2 });
    Object.assign(b, { inFlight: 1 });
    Object.assign(c, { inFlight: 3 });
    for (let round = 0; round < 4; round += 1) expect(group.choose()?.name).to.equal("lending#1");
    group.report(b, "not_serving");
    expect(group.choose()?.name).to.equal("lending#0");
    expect(group.choose(a)?.name).to.equal("lending#2");
  });

  it("lets equally busy replicas take turns", () => {
    const { group } = setUp(3);
    const chosen = Array.from({ length: 6 }, () => group.choose()?.name);
    expect(new Set(chosen).size).to.equal(3);
    expect(chosen.slice(0, 3)).to.deep.equal(chosen.slice(3));
  });

  it("chooses nobody while none serves, and before the first probe", () => {
    const { group, members } = setUp(1);
    group.report(members[0], "unreachable");
    expect(group.choose()).to.equal(undefined);
    expect(createUpstreamGroup({ family: "solana", urls: ["http://127.0.0.1:1"] }).choose()).to.equal(
      undefined,
    );
    expect(createUpstreamGroup({ family: "solana", urls: [] }).choose()).to.equal(undefined);
  });

  it("tells of changes only", () => {
    const { group, members, changes } = setUp(1);
    group.report(members[0], "serving");
    group.report(members[0], "unreachable");
    expect(changes).to.deep.equal(["lending#0 unknown→serving", "lending#0 serving→unreachable"]);
  });
});

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

  it("takes a replica out after three failures in a row, and not before", () => {
    const { group, members, changes } = setUp(2);
    const [a, b] = members;
    const refused = new Error("refused");
    for (let time = 0; time < 2; time += 1) group.reportFailure(a, refused);
    expect(a.state).to.equal("serving");
    group.report(a, "serving");
    for (let time = 0; time < 2; time += 1) group.reportFailure(a, refused);
    group.reportResponse(a);
    for (let time = 0; time < 2; time += 1) group.reportFailure(a, refused);
    expect(a.state).to.equal("serving");
    group.reportFailure(a, refused);
    expect(a.state).to.equal("unreachable");
    expect(changes.at(-1)).to.equal("lending#0 serving→unreachable");
    for (let round = 0; round < 4; round += 1) expect(group.choose()).to.equal(b);
  });

  it("obeys at once a replica that reports that it does not serve, and never tries it", () => {
    const { group, members } = setUp(1);
    group.report(members[0], "not_serving");
    expect(group.choose()).to.equal(undefined);
    for (let time = 0; time < 2; time += 1) group.reportFailure(members[0], new Error("late"));
    expect(group.choose()).to.equal(undefined);
    expect(createUpstreamGroup({ family: "solana", urls: [] }).choose()).to.equal(undefined);
  });

  it("tries the least bad one where no good one is left, a few requests at a time", () => {
    const { group, members } = setUp(3);
    const [a, b, c] = members;
    const lost = new Error("lost");
    for (const member of [a, b, c]) for (let time = 0; time < 3; time += 1) group.reportFailure(member, lost);
    group.reportFailure(a, lost);
    group.reportFailure(c, lost);
    for (let round = 0; round < 3; round += 1) expect(group.choose()).to.equal(b);
    expect(group.choose(b)?.state).to.equal("unreachable");
    for (const member of [a, b, c]) Object.assign(member, { inFlight: 16 });
    expect(group.choose()).to.equal(undefined);
    Object.assign(c, { inFlight: 15 });
    expect(group.choose()).to.equal(c);
    group.report(c, "not_serving");
    expect(group.choose()).to.equal(undefined);
  });

  it("tries a lone replica whose breaker is open, before one that cannot be reached", () => {
    const { group, members } = setUp(2);
    const [failing, gone] = members;
    for (let time = 0; time < 3; time += 1) group.reportFailure(gone, new Error("gone"));
    for (let time = 0; time < 5; time += 1) {
      failing.breaker.begin();
      failing.breaker.end("failure");
    }
    expect(failing.breaker.allows()).to.equal(false);
    for (let round = 0; round < 3; round += 1) expect(group.choose()).to.equal(failing);
  });

  it("tries a replica before its first probe, which takes it out at once where it is not there", () => {
    const group = createUpstreamGroup({ family: "solana", urls: ["http://127.0.0.1:1"] });
    const [only] = group.members as readonly [Upstream];
    expect(group.choose()).to.equal(only);
    Object.assign(only, { inFlight: 100 });
    expect(group.choose()).to.equal(only);
    Object.assign(only, { inFlight: 0 });
    group.reportFailure(only, new Error("refused"));
    expect(only.state).to.equal("unreachable");
    group.reportResponse(only);
    expect(only.state).to.equal("serving");
  });

  it("lets one request through first to a replica that is back", () => {
    const { group, members } = setUp(2);
    const [back, other] = members;
    for (let time = 0; time < 3; time += 1) group.reportFailure(back, new Error("gone"));
    group.report(back, "serving");
    expect(back.breaker.state).to.equal("half-open");
    Object.assign(other, { inFlight: 1 });
    expect(group.choose()).to.equal(back);
    back.breaker.begin();
    for (let round = 0; round < 3; round += 1) expect(group.choose()).to.equal(other);
    back.breaker.end("success");
    expect(group.choose()).to.equal(back);
  });

  it("reports changes only", () => {
    const { group, members, changes } = setUp(1);
    group.report(members[0], "serving");
    for (let time = 0; time < 5; time += 1) group.reportFailure(members[0], new Error("gone"));
    expect(changes).to.deep.equal(["lending#0 unknown→serving", "lending#0 serving→unreachable"]);
  });
});

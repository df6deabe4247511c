import { expect } from "chai";
import { describe, it } from "mocha";
import { until } from "../../testkit/until.ts";
import { createHealthPoll, type HealthProbe } from "./health-poll.ts";
import { createUpstreamGroup, type Upstream } from "./upstream.ts";

function setUp(probe: Partial<HealthProbe>) {
  const group = createUpstreamGroup({ family: "solana", urls: ["http://127.0.0.1:1"] });
  const [upstream] = group.members as readonly [Upstream];
  const full: HealthProbe = { check: async () => "serving", close: () => {}, ...probe };
  const poll = createHealthPoll({ polled: [{ group, upstream, probe: full }], intervalMs: 1 });
  return { upstream, poll };
}

describe("health poll", () => {
  it("has probed every replica once when it has started, and keeps probing", async () => {
    let state: "serving" | "not_serving" = "serving";
    const { upstream, poll } = setUp({ check: async () => state });
    await poll.start();
    expect(upstream.state).to.equal("serving");
    state = "not_serving";
    await until(() => upstream.state === "not_serving");
    state = "serving";
    await until(() => upstream.state === "serving");
    poll.stop();
  });

  it("reports a replica with failing probes as unreachable, and recovers", async () => {
    let isDown = true;
    const { upstream, poll } = setUp({
      check: async () => {
        if (isDown) throw new Error("refused");
        return "serving";
      },
    });
    await poll.start();
    expect(upstream.state).to.equal("unreachable");
    isDown = false;
    await until(() => upstream.state === "serving");
    poll.stop();
  });

  it("tolerates one or two late probes, and probes again soon", async () => {
    let late = 0;
    let probes = 0;
    const { upstream, poll } = setUp({
      check: async () => {
        probes += 1;
        if (late > 0) {
          late -= 1;
          throw new Error("late");
        }
        return "serving";
      },
    });
    await poll.start();
    for (let time = 0; time < 10; time += 1) {
      late = 2;
      const before = probes;
      await until(() => probes > before + 2);
      expect(upstream.state).to.equal("serving");
    }
    late = Number.POSITIVE_INFINITY;
    await until(() => upstream.state === "unreachable");
    poll.stop();
  });

  it("sends no probe and reports nothing once it has stopped", async () => {
    let answer = (_state: "serving") => {};
    let closed = 0;
    const check = () => new Promise<"serving">((resolve) => (answer = resolve));
    const { upstream, poll } = setUp({ check, close: () => (closed += 1) });
    const started = poll.start();
    poll.stop();
    answer("serving");
    await started;
    expect(upstream.state).to.equal("unknown");
    expect(closed).to.equal(1);
  });
});

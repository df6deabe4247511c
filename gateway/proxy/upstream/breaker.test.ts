import { expect } from "chai";
import { describe, it } from "mocha";
import { createManualClock } from "../../testkit/clock.ts";
import { createBreaker } from "./breaker.ts";

function setUp() {
  const clock = createManualClock();
  const breaker = createBreaker({ clock, failuresToOpen: 3, firstPauseMs: 1_000, maxPauseMs: 3_000 });
  const request = (outcome: "success" | "failure" | "unknown") => {
    expect(breaker.allows()).to.equal(true);
    breaker.begin();
    breaker.end(outcome);
  };
  const fail = (times: number) => {
    for (let time = 0; time < times; time += 1) request("failure");
  };
  return { clock, breaker, request, fail };
}

describe("breaker of a replica", () => {
  it("opens after so many failures in a row, and not before", () => {
    const { breaker, fail, request } = setUp();
    fail(2);
    request("success");
    fail(2);
    expect(breaker.state).to.equal("closed");
    fail(1);
    expect(breaker.state).to.equal("open");
    expect(breaker.allows()).to.equal(false);
  });

  it("lets one request through after its pause, and closes when that succeeds", () => {
    const { clock, breaker, fail } = setUp();
    fail(3);
    clock.advance(999);
    expect(breaker.allows()).to.equal(false);
    clock.advance(1);
    expect(breaker.state).to.equal("half-open");
    expect(breaker.allows()).to.equal(true);
    breaker.begin();
    expect(breaker.allows()).to.equal(false);
    breaker.end("success");
    expect(breaker.state).to.equal("closed");
    expect(breaker.allows()).to.equal(true);
  });

  it("doubles its pause with each request that fails then, up to a limit", () => {
    const { clock, breaker, fail, request } = setUp();
    fail(3);
    for (const pauseMs of [1_000, 2_000, 3_000, 3_000]) {
      clock.advance(pauseMs - 1);
      expect(breaker.allows()).to.equal(false);
      clock.advance(1);
      request("failure");
    }
    clock.advance(3_000);
    request("success");
    fail(3);
    clock.advance(1_000);
    expect(breaker.allows()).to.equal(true);
  });

  it("lets another request through where the first one ended without a result", () => {
    const { clock, breaker, fail, request } = setUp();
    fail(3);
    clock.advance(1_000);
    request("unknown");
    expect(breaker.allows()).to.equal(true);
  });

  it("is not held open longer by requests that were under way when it opened", () => {
    const { clock, breaker } = setUp();
    for (let time = 0; time < 6; time += 1) breaker.begin();
    for (let time = 0; time < 3; time += 1) breaker.end("failure");
    clock.advance(900);
    for (let time = 0; time < 3; time += 1) breaker.end("failure");
    clock.advance(100);
    expect(breaker.allows()).to.equal(true);
  });
});

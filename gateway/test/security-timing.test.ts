import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { expect } from "chai";
import { after, before, beforeEach, describe, it } from "mocha";
import { createLog } from "../../services/shared/logging/log.ts";
import {
  type RunningFacilitator,
  readFacilitatorConfig,
  startFacilitator,
} from "../payments/facilitator/service.ts";
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from "../testkit/gateway.ts";

/** Modules of Deno's own cannot be replaced: there the same sources are held to their answers alone. */
const canWatch = !("Deno" in globalThis);
const TOKEN = "a token of these tests";

/** Takes as long for a guess that is almost right as for any other. Calls are recorded, since time cannot be measured. */
describe("gateway: credentials are compared in equal time", () => {
  const { timingSafeEqual } = crypto;
  let compared: [left: Buffer, right: Buffer][] = [];
  let gateway: TestGateway;
  let facilitator: RunningFacilitator;
  before(async () => {
    crypto.timingSafeEqual = (left, right) => {
      compared.push([Buffer.from(left as Uint8Array), Buffer.from(right as Uint8Array)]);
      return timingSafeEqual(left, right);
    };
    syncBuiltinESMExports();
    gateway = await startTestGateway();
    const config = readFacilitatorConfig({
      FACILITATOR_PORT: "0",
      FACILITATOR_PRIVATE_KEY: `0x${"42".repeat(32)}`,
      X402_PAY_TO: `0x${"71".repeat(20)}`,
      X402_FACILITATOR_TOKEN: TOKEN,
      EVM_RPC_8453: "http://127.0.0.1:9",
    });
    facilitator = await startFacilitator(config, {
      log: createLog({ name: "facilitator", level: "silent" }),
    });
  });
  after(async () => {
    crypto.timingSafeEqual = timingSafeEqual;
    syncBuiltinESMExports();
    await gateway?.stop();
    await facilitator?.stop();
  });
  beforeEach(() => {
    compared = [];
  });

  /** Hashes, so that time reveals neither where two differ nor how long they are. */
  const expectHashes = () => {
    if (canWatch) expect(compared).to.have.length.above(0);
    for (const [left, right] of compared) {
      expect([32, 64]).to.include(left.length);
      expect(right.length).to.equal(left.length);
      for (const side of [left, right]) expect(side.toString("latin1")).not.to.match(/token|bootstrap|ct_/);
    }
  };

  it("keys, by their hashes, whatever is sent", async () => {
    const stored = gateway.keys.add();
    const almost = `${BOOTSTRAP_KEY.slice(0, -1)}!`;
    for (const key of [almost, "x", stored, BOOTSTRAP_KEY]) {
      compared = [];
      const { status } = await fetch(`${gateway.url}/evm/chains`, { headers: { "X-API-KEY": key } });
      expect(status).to.equal(key === stored || key === BOOTSTRAP_KEY ? 200 : 401);
      expectHashes();
    }
  });

  it("the facilitator's token, by its hash, whatever is sent", async () => {
    for (const token of [`${TOKEN.slice(0, -1)}!`, "", TOKEN]) {
      compared = [];
      const headers = { authorization: `Bearer ${token}` };
      const { status } = await fetch(`${facilitator.url}/supported`, { headers });
      expect(status).to.equal(token === TOKEN ? 200 : 401);
      expectHashes();
    }
  });
});

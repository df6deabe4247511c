import type { FacilitatorClient } from "@x402/core/server";
import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { createLog } from "../../../services/shared/logging/log.ts";
import { createMetrics } from "../../../services/shared/metrics/metrics.ts";
import { until } from "../../testkit/until.ts";
import { type FacilitatorWatch, watchFacilitator } from "./facilitator-watch.ts";

type Supported = Awaited<ReturnType<FacilitatorClient["getSupported"]>>;

const WALLET = `0x${"Ab".repeat(20)}`;
const OTHER = `0x${"cd".repeat(20)}`;
const KIND = { x402Version: 2, scheme: "exact", network: "eip155:8453" } as const;
const GOOD: Supported = { kinds: [KIND], extensions: [], signers: { "eip155:*": [WALLET] } };

describe("what the gateway sees of the facilitator", () => {
  let watch: FacilitatorWatch | undefined;
  afterEach(() => watch?.stop());

  const start = async (first: Supported | Error) => {
    const lines: Record<string, unknown>[] = [];
    const metrics = createMetrics({ name: "gateway" });
    const state = {
      supported: first,
      wei: (15n * 10n ** 14n) as bigint | Error,
      addressesRead: [] as string[],
    };
    watch = watchFacilitator({
      metrics,
      everyMs: 5,
      log: createLog({
        name: "gateway",
        level: "debug",
        destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
      }),
      facilitator: {
        getSupported: async () => {
          if (state.supported instanceof Error) throw state.supported;
          return state.supported;
        },
      },
      chain: {
        balanceOf: async (address) => {
          state.addressesRead.push(address);
          if (state.wei instanceof Error) throw state.wei;
          return state.wei;
        },
      },
    });
    await watch.started;
    const has = async (text: string) => (await metrics.render()).includes(text);
    const balance = (address: string, ether: string) =>
      has(`gateway_facilitator_balance_ether{address="${address}",service="gateway"} ${ether}`);
    const isUsable = () => has('gateway_facilitator_usable{service="gateway"} 1');
    const levels = () => lines.map(({ level }) => level);
    return { state, has, balance, isUsable, levels };
  };

  it("is that it settles here, and its wallets' balances on the chain", async () => {
    const { state, balance, isUsable, levels } = await start(GOOD);
    expect(await isUsable()).to.equal(true);
    expect(await balance(WALLET.toLowerCase(), "0.0015")).to.equal(true);
    state.supported = { ...GOOD, signers: { "eip155:8453": [OTHER, "no address"], "solana:*": ["x"] } };
    await until(() => balance(OTHER, "0.0015"));
    expect(await balance(WALLET.toLowerCase(), "0.0015"), "one that it no longer names").to.equal(false);
    expect(new Set(state.addressesRead)).to.deep.equal(new Set([WALLET.toLowerCase(), OTHER]));
    expect(levels()).to.deep.equal([]);
  });

  it("is absent where the chain cannot be read or no wallet is named", async () => {
    const { state, has, isUsable } = await start({ ...GOOD, signers: {} });
    expect(await has("gateway_facilitator_balance_ether{")).to.equal(false);
    state.supported = GOOD;
    await until(() => has("gateway_facilitator_balance_ether{"));
    state.wei = new Error("away");
    await until(async () => !(await has("gateway_facilitator_balance_ether{")));
    expect(await isUsable()).to.equal(true);
  });

  it("is logged at each change, and once", async () => {
    const { state, isUsable, levels } = await start(new Error("away"));
    expect(await isUsable()).to.equal(false);
    expect(levels()).to.deep.equal(["warn"]);
    state.supported = GOOD;
    await until(isUsable);
    state.supported = { ...GOOD, kinds: [{ ...KIND, network: "eip155:1" }] };
    await until(async () => !(await isUsable()));
    state.supported = new Error("away");
    await until(() => levels().length >= 4);
    expect(levels()).to.deep.equal(["warn", "info", "error", "warn"]);
  });
});

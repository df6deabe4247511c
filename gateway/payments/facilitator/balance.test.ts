import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { createLog } from "../../../services/shared/logging/log.ts";
import { createMetrics } from "../../../services/shared/metrics/metrics.ts";
import { type BalanceWatch, watchBalance } from "./balance.ts";

const ADDRESS = `0x${"ab".repeat(20)}` as const;
const ETHER = 10n ** 18n;

describe("the facilitator's balance", () => {
  let watch: BalanceWatch | undefined;
  afterEach(() => watch?.stop());

  const start = async (first: bigint, lowEther = 0.001) => {
    const lines: Record<string, unknown>[] = [];
    const metrics = createMetrics({ name: "facilitator" });
    const state = { wei: first as bigint | Error, nowMs: 0 };
    watch = watchBalance({
      ...{ lowEther, metrics, now: () => state.nowMs, remindMs: 1_000 },
      wallet: {
        address: ADDRESS,
        balance: async () => {
          if (state.wei instanceof Error) throw state.wei;
          return state.wei;
        },
      },
      log: createLog({
        name: "facilitator",
        level: "debug",
        destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
      }),
    });
    await watch.started;
    const metricEther = async () => /facilitator_balance_ether\{.*\} (\S+)/.exec(await metrics.render())?.[1];
    const levels = () => lines.map(({ level }) => level);
    return { state, lines, metricEther, levels };
  };

  it("is warned of at the start where it is low, once until it has been high or long low", async () => {
    const { state, lines, metricEther, levels } = await start(ETHER / 2_000n);
    expect(lines[0]).to.include({ level: "warn", address: ADDRESS, ether: 0.0005, lowEther: 0.001 });
    expect(await metricEther()).to.equal("0.0005");
    expect(levels()).to.deep.equal(["warn"]);
    state.nowMs = 999;
    await metricEther();
    expect(levels()).to.deep.equal(["warn"]);
    state.nowMs = 1_000;
    await metricEther();
    expect(levels()).to.deep.equal(["warn", "warn"]);
    state.wei = ETHER;
    expect(await metricEther()).to.equal("1");
    expect(levels()).to.deep.equal(["warn", "warn", "info"]);
    await metricEther();
    expect(levels()).to.have.length(3);
    state.wei = 0n;
    expect(await metricEther()).to.equal("0");
    expect(levels()).to.deep.equal(["warn", "warn", "info", "warn"]);
  });

  it("is no reason to warn at the limit, and never where no limit is set", async () => {
    const { levels } = await start(ETHER / 1_000n);
    expect(levels()).to.deep.equal([]);
    watch?.stop();
    const { levels: unlimited } = await start(0n, 0);
    expect(unlimited()).to.deep.equal([]);
  });

  it("is absent, not 0, while the chain cannot be read", async () => {
    const { state, metricEther } = await start(ETHER);
    state.wei = new Error("away");
    expect(await metricEther()).to.equal(undefined);
    state.wei = 2n * ETHER;
    expect(await metricEther()).to.equal("2");
  });
});

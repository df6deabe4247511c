import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeThorough } from "../../../shared/testkit/describe.ts";
import { ATTACKS } from "./attacks.ts";
import { Market, type Published } from "./market.ts";
import { rawPrice, stepPrice } from "./price-steps.ts";
import { aeroPools, STEP_ATTACKS, tradeHonestly } from "./step-attacks.ts";

/** A major token moves by no more than this. */
const MOST_MOVE = 0.01;
/** No USD number of any answer or row is larger. */
const MOST_USD = 1e15;
const MAJORS = ["WETH", "WBTC", "AERO", "DEGEN"] as const;

interface Damage {
  /** Largest relative change of a major token's price, and which. */
  move: number;
  token: string;
  /** Largest relative change of the TVL of an honest pool that the attacker did not trade in. */
  tvl: number;
  /** Largest TVL and volume of 24 hours of a pool of his own. */
  ownTvlUsd: number;
  ownVolumeUsd: number;
  largestUsd: number;
}

const relative = (now: number | undefined, before: number) => Math.abs((now ?? Number.NaN) / before - 1);

function comparePools(
  damage: Damage,
  at: {
    now: Published;
    honest: Published;
    own: ReadonlySet<string>;
    touched: readonly string[];
    others: ReadonlySet<string>;
  },
): void {
  const { now, honest, own, touched, others } = at;
  for (const [pool, tvl] of now.tvl) {
    const before = honest.tvl.get(pool) ?? 0;
    if (own.has(pool)) damage.ownTvlUsd = Math.max(damage.ownTvlUsd, tvl);
    else if (others.has(pool) && !touched.includes(pool) && before > 0)
      damage.tvl = Math.max(damage.tvl, relative(tvl, before));
  }
  for (const pool of own) damage.ownVolumeUsd = Math.max(damage.ownVolumeUsd, now.volume.get(pool) ?? 0);
}

describeThorough("attacks on prices and values", () => {
  let market: Market;
  const table: string[] = [];
  /** Pools that no attacker made. */
  let others: ReadonlySet<string>;
  before(async () => {
    market = await Market.open();
    others = new Set((await market.published()).tvl.keys());
  });
  after(async () => {
    await market?.close();
    console.log(
      [
        "",
        "capital USD | not back USD | price of majors | TVL of others | own TVL USD | own volume USD | attack",
        ...table,
      ].join("\n    "),
    );
  });

  const majors = () =>
    MAJORS.map((symbol) => [symbol, market.chain.deployment.tokens[symbol].address] as const);

  function compare(damage: Damage, at: { now: Published; honest: Published }): void {
    const { now, honest } = at;
    for (const [symbol, address] of majors()) {
      const move = relative(now.prices.get(address), honest.prices.get(address) as number);
      if (!(move <= damage.move)) Object.assign(damage, { move, token: symbol });
    }
    damage.largestUsd = Math.max(damage.largestUsd, now.largestUsd);
  }

  for (const [i, attack] of [...ATTACKS, ...STEP_ATTACKS].entries()) {
    it(attack.name, async () => {
      const honest = await market.published();
      const damage: Damage = { move: 0, token: "", tvl: 0, ownTvlUsd: 0, ownVolumeUsd: 0, largestUsd: 0 };
      const seen: Published[] = [];
      const stakes = await attack.run(market, async (seconds) => {
        await market.block(seconds);
        const now = await market.published();
        seen.push(now);
        compare(damage, { now, honest });
      });
      const { ownPools = [], touched = [], capitalUsd, lostUsd } = stakes;
      for (const now of seen) comparePools(damage, { now, honest, own: new Set(ownPools), touched, others });
      const percent = (share: number) => `${(100 * share).toFixed(3)} %`.padStart(10);
      const usd = (amount: number) => Math.round(amount).toLocaleString("en").padStart(12);
      table.push(
        `${usd(capitalUsd)} ${usd(lostUsd)} ${percent(damage.move)} ${damage.token.padEnd(5)} ${percent(damage.tvl)} ${usd(damage.ownTvlUsd)} ${usd(damage.ownVolumeUsd)}  ${i + 1}. ${attack.name}`,
      );
      expect(seen.length, "blocks looked at").to.be.greaterThan(0);
      expect(damage.move, damage.token).to.be.at.most(MOST_MOVE);
      expect(damage.largestUsd).to.be.below(MOST_USD);
      expect(damage.tvl, "TVL of other pools").to.be.at.most(MOST_MOVE);
      expect(damage.ownTvlUsd, "TVL of his own").to.be.at.most(3 * capitalUsd);
      expect(stakes.told?.(seen.at(-1) as Published) ?? true, "followed and said").to.equal(true);
      await stakes.undo?.();
      for (const seconds of [2, 400, 7_200]) await market.block(seconds);
      const recovered = await market.published();
      for (const [symbol, address] of majors()) {
        const move = relative(recovered.prices.get(address), honest.prices.get(address) as number);
        expect(move, `${symbol} after it`).to.be.at.most(MOST_MOVE);
      }
    });
  }

  it("a market that moves in small steps is followed at once by those who trade, though a pool rests", async () => {
    const { chain, attacker } = market;
    const { AERO, aerodrome, withUsdc, withWeth } = aeroPools(market);
    const usdOf = async () => (await market.published()).prices.get(AERO.address) as number;
    await tradeHonestly(market, [aerodrome, withUsdc, withWeth]);
    await market.block(2);
    await market.block(400);
    const before = await usdOf();
    const prices = await Promise.all([aerodrome, withUsdc].map((pool) => rawPrice(chain, pool)));
    const step = async (pool: typeof aerodrome, factor: number) =>
      stepPrice(chain, { pool, token: AERO, factor, from: attacker.from });
    for (let i = 1; i <= 10; i++) {
      for (const pool of [aerodrome, withUsdc]) await step(pool, 1.009);
      await market.block(6);
      expect((await usdOf()) / before, `step ${i}`).to.be.closeTo(1.009 ** i, 0.002);
    }
    for (const [i, pool] of [aerodrome, withUsdc].entries()) {
      const ratio = (prices[i] as number) / (await rawPrice(chain, pool));
      await step(pool, pool.token0.address === AERO.address ? ratio : 1 / ratio);
    }
    await market.block(2);
  });
});

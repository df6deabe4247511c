import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeWithChain } from "../../services/shared/testkit/describe.ts";
import {
  type PayGateway,
  type PaymentEnvironment,
  startPayGateway,
  startPaymentEnvironment,
} from "../testkit/payments/payment-gateway.ts";
import { until } from "../testkit/until.ts";

const POOL = `/evm/dexb/v3/pool?pool_address=0x${"ab".repeat(20)}`;

describeWithChain("gateway: what operators see of it", () => {
  let world: PaymentEnvironment;
  let gateway: PayGateway;
  before(async () => {
    world = await startPaymentEnvironment();
    gateway = await startPayGateway(world, { config: { cacheBytes: 1_048_576 } });
  });
  after(async () => {
    await gateway?.stop();
    await world?.stop();
  });

  const render = () => gateway.metrics();
  /** Value of the sample with these labels, whichever others it has; undefined if absent. */
  const sample = (text: string, name: string, labels: Readonly<Record<string, string>> = {}) => {
    const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`));
    const line = lines.find((each) =>
      Object.entries(labels).every(([key, to]) => each.includes(`${key}="${to}"`)),
    );
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(" ")));
  };

  it("latency by route, limiter, cache, breaker, payments and the facilitator's balance, of the requests sent", async () => {
    for (const path of [POOL, POOL, "/made/up", "/evm/dexb/v3/pool/../../secret"])
      await (await gateway.get(path)).text();
    await (await fetch(gateway.url + POOL)).text();
    await (await fetch(gateway.urlOf(1))).text();
    const payer = await world.createPayer();
    expect((await payer.fetch(gateway.urlOf(2))).status).to.equal(200);
    const { signers } = (await (await fetch(`${world.facilitatorProxy.url}/supported`)).json()) as {
      signers: Record<string, [`0x${string}`]>;
    };
    const [wallet] = signers["eip155:*"] as [`0x${string}`];
    await until(async () => sample(await render(), "gateway_facilitator_balance_ether") !== undefined);

    const text = await render();
    const count = (labels: Record<string, string>) =>
      sample(text, "http_request_duration_seconds_count", labels);
    const route = "/evm/dexb/v3/pool";
    expect(count({ route, method: "GET", status: "200" })).to.equal(2);
    expect(count({ route, method: "GET", status: "401" })).to.equal(1);
    expect(sample(text, "http_request_duration_seconds_bucket", { route, le: "+Inf" })).to.be.above(0);
    expect(count({ route: "unmatched", status: "404" })).to.be.above(0);
    expect(text, "paths that clients make up").not.to.match(/made|secret/);
    expect(sample(text, "gateway_limit_decisions_total", { kind: "unpaid", outcome: "allowed" })).to.be.above(
      0,
    );
    expect(sample(text, "gateway_cache_answers_total", { result: "miss" })).to.be.above(0);
    expect(sample(text, "gateway_upstream_serving", { upstream: "evm-dex#0" })).to.equal(1);
    expect(sample(text, "gateway_upstream_breaker_open", { upstream: "evm-dex#0" })).to.equal(0);
    expect(sample(text, "gateway_payments_total", { outcome: "offered" })).to.be.above(0);
    expect(sample(text, "gateway_payments_total", { outcome: "settled" })).to.equal(1);
    expect(sample(text, "gateway_payment_settlement_seconds_count")).to.equal(1);
    expect(sample(text, "gateway_facilitator_usable")).to.equal(1);
    const address = wallet.toLowerCase();
    const balance = sample(text, "gateway_facilitator_balance_ether", { address }) ?? 0;
    const wei = await world.chain.client.getBalance({ address: wallet });
    // Read before the settlement, which cost some gas.
    expect(balance).to.be.closeTo(Number(wei) / 1e18, 0.01);
  });

  it("that it lives, and that it is ready", async () => {
    for (const path of ["/livez", "/readyz"])
      await until(async () => (await fetch(gateway.url + path)).status === 200);
  });
});

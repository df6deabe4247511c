import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeWithChain } from "../../services/shared/testkit/describe.ts";
import { startProgram, type TestProcess } from "../../services/shared/testkit/process.ts";
import { createTestChain, type TestChain } from "../devnet/testkit.ts";
import { demoFacilitator, demoPayer, demoTill, preparePayments } from "../devnet/usdc/demo-wallets.ts";
import { readUsdcBalance } from "../devnet/usdc/usdc.ts";

const RANGES = 6;
/** USD of rows are multiples of 2^-20; a sum of few differs by less than this from one that is not rounded. */
const USD_TOLERANCE = 1e-5;

describeWithChain("a swap made on a chain is a row through the gateway", () => {
  let chain: TestChain;
  let dataDir: string;
  let url: string;
  let payUrl: string;
  let key: string;
  const started: TestProcess[] = [];

  before(async () => {
    // One pool: its own price is the only one that leads to USD.
    chain = await createTestChain({ poolCount: 1 });
    await chain.mine(1, { intervalS: 2 });
    await preparePayments(chain.anvil.rpc);
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-e2e-"));
    const env = { DATA_DIR: dataDir, DEPLOYMENTS_FILE: chain.deploymentsFile, LOG_LEVEL: "info" };
    const start = (path: string, more: Record<string, string>) => {
      const program = startProgram(path, { env: { ...env, HTTP_PORT: "0", GRPC_PORT: "0", ...more } });
      started.push(program);
      return program;
    };
    start("services/evm-dex/ingest/main.ts", { EVM_RPC_8453: chain.url, START_BLOCK_8453: "0" });
    const evmDex = await start("services/evm-dex/main.ts", {}).logged("listening");
    const payments = { EVM_RPC_8453: chain.url, X402_PAY_TO: demoTill.address };
    const facilitator = start("gateway/payments/facilitator/main.ts", {
      ...payments,
      FACILITATOR_PORT: "0",
      FACILITATOR_PRIVATE_KEY: demoFacilitator.privateKey,
    });
    const gateway = start("gateway/main.ts", {
      GATEWAY_PORT: "0",
      EVM_DEX_URL: evmDex.httpUrl,
      EVM_DEX_GRPC: evmDex.grpcAddress,
      ...payments,
      X402_PORT: "0",
      X402_FACILITATOR_URL: (await facilitator.logged("listening")).url,
      X402_PRICES: "/evm/dexb/v3/pool=0.05",
    });
    url = (await gateway.logged("listening")).url;
    payUrl = await gateway.find((line) => /"url":"([^"]+)".*"selling requests"/.exec(line)?.[1]);
    const cli = startProgram("gateway/cli/keys.ts", {
      env,
      args: ["create", "--label", "e2e", "--scopes", "evm-dex"],
    });
    key = await cli.find((line) => /ct_[A-Za-z0-9_-]{43}_[0-9a-f]{8}/.exec(line)?.[0]);
    await cli.exited;
  });
  after(async () => {
    await Promise.all(started.map((program) => program.stop()));
    await chain?.stop();
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  it("with the exact change of volume, count, tick and TVL", async () => {
    const pool = chain.pools[0] as TestChain["pools"][0];
    const before = await readPool(await chain.headNumber());
    const hash = await chain.swap(pool.address, { zeroForOne: true, amount: 3_700_000_000_000_000_000n });
    const block = await chain.mine(1, { intervalS: 2 });
    const after = await readPool(block);

    const swap = (await chain.eventsOf(hash)).find((event) => event.eventName === "Swap");
    if (swap?.eventName !== "Swap") throw new Error("The transaction made no swap.");
    const { sqrtPriceX96, tick } = await chain.slot0(pool.address, block);
    // token0 is WETH with 18 decimals, token1 USDC with 6, which is 1 USD.
    const priceUsd = (Number(sqrtPriceX96) / 2 ** 96) ** 2 * 1e12;
    const amount0 = Math.abs(Number(swap.args.amount0)) / 1e18;
    const amount1 = Math.abs(Number(swap.args.amount1)) / 1e6;
    const valueUsd = (amount0 * priceUsd + amount1) / 2;
    const held0 = Number(await chain.balanceOf(pool.token0.address, pool.address, block)) / 1e18;
    const held1 = Number(await chain.balanceOf(pool.token1.address, pool.address, block)) / 1e6;

    for (let range = 0; range < RANGES; range++) {
      expect(after.swapVolumeUsd[range] - before.swapVolumeUsd[range]).to.be.closeTo(valueUsd, USD_TOLERANCE);
      expect(after.swapCount[range] - before.swapCount[range]).to.equal(1);
      const feesUsd = amount0 * priceUsd * (pool.fee / 1e6);
      const seconds = [300, 3600, 86_400, 604_800, 2_592_000, 31_536_000][range] as number;
      const feeApr = ((feesUsd / (held0 * priceUsd + held1)) * 31_536_000) / seconds;
      if (before.swapCount[range] === 0) expect(after.feeApr[range]).to.be.closeTo(feeApr, feeApr * 1e-6);
    }
    expect(after.currentTick).to.equal(tick);
    expect(after.currentSqrtPriceX96).to.equal(String(sqrtPriceX96));
    expect(after.currentLiquidity).to.equal(String(await chain.liquidity(pool.address, block)));
    expect(after.currentPoolPrice).to.be.closeTo(priceUsd, priceUsd * 1e-12);
    const tvlUsd = held0 * priceUsd + held1;
    expect(after.poolTvlUsd).to.be.closeTo(tvlUsd, tvlUsd * 1e-12);
    expect(after.token0Symbol).to.equal("WETH");
  });

  it("and not without a key, nor with one for another family", async () => {
    const path = `${url}/evm/dexb/v3/pools`;
    expect((await fetch(path)).status).to.equal(401);
    expect((await fetch(path, { headers: { "X-API-KEY": key } })).status).to.equal(200);
    const lending = await fetch(`${url}/evm/lending/lendinga/v3/pools`, { headers: { "X-API-KEY": key } });
    expect(lending.status).to.equal(403);
  });

  it("and is sold without a key: npm run pay prints it for exactly 0.05 USDC, and the operator has the receipt", async () => {
    const pool = chain.pools[0] as TestChain["pools"][0];
    const rpc = chain.anvil.rpc;
    const balances = () =>
      Promise.all([demoPayer, demoTill].map(({ address }) => readUsdcBalance(rpc, address)));
    const before = await balances();
    const pay = startProgram("deploy/pay/main.ts", {
      env: {},
      args: [`/evm/dexb/v3/pool?pool_address=${pool.address}`, "--url", payUrl],
    });
    let isOver = false;
    void pay.exited.then(() => {
      isOver = true;
    });
    while (!isOver) {
      const { pending } = await rpc.call<{ pending: string }>("txpool_status");
      if (Number(pending) > 0) await chain.mine(1);
      await sleep(20);
    }
    expect((await pay.exited).code, pay.lines.join("\n")).to.equal(0);
    const printed = pay.lines.join("\n");
    expect(printed).to.contain("WETH").and.contain("1 row");
    const hash = /Paid 0\.05 USDC from \S+ by transaction (0x[0-9a-f]{64})/.exec(
      printed,
    )?.[1] as `0x${string}`;
    expect((await chain.client.getTransactionReceipt({ hash })).status).to.equal("success");
    const after = await balances();
    expect(after.map((balance, at) => balance - (before[at] ?? 0n))).to.deep.equal([-50_000n, 50_000n]);

    const list = startProgram("gateway/cli/payments.ts", {
      env: { DATA_DIR: dataDir },
      args: ["list", "--json"],
    });
    expect((await list.exited).code, list.lines.join("\n")).to.equal(0);
    const [record] = JSON.parse(list.lines.join("\n"));
    expect(record).to.include({ state: "settled", amountUsd: "0.05", transaction: hash });
  });

  // biome-ignore lint/suspicious/noExplicitAny: cells of many types, checked one by one.
  async function readPool(block: number): Promise<Record<string, any>> {
    const path = `/evm/dexb/v3/pool?pool_address=${chain.pools[0]?.address}`;
    for (;;) {
      const response = await fetch(url + path, { headers: { "X-API-KEY": key } });
      const text = await response.text();
      if (response.status === 200 && Number(response.headers.get("x-data-block")) >= block) {
        expect(response.headers.get("content-type")).to.equal("application/vnd.service.table.v1.0.0+json");
        const [table] = JSON.parse(text);
        expect(table.rows).to.equal(1);
        return Object.fromEntries(
          table.columns.map((column: { name: string }, i: number) => [column.name, table.data[0][i]]),
        );
      }
      await sleep(50);
    }
  }
});

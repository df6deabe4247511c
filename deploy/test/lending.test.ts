import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { erc20Abi } from "viem";
import { describeWithChain } from "../../services/shared/testkit/describe.ts";
import { startProgram, type TestProcess } from "../../services/shared/testkit/process.ts";
import { createTestChain, type TestChain } from "../devnet/testkit.ts";

/** How long prices are used after the last confirmation. */
const STALE_SECONDS = 3;

type Row = Record<string, string | number | boolean | null>;

interface Table {
  readonly columns: readonly { readonly name: string }[];
  readonly data: readonly (readonly (string | number | boolean | null)[])[];
}

interface Answer {
  readonly rows: readonly Row[];
  readonly block: number;
  readonly stale: string | null;
}

const isNear = (price: number, expected: number) => Math.abs(price - expected) < expected * 1e-6;

describeWithChain("lending with the genuine evm-dex beside it", () => {
  let chain: TestChain;
  let dataDir: string;
  let url: string;
  let evmDex: TestProcess;
  const started: TestProcess[] = [];

  before(async () => {
    chain = await createTestChain({ poolCount: 1, families: ["aave-v3"] });
    await chain.mine(1, { intervalS: 2 });
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-lending-"));
    const env = { DATA_DIR: dataDir, DEPLOYMENTS_FILE: chain.deploymentsFile, LOG_LEVEL: "info" };
    const start = (path: string, more: Record<string, string>) => {
      const program = startProgram(path, { env: { ...env, HTTP_PORT: "0", GRPC_PORT: "0", ...more } });
      started.push(program);
      return program;
    };
    start("services/evm-dex/ingest/main.ts", { EVM_RPC_8453: chain.url, START_BLOCK_8453: "0" });
    start("services/lending/ingest/main.ts", { EVM_RPC_8453: chain.url });
    evmDex = start("services/evm-dex/main.ts", {});
    const { grpcAddress } = await evmDex.logged("listening");
    const lending = start("services/lending/main.ts", {
      EVM_DEX_GRPC: grpcAddress,
      PRICE_STALE_SECONDS: String(STALE_SECONDS),
    });
    url = (await lending.logged("listening")).httpUrl;
  });
  after(async () => {
    await Promise.all(started.map((program) => program.stop()));
    await chain?.stop();
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  it("has the price after a pool's swap in its USD columns, at the swap's block", async () => {
    const pool = chain.pools[0] as TestChain["pools"][0];
    await chain.swap(pool.address, { zeroForOne: true, amount: 3_700_000_000_000_000_000n });
    await chain.aave.supply("WETH", 2_000_000_000_000_000_000n);
    const block = await chain.mine(1, { intervalS: 2 });
    const { sqrtPriceX96 } = await chain.slot0(pool.address, block);
    // token0 is WETH with 18 decimals, token1 USDC with 6, which is 1 USD.
    const ether = (Number(sqrtPriceX96) / 2 ** 96) ** 2 * 1e12;
    // Where evm-dex is behind, the prices of its own head hold until it has the block.
    const { rows } = await until((answer) => answer.block >= block && isNear(usdPerToken(answer), ether));
    for (const [symbol, priceUsd] of [
      ["WETH", ether],
      ["USDC", 1],
    ] as const) {
      const { aToken, token } = chain.aave.reserve(symbol);
      const call = { address: aToken, abi: erc20Abi, functionName: "totalSupply" } as const;
      const raw = await chain.client.readContract({ ...call, blockNumber: BigInt(block) });
      const supply = Number(raw) / 10 ** token.decimals;
      const row = rowOf(rows, symbol);
      expect(row.supply).to.be.closeTo(supply, supply * 1e-15);
      expect(row.supplyUsd).to.be.closeTo(supply * priceUsd, supply * priceUsd * 1e-12);
      expect(row.tvlUsd).to.equal(row.supplyUsd);
    }
  });

  it("continues at the last prices when evm-dex ends, reports them as stale, then has no USD, and never fails", async () => {
    const last = usdOf(await readPools(), "WETH");
    expect(last).to.be.a("number");
    expect((await evmDex.stop()).code).to.equal(0);
    const stale = await until(({ stale: said }) => said !== null);
    expect(stale.stale).to.match(/^prices; age=\d+$/);
    expect(usdOf(stale, "WETH")).to.be.closeTo(last as number, (last as number) * 1e-6);
    const without = await until((answer) => usdOf(answer, "WETH") === null);
    expect(without.stale).to.match(/^prices/);
    for (const row of without.rows) {
      const usd = Object.entries(row).filter(([column]) => column.endsWith("Usd"));
      expect(usd.map(([, cell]) => cell)).to.deep.equal(usd.map(() => null));
    }
    expect(rowOf(without.rows, "WETH").supply).to.be.above(0);
  });

  function usdOf({ rows }: Answer, symbol: string): number | null {
    return rowOf(rows, symbol).supplyUsd as number | null;
  }

  function usdPerToken({ rows }: Answer): number {
    const { supply, supplyUsd } = rowOf(rows, "WETH");
    return Number(supplyUsd) / Number(supply);
  }

  function rowOf(rows: readonly Row[], symbol: string): Row {
    const address = chain.aave.reserve(symbol as "WETH").token.address.toLowerCase();
    const row = rows.find(({ underlyingAddress }) => underlyingAddress === address);
    if (row === undefined) throw new Error(`No row of ${symbol}`);
    return row;
  }

  async function until(isIt: (answer: Answer) => boolean): Promise<Answer> {
    for (;;) {
      const answer = await readPools();
      if (answer.rows.length > 0 && isIt(answer)) return answer;
      await sleep(50);
    }
  }

  async function readPools(): Promise<Answer> {
    const response = await fetch(`${url}/evm/lending/lendinga/v3/pools`);
    expect(response.status).to.equal(200);
    const [table] = (await response.json()) as [Table];
    return {
      rows: table.data.map((cells) =>
        Object.fromEntries(table.columns.map(({ name }, i) => [name, cells[i] ?? null])),
      ),
      block: Number(response.headers.get("x-data-block")),
      stale: response.headers.get("x-data-stale"),
    };
  }
});

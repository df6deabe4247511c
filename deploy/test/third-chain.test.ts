import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { startProgram, type TestProcess } from "../../services/shared/testkit/process.ts";
import { createTestChain, type TestChain } from "../devnet/testkit.ts";

/** An id that nothing in the code names. */
const CHAIN_ID = 31_337;
const NAME = "Third chain";
const KEY = "bootstrap key of the third chain";
const FAMILIES = ["slipstream", "aave-v3"] as const;

interface Table {
  readonly columns: readonly { readonly name: string }[];
  readonly data: readonly (readonly unknown[])[];
}

/** In processes of their own: what a process learns of chains stays with it. */
describeThorough("a chain that is an entry of the deployments and EVM_RPC_<id>", () => {
  let chain: TestChain;
  let dataDir: string;
  let url: string;
  let env: Record<string, string>;
  const started: TestProcess[] = [];

  before(async () => {
    chain = await createTestChain({ chainId: CHAIN_ID, poolCount: 2, families: FAMILIES });
    for (let block = 0; block < 6; block += 1) {
      await chain.send(chain.randomActions(block, 4));
      await chain.mine(1, { intervalS: 2 });
    }
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-third-chain-"));
    env = { DATA_DIR: dataDir, DEPLOYMENTS_FILE: await describeChain(), LOG_LEVEL: "info" };
    const rpc = { [`EVM_RPC_${CHAIN_ID}`]: chain.url, [`START_BLOCK_${CHAIN_ID}`]: "0" };
    start("services/evm-dex/ingest/main.ts", rpc);
    start("services/lending/ingest/main.ts", rpc);
    const evmDex = await start("services/evm-dex/main.ts").logged("listening");
    const peers = { EVM_DEX_GRPC: evmDex.grpcAddress };
    const lending = await start("services/lending/main.ts", peers).logged("listening");
    const gateway = start("gateway/main.ts", {
      ...{ GATEWAY_PORT: "0", BOOTSTRAP_API_KEY: KEY, ...peers },
      ...{ EVM_DEX_URL: evmDex.httpUrl, LENDING_URL: lending.httpUrl, LENDING_GRPC: lending.grpcAddress },
    });
    ({ url } = await gateway.logged("listening"));
  });
  after(async () => {
    await Promise.all(started.map((program) => program.stop()));
    await chain?.stop();
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  function start(path: string, more: Record<string, string> = {}): TestProcess {
    const program = startProgram(path, { env: { HTTP_PORT: "0", GRPC_PORT: "0", ...env, ...more } });
    started.push(program);
    return program;
  }

  /** The test chain's own file, with the name and block time of an operator's. */
  async function describeChain(): Promise<string> {
    const document = JSON.parse(await readFile(chain.deploymentsFile, "utf8"));
    for (const { chains } of [document.evmDex, document.lending])
      Object.assign(chains[0], { name: NAME, blockSeconds: 0.25 });
    const path = join(dataDir, "deployments.json");
    await writeFile(path, JSON.stringify(document));
    return path;
  }

  const ask = (path: string) => fetch(url + path, { headers: { "X-API-KEY": KEY } });

  /** The first row by column names, once there is one. */
  async function firstRow(path: string): Promise<Record<string, unknown>> {
    for (;;) {
      const answer = await ask(path);
      const body = await answer.text();
      expect(answer.status, body).to.be.oneOf([200, 404, 503]);
      const [table] = answer.status === 200 ? (JSON.parse(body) as Table[]) : [];
      const row = table?.data[0];
      if (row !== undefined)
        return Object.fromEntries((table as Table).columns.map(({ name }, i) => [name, row[i]]));
      await sleep(50);
    }
  }

  it("is listed with its name and its DEXes", async () => {
    expect(await firstRow("/evm/chains")).to.deep.equal({ id: CHAIN_ID, name: NAME });
    const dex = await firstRow(`/evm/dexes?chain_id=${CHAIN_ID}`);
    expect(dex.chainId).to.equal(CHAIN_ID);
  });

  it("has pools, also at endpoints that the specification binds to Base", async () => {
    const [pool] = chain.pools;
    const at = `chain_id=${CHAIN_ID}`;
    const row = await firstRow(`/evm/dexb/v3/pool?${at}&pool_address=${pool?.address}`);
    const liquidity = await chain.liquidity(pool?.address as `0x${string}`);
    expect(String(row.currentLiquidity)).to.equal(String(liquidity));
    expect((await firstRow(`/evm/dexb/v3/pools?${at}&order_asc=poolAddress`)).chainId).to.equal(CHAIN_ID);
  });

  it("has lending", async () => {
    const row = await firstRow(`/evm/lending/lendinga/v3/pools?chain_id=${CHAIN_ID}`);
    expect(row.chainId).to.equal(CHAIN_ID);
    expect(row.supplyUsd).to.be.a("number");
  });

  it("is in the parameters, which refuse every other chain by name", async () => {
    const refused = await ask("/evm/dexes?chain_id=42161");
    expect(refused.status).to.equal(400);
    expect(await refused.text()).to.include(`1, 8453, ${CHAIN_ID}`);
    const openapi = JSON.parse(await (await ask("/openapi.json")).text());
    const { parameters } = openapi.paths["/evm/dexb/v3/pool"].get;
    const chainId = parameters.find((each: { name: string }) => each.name === "chain_id");
    expect(chainId.schema.enum).to.deep.equal([8453, CHAIN_ID]);
    expect(chainId.description).to.include(`${CHAIN_ID} (${NAME})`);
  });

  it("has settings of its own: those of a chain that no deployments name end the start", async () => {
    const misspelt = start("services/evm-dex/ingest/main.ts", { EVM_RPC_31338: chain.url });
    expect((await misspelt.exited).code).to.equal(78);
  });
});

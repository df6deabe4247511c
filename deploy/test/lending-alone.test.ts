import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { createTestChain, type TestChain } from "../devnet/testkit.ts";
import { type Screen, signalGroup, type } from "./screen.ts";

const KEY = "bootstrap key of lending alone";

describeThorough("npm start with lending alone in its deployments", () => {
  let chain: TestChain;
  let dataDir: string;
  let started: Screen;
  let url: string;

  before(async () => {
    chain = await createTestChain({ poolCount: 1, families: ["aave-v3"] });
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-lending-alone-"));
    const { lending } = JSON.parse(await readFile(chain.deploymentsFile, "utf8"));
    const file = join(dataDir, "deployments.json");
    await writeFile(file, JSON.stringify({ lending }));
    started = type("node -r ./deploy/node-version.cjs --import tsx deploy/all-in-one.ts", {
      ...{ DATA_DIR: dataDir, DEPLOYMENTS_FILE: file, EVM_RPC_8453: chain.url },
      ...{ GATEWAY_PORT: "0", X402_PORT: "0", BOOTSTRAP_API_KEY: KEY },
    });
    const [, found] = await started.shows(/chaintables answers on (http:\S+)/);
    url = found as string;
  });
  after(async () => {
    if (started !== undefined) signalGroup(started.child, "SIGINT");
    await started?.ended;
    await chain?.stop();
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
  });

  const ask = (path: string) => fetch(url + path, { headers: { "X-API-KEY": KEY } });

  it("answers 503 until the chain is read, and then its rows, with USD of the chain's oracles", async () => {
    const aave = "/evm/lending/lendinga/v3/pools";
    for (;;) {
      const answer = await ask(aave);
      if (answer.status === 200) {
        const [table] = (await answer.json()) as [{ columns: { name: string }[]; data: unknown[][] }];
        expect(table.data.length).to.be.above(0);
        const at = (name: string) => table.columns.findIndex((column) => column.name === name);
        const priced = table.data.filter((row) => row[at("tvlUsd")] !== null);
        // Prices come a moment later than rows.
        if (priced.length > 0) {
          for (const row of priced) expect(row[at("priceSource")]).to.equal("aave");
          return;
        }
      } else {
        expect(answer.status).to.equal(503);
        expect(Number(answer.headers.get("retry-after"))).to.be.above(0);
      }
      await sleep(100);
    }
  });

  it("has no DEX pools, and says which chain is configured for what", async () => {
    const pools = await ask("/evm/dexb/v3/pools");
    expect(pools.status, await pools.clone().text()).to.be.oneOf([404, 503]);
    const vaults = await ask("/evm/lending/lendingb/v2/vaults?chain_id=1");
    expect(vaults.status).to.be.oneOf([400, 404]);
    expect(await vaults.text()).to.include("8453");
    expect((await fetch(`${url}/readyz`)).status).to.equal(200);
    expect(started.text()).not.to.match(/^(error|fatal):/m);
  });
});

import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { SERVED, withoutSource } from "../../shared/ingest-status/testkit/status-row.ts";
import { describeThorough, describeWithChain } from "../../shared/testkit/describe.ts";
import { bodyOf } from "../../shared/testkit/fixture.ts";
import { type ServiceProcess, startServiceProcess } from "../../shared/testkit/service-process.ts";
import { checkTable, describeService } from "../../shared/testkit/service-suite.ts";
import { endpoints } from "../contract.ts";
import { WRAPPED_SOL } from "../decode/model.ts";
import { fillFolder } from "./fill.ts";
import { FIRST_SLOT, MEME, POOLS } from "./random-chain.ts";

const entry = new URL("../main.ts", import.meta.url);
const dataDirs = [0, 1].map(() => join(tmpdir(), `chaintables-solana-${randomUUID()}`));
const [emptyDir = "", filledDir = ""] = dataDirs;
after(() => Promise.all(dataDirs.map((dir) => rm(dir, { recursive: true, force: true }))));
const solana = { chainId: 0, name: "Solana" };

describeThorough("solana with an empty store", () => {
  const nothing = { indexedBlock: null, indexedBlockHash: null, indexedTime: null, fromBlock: null };
  describeService({
    name: "solana",
    entry,
    env: { DATA_DIR: emptyDir },
    endpoints,
    status: {
      mode: "empty",
      chains: [{ ...solana, ...nothing, chainHead: null, lagBlocks: null, ...withoutSource(0) }],
      peers: [],
    },
  });
});

describeWithChain("solana over a filled store", () => {
  // Ahead of the clock: these tests may have their turn half an hour after this line, and are about what is not stale.
  const endTime = Math.floor(Date.now() / 1000) + 3_600;
  const indexed = { indexedBlock: 0, indexedBlockHash: "", indexedTime: endTime, fromBlock: FIRST_SLOT };
  const chain = { ...solana, ...indexed, chainHead: 0, lagBlocks: 0, ...SERVED };
  let filled: Awaited<ReturnType<typeof fillFolder>>;
  before(async () => {
    filled = await fillFolder({ dataDir: filledDir, endTime, blocks: 120 });
    const { slot, blockhash } = filled.checkpoint;
    Object.assign(chain, {
      indexedBlock: slot,
      indexedBlockHash: blockhash,
      chainHead: slot,
      finalBlock: slot,
    });
  });

  describeService({
    ...{ name: "solana", entry, env: { DATA_DIR: filledDir }, endpoints },
    status: { mode: "serving", chains: [chain], peers: [] },
  });

  describe("every endpoint", () => {
    let service: ServiceProcess;
    before(async () => {
      service = await startServiceProcess(entry, { DATA_DIR: filledDir });
    });
    after(() => service?.stop("SIGKILL"));

    const token = `token_address=${MEME}`;
    const pool = `pool_address=${POOLS[0]?.address}`;
    const within = `after_time=${endTime - 86_400}&before_time=${endTime + 1}`;
    const queries: Record<string, string> = {
      "token-transactions": `token_address=${WRAPPED_SOL}&days=1&limit=1000`,
      "token-transactions-time-bounded": `${token}&${within}`,
      "pool-transactions": `${pool}&days=1`,
      "pool-transactions-time-bounded": `${pool}&${within}`,
      tokens: "filter=meme",
      "tokens/holders": token,
      "ohlcv/token": `token_address=${WRAPPED_SOL}&interval=5m&${within}`,
      "token-mint-burn-transactions": `${token}&${within}&order_desc=amount`,
      "tokens/security": token,
      prices: `tokens=${WRAPPED_SOL},${MEME}`,
    };

    for (const endpoint of endpoints) {
      const name = endpoint.path.replace("/api/v1/solana/", "");
      it(`${name} returns rows, and the slot that they were made from`, async () => {
        const response = await fetch(`${service.httpUrl}${endpoint.path}?${queries[name]}`);
        expect(response.status).to.equal(200);
        const body = await bodyOf(response);
        checkTable(endpoint, body);
        expect(body.rows).to.be.above(0);
        expect(response.headers.get("x-data-block")).to.equal(String(filled.checkpoint.slot));
        expect(response.headers.get("x-data-from-block")).to.equal(String(FIRST_SLOT));
        const asOf = `${new Date(endTime * 1000).toISOString().slice(0, 19)}+00:00`;
        expect(response.headers.get("x-data-as-of")).to.equal(asOf);
      });
    }

    it("with the rows of the reference, over the wire", async () => {
      const [endpoint] = endpoints;
      const response = await fetch(`${service.httpUrl}${endpoint?.path}?${queries["token-transactions"]}`);
      const { data } = await bodyOf(response);
      const query = { token_address: WRAPPED_SOL, days: 1, limit: 1_000, offset: 0 };
      expect(data).to.deep.equal(filled.reference.tokenTransactions(query));
    });

    it("reports the sizes of its caches as metrics", async () => {
      const metrics = await (await fetch(`${service.httpUrl}/metrics`)).text();
      expect(metrics).to.match(/list_segments_kept\{service="solana"\} [1-9]/);
      expect(metrics).to.match(/head_seen_age_seconds\{service="solana"\} \d/);
    });
  });
});

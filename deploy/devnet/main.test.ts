import { mkdtemp, readFile, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { startProgram, type TestProcess } from "../../services/shared/testkit/process.ts";
import { createRpc } from "./node/rpc.ts";

interface Ready {
  url: string;
  genesisHash: string;
  resumed: boolean;
  deploymentsFile: string;
  pools: { address: string }[];
}

interface Started extends TestProcess {
  ready: Ready;
  blockNumber: () => Promise<number>;
}

async function start(dataDir: string): Promise<Started> {
  const args = ["--port", "0", "--data-dir", dataDir, "--block-ms", "100", "--history-hours", "0"];
  const started = startProgram("deploy/devnet/main.ts", { args });
  const line = await started.find((text) => (text.startsWith("{") ? text : undefined));
  const ready = JSON.parse(line) as Ready;
  const rpc = createRpc(ready.url);
  const blockNumber = async () => Number(await rpc.call("eth_blockNumber"));
  return { ...started, ready, blockNumber };
}

async function waitForBlock({ blockNumber }: Started, number: number): Promise<void> {
  while ((await blockNumber()) < number) await new Promise((resolve) => setTimeout(resolve, 50));
}

describeThorough("devnet: process", () => {
  let dataDir: string;
  let running: Started | undefined;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-devnet-main-"));
  });
  after(async () => {
    await running?.stop("SIGKILL");
    await rm(dataDir, { recursive: true, force: true });
  });

  it("trades, survives kill -9 and a stop, goes on with the same chain, and starts anew from a spoilt file", async () => {
    const first = await start(dataDir);
    running = first;
    expect(first.ready.resumed).to.equal(false);
    expect(first.ready.pools).to.have.length(10);
    const saved = await first.blockNumber();
    await waitForBlock(first, saved + 3);
    const document = await readFile(first.ready.deploymentsFile, "utf8");
    await first.stop("SIGKILL");
    const unreachable = async () =>
      first.blockNumber().then(
        () => false,
        () => true,
      );
    while (!(await unreachable())) await new Promise((resolve) => setTimeout(resolve, 50));

    const second = await start(dataDir);
    running = second;
    expect(second.ready).to.deep.include({ resumed: true, genesisHash: first.ready.genesisHash });
    expect(await readFile(second.ready.deploymentsFile, "utf8")).to.equal(document);
    expect(await second.blockNumber()).to.be.at.least(saved - 5);
    const before = (await second.blockNumber()) + 3;
    await waitForBlock(second, before);
    expect((await second.stop()).code).to.equal(0);

    const stateFile = join(dataDir, "devnet", "chain.json");
    const { blocks } = JSON.parse(await readFile(stateFile, "utf8")) as { blocks: unknown[] };
    expect(blocks.length, "a stop loses nothing").to.be.greaterThan(before);

    await truncate(stateFile, 1_000);
    const third = await start(dataDir);
    running = third;
    expect(third.ready.resumed).to.equal(false);
    expect(third.ready.genesisHash).to.not.equal(first.ready.genesisHash);
    expect(third.lines.join("\n")).to.match(/cannot be continued.*no longer matches/s);
  });
});

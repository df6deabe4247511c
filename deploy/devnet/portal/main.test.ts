import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { it } from "mocha";
import { describeWithProcesses } from "../../../services/shared/testkit/describe.ts";
import { startProgram } from "../../../services/shared/testkit/process.ts";
import { numbersOf, plainBlock, queryFor, send } from "./testkit.ts";

describeWithProcesses("local portal: process", () => {
  it("serves a folder of recorded blocks, and refuses a call without one", async () => {
    const folder = await mkdtemp(join(tmpdir(), "chaintables-portal-"));
    const lines = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, i) => `${JSON.stringify(plainBlock(from + i))}\n`).join("");
    try {
      await writeFile(join(folder, "b.jsonl"), lines(0, 9));
      await writeFile(join(folder, "a.jsonl.gz"), gzipSync(lines(10, 20)));
      await writeFile(join(folder, "notes.txt"), "no blocks");
      const args = ["--blocks", folder, "--port", "0", "--no-limit"];
      const served = startProgram("deploy/devnet/portal/main.ts", { args });
      const { url } = JSON.parse(await served.find((line) => (line.startsWith("{") ? line : undefined)));
      const { text } = await send(`${url}/stream`, {
        body: queryFor({ fromBlock: 2, includeAllBlocks: true }),
      });
      expect(numbersOf(text)).to.deep.equal(Array.from({ length: 19 }, (_, i) => i + 2));
      expect((await send(`${url}/stream`, { body: queryFor({ fromBlock: 21 }) })).status).to.equal(204);
      expect((await served.stop()).code).to.equal(0);
      const wrong = startProgram("deploy/devnet/portal/main.ts", { args: [] });
      const { code, stderr } = await wrong.finished;
      expect(code).to.equal(2);
      expect(stderr).to.contain("name one of --rpc, --solana-rpc and --blocks");
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

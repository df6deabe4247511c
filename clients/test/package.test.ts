import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect } from "chai";
import { build } from "esbuild";
import { after, before, describe, it } from "mocha";
import { run } from "../../deploy/check/command.ts";
import { findChromium, startBrowser } from "../../deploy/test/browser.ts";
import { BOOTSTRAP_KEY } from "../../gateway/testkit/gateway.ts";
import { describeThorough, describeWithProcesses } from "../../services/shared/testkit/describe.ts";
import { type Served, startServed } from "../testkit/served.ts";
import type * as Package from "../typescript/src/index.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SOURCE = join(ROOT, "clients/typescript");
const CHROMIUM = findChromium();

describeWithProcesses("the published TypeScript client", () => {
  let folder: string;
  let served: Served;
  before(async () => {
    [folder, served] = await Promise.all([mkdtemp(join(tmpdir(), "client-")), startServed()]);
  });
  after(async () => {
    await served?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("is built with its types, needs no package, and answers", async () => {
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const { ok, output } = await run(["node", tsc, "-p", SOURCE, "--outDir", folder]);
    expect(ok, output).to.equal(true);
    const manifest = JSON.parse(await readFile(join(SOURCE, "package.json"), "utf8"));
    expect(manifest).not.to.have.any.keys("dependencies", "peerDependencies", "optionalDependencies");
    const { types, default: code } = manifest.exports["."];
    const placeOf = (path: string) => join(folder, path.replace("./dist/", ""));
    expect(await readFile(placeOf(types), "utf8")).to.include("Client");
    const { Client } = (await import(pathToFileURL(placeOf(code)).href)) as typeof Package;
    const client = new Client({ url: served.url, apiKey: BOOTSTRAP_KEY });
    expect((await client.get("/evm/chains")).rows).not.to.deep.equal([]);
  });
});

if (CHROMIUM === undefined) {
  describe("the TypeScript client in Chromium", () => {
    it("pending: there is no Chromium: set CHROMIUM, or install Debian's package", function () {
      this.skip();
    });
  });
} else {
  describeThorough("the TypeScript client in Chromium", () => {
    it("asks from a page of another origin, reads pages and tags, and has errors as such", async () => {
      const served = await startServed();
      const browser = await startBrowser(CHROMIUM);
      try {
        const { outputFiles } = await build({
          entryPoints: [join(SOURCE, "src/index.ts")],
          bundle: true,
          write: false,
          format: "iife",
          globalName: "chaintables",
        });
        const page = await browser.newPage();
        await page.addScriptTag({ content: outputFiles[0]?.text ?? "" });
        const seen = await page.evaluate(
          async ([url = "", apiKey = ""]) => {
            const { chaintables } = globalThis as unknown as { chaintables: typeof Package };
            const client = new chaintables.Client({ url, apiKey });
            const sizes: number[] = [];
            for await (const { rows } of client.pages("/evm/dexb/v3/pools", { limit: 20 }))
              sizes.push(rows.length);
            const first = await client.get("/evm/chains");
            const isSame = (await client.get("/evm/chains")) === first;
            const error = await client
              .get("/evm/dexb/v3/pools", { limit: 0 })
              .catch((thrown: unknown) => thrown);
            const { parameter, value } = error as Package.ParameterError;
            return { sizes, block: first.block, isSame, parameter, value };
          },
          [served.url, BOOTSTRAP_KEY],
        );
        expect(seen).to.deep.include({ block: 4_711, isSame: true, parameter: "limit", value: "0" });
        expect(seen.sizes.length).to.be.greaterThan(1);
        expect(served.evmDex.seen.at(-2)?.headers["if-none-match"]).to.be.a("string");
      } finally {
        await browser.close();
        await served.stop();
      }
    });
  });
}

import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { it } from "mocha";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { builtFile } from "../../services/shared/testkit/process.ts";
import { ROOT, run } from "./screen.ts";

const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  scripts: Readonly<Record<string, string>>;
};

/** What a person or a supervisor runs, by its script, with something that its help has to name. */
const COMMANDS = {
  start: "EVM_RPC_8453",
  gateway: "GATEWAY_PORT",
  "evm-dex": "DEPLOYMENTS_FILE",
  lending: "CURATORS_FILE",
  solana: "HTTP_PORT",
  "ingest:evm-dex": "START_BLOCK_8453",
  "ingest:lending": "LENDING_REFRESH_SECONDS",
  "ingest:solana": "SOLANA_RPC",
  facilitator: "FACILITATOR_PRIVATE_KEY",
  devnet: "--history-hours",
  "devnet:solana": "--slot-ms",
  "devnet:portal": "--finalized-lag",
  record: "--out",
  import: "--check",
  audit: "--chain",
  doctor: "--days",
  pools: "--sha256",
  curators: "--deployments",
  keys: "create",
  payments: "list",
  pay: "--url",
  mcp: "CHAINTABLES_API_KEY",
  export: "--format",
} as const;

/** As npm runs it, without npm's own second. */
const commandOf = (script: string, words: string) =>
  `${(scripts[script] as string).replace(/^exec /, "")} ${words}`;
/** The same of the built program, where there is one: it starts with a quarter of the CPU. */
const quickCommandOf = (script: string, words: string) =>
  commandOf(script, words).replace(/--import tsx (\S+)/, (asWritten, source) => {
    return builtFile(join(ROOT, source)) ?? asWritten;
  });

describeThorough("the command line", () => {
  for (const [script, named] of Object.entries(COMMANDS)) {
    it(`npm run ${script} -- --help explains itself; an unknown option is exit 2 with a sentence`, async () => {
      const [help, unknown] = await Promise.all([
        run(quickCommandOf(script, "--help")),
        run(quickCommandOf(script, "--nope")),
      ]);
      expect(help.code, help.screen.text()).to.equal(0);
      expect(help.screen.output())
        .to.match(/^(Usage:|Compares)/)
        .and.include(named);
      expect(unknown.code, unknown.screen.text()).to.equal(2);
      expect(unknown.screen.text())
        .to.include("--nope")
        .and.not.match(/^ +at /m);
      expect(unknown.screen.output()).to.equal("");
    });
  }

  it("refuses a Node that is too old in one sentence, before anything else is loaded", async () => {
    const folder = await mkdtemp(join(tmpdir(), "chaintables-node-"));
    try {
      const old = join(folder, "old.cjs");
      const versions = '{ ...process.versions, node: "18.20.8" }';
      await writeFile(old, `Object.defineProperty(process, "versions", { value: ${versions} });`);
      for (const script of Object.keys(COMMANDS)) {
        const [program, ...words] = commandOf(script, "").trim().split(" ");
        expect(words.slice(0, 2), script).to.deep.equal(["-r", "./deploy/node-version.cjs"]);
        expect(program).to.equal("node");
      }
      const { code, screen } = await run(commandOf("start", "").replace("-r ", `-r ${old} -r `).trim());
      expect(code).to.equal(78);
      expect(screen.text()).to.equal(
        "chaintables needs Node 20.19 or newer, and this is Node 18.20.8: get one from https://nodejs.org\n",
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { runProgram, startProgram, type TestProcess } from "../../services/shared/testkit/process.ts";
import { type Stack, startStack } from "./stack.ts";

const SOL = "So11111111111111111111111111111111111111112";
/** Of each service tables, single rows and candles. */
const PATHS = {
  "evm-dex": ["/evm/chains", "/evm/dexb/v3/pools?limit=50", "/evm/dexa/v2/pools", "/evm/clones/v3/pools"],
  lending: ["/evm/lending/lendinga/v3/pools", "/evm/lending/lendingc/v1/vaults"],
  solana: [
    "/api/v1/solana/tokens?limit=20",
    `/api/v1/solana/token-transactions?token_address=${SOL}&days=2`,
    `/api/v1/solana/tokens/holders?token_address=${SOL}`,
  ],
} as const;

describeThorough("services over a store that they may only read", () => {
  let stack: Stack;
  const started: TestProcess[] = [];
  before(async () => {
    stack = await startStack();
    await chmod(stack.data.dataDir, 0o555);
  });
  after(async () => {
    await Promise.all(started.map((program) => program.stop("SIGKILL")));
    if (stack === undefined) return;
    await chmod(stack.data.dataDir, 0o755);
    await stack.stop();
  });
  const start = (path: string, more: Readonly<Record<string, string>> = {}) => {
    const { dataDir, deploymentsFile } = stack.data;
    const program = startProgram(path, {
      obeysPermissions: true,
      env: {
        ...{ DATA_DIR: dataDir, DEPLOYMENTS_FILE: deploymentsFile, LOG_LEVEL: "info" },
        ...{ HTTP_PORT: "0", GRPC_PORT: "0", ...more },
      },
    });
    started.push(program);
    return program;
  };

  it("answer as those that may write, and say in their log what they do without", async () => {
    const evmDex = start("services/evm-dex/main.ts");
    const { grpcAddress } = await evmDex.logged("listening");
    const services = {
      "evm-dex": evmDex,
      lending: start("services/lending/main.ts", { EVM_DEX_GRPC: grpcAddress }),
      solana: start("services/solana/main.ts"),
    };
    for (const [name, program] of Object.entries(services)) {
      const { httpUrl } = await program.logged("listening");
      const { msg } = await program.find((line) =>
        line.includes("read only") ? JSON.parse(line) : undefined,
      );
      expect(msg).to.contain("what the ingest would read on request is not asked for");
      const other = await (stack.processes[`services/${name}/main.ts`] as TestProcess).logged("listening");
      for (const path of PATHS[name as keyof typeof PATHS]) {
        const [found, expected] = await Promise.all(
          [httpUrl, other.httpUrl].map(async (url) => {
            const answer = await fetch(url + path);
            return { status: answer.status, body: await answer.json() };
          }),
        );
        expect(found?.status, path).to.equal(200);
        expect(found, path).to.deep.equal(expected);
      }
    }
    // A wallet that nobody has asked for and a token whose holders are not all known ask the ingest for nothing.
    const { httpUrl } = await evmDex.logged("listening");
    const wallet = `0x${"7".repeat(40)}`;
    await fetch(`${httpUrl}/evm/provider/summary?provider_address=${wallet}&days=1`);
    await Promise.all(Object.values(services).map((service) => service.stop()));
    const lines = Object.values(services).flatMap((service) => service.lines);
    expect(lines.filter((line) => /queueing wallets|cannot be asked for/.test(line))).to.deep.equal([]);
  });

  it("are looked at by commands that only read: the audit, and the export of pools", async () => {
    const { dataDir, deploymentsFile } = stack.data;
    const env = { DATA_DIR: dataDir, DEPLOYMENTS_FILE: deploymentsFile };
    const run = (program: string, ...args: string[]) =>
      runProgram(program, { args, env, obeysPermissions: true });
    const audit = await run(
      "services/evm-dex/audit/main.ts",
      "--chain",
      "8453",
      "--pools",
      "1",
      "--store-only",
    );
    expect(audit.code, audit.stderr + audit.stdout).to.equal(0);
    expect(audit.stdout).to.match(/values of 1 pools: 0 differ/);
    const folder = await mkdtemp(join(tmpdir(), "read-only-"));
    const out = join(folder, "pools");
    const pools = ["export", "--chain", "8453", "--out", out] as const;
    const exported = await run("services/evm-dex/ingest/pools-file/main.ts", ...pools);
    // The devnet's blocks may not be final yet: what counts is that the store was read.
    expect(exported.stderr).to.match(/\d+ pools|final/);
    expect(exported.stderr).not.to.match(/permission|may only read|readonly/);
    await rm(folder, { recursive: true });
  });

  it("are refused where they must write: the ingest and the gateway say so and end", async () => {
    const { rpcUrl } = stack.data;
    const ingest = start("services/evm-dex/ingest/main.ts", { EVM_RPC_8453: rpcUrl });
    const gateway = start("gateway/main.ts", { GATEWAY_PORT: "0" });
    for (const program of [ingest, gateway]) {
      expect((await program.exited).code, program.lines.join("\n")).to.equal(78);
      expect(program.lines.join("\n")).to.contain("permission denied");
    }
  });
});

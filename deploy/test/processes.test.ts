import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeWithChain } from "../../services/shared/testkit/describe.ts";
import { startProgram, type TestProcess } from "../../services/shared/testkit/process.ts";
import { createTestChain, type TestChain } from "../devnet/testkit.ts";
import { demoFacilitator, demoTill, preparePayments } from "../devnet/usdc/demo-wallets.ts";

/** /proc of Linux shows which process listens where. */
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
const LOOPBACK = /^(0100007F|00000000000000000000000001000000)$/;

describeWithChain("the processes of npm start with BIND_HOST=0.0.0.0", () => {
  let chain: TestChain;
  let dataDir: string;
  let started: TestProcess | undefined;
  before(async function () {
    if (!existsSync("/proc/net/tcp")) this.skip();
    chain = await createTestChain({ poolCount: 1 });
    await chain.mine(2, { intervalS: 2 });
    await preparePayments(chain.anvil.rpc);
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-ports-"));
    started = startProgram("deploy/all-in-one.ts", {
      env: {
        ...{ BIND_HOST: "0.0.0.0", GATEWAY_PORT: "0", X402_PORT: "0", FACILITATOR_PORT: "0" },
        ...{ DATA_DIR: dataDir, LOG_LEVEL: "info", DEPLOYMENTS_FILE: chain.deploymentsFile },
        ...{ EVM_RPC_8453: chain.url, START_BLOCK_8453: "0" },
        ...{ X402_PAY_TO: demoTill.address, X402_PUBLIC_URL: "http://pay.example" },
        FACILITATOR_PRIVATE_KEY: demoFacilitator.privateKey,
      },
    });
    await started.find((line) => (isOfGateway(line) ? true : undefined));
  });
  after(async () => {
    if (started !== undefined) await started.stop();
    await chain?.stop();
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  it("opens the gateway to others, and neither services nor facilitator, which skip keys and payment", async () => {
    const inner = (started?.lines ?? [])
      .filter((line) => /\blistening\b/.test(line) && !isOfGateway(line))
      .flatMap((line) => [...line.matchAll(/\d+\.\d+\.\d+\.\d+:(\d+)/g)].map(([, port]) => Number(port)));
    expect(inner, "HTTP and gRPC of three services, and the facilitator").to.have.length(7);
    const listeners = await readListeners(await treeOf(started?.child.pid ?? 0));
    const open = listeners.filter(({ address }) => !LOOPBACK.test(address)).map(({ port }) => port);
    expect(open, "the gateway, and where requests are sold").to.have.length(2);
    expect(listeners.map(({ port }) => port)).to.include.members(inner);
    expect(open).not.to.include.members(inner);
    for (const port of inner) expect(open).not.to.include(port);
  });

  it("are ingests whose allocator gives freed memory back, as in the manifests", async () => {
    const found: string[] = [];
    for (const pid of await treeOf(started?.child.pid ?? 0)) {
      const [, ingest] = /services\/([a-z-]+)\/ingest\/main/.exec(await readProcess(pid, "cmdline")) ?? [];
      if (ingest === undefined) continue;
      found.push(ingest);
      const environment = (await readProcess(pid, "environ")).split("\0");
      const set = environment.filter((line) => line.startsWith("MALLOC_"));
      expect(set, ingest).to.deep.equal(["MALLOC_MMAP_THRESHOLD_=262144"]);
    }
    expect(found).to.include("evm-dex");
  });
});

function readProcess(pid: number, file: "cmdline" | "environ"): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
}

/** As JSON or as a sentence. */
function isOfGateway(line: string): boolean {
  return /\bgateway\b.*\blistening\b/.test(line);
}

/** A process and all below it. */
async function treeOf(root: number): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir("/proc")) {
    const stat = /^\d+$/.test(name) ? await readFile(`/proc/${name}/stat`, "utf8").catch(() => "") : "";
    const parent = /\) \S (\d+)/.exec(stat)?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const tree = [root];
  for (const pid of tree) for (const [child, parent] of parents) if (parent === pid) tree.push(child);
  return tree;
}

async function readListeners(pids: readonly number[]): Promise<{ address: string; port: number }[]> {
  const inodes = new Set<string>();
  for (const pid of pids) {
    for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => "");
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
      if (inode !== undefined) inodes.add(inode);
    }
  }
  const rows = (await Promise.all(TABLES.map((file) => readFile(file, "utf8").catch(() => "")))).join("\n");
  return rows.split("\n").flatMap((row) => {
    const fields = row.trim().split(/\s+/);
    const [address = "", port = ""] = fields[1]?.split(":") ?? [];
    // 0A: LISTEN.
    return fields[3] === "0A" && inodes.has(fields[9] ?? "")
      ? [{ address, port: Number.parseInt(port, 16) }]
      : [];
  });
}

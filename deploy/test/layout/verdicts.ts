import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { runProgram } from "../../../services/shared/testkit/process.ts";
import { KEY, type Layout } from "./layout.ts";
import type { Answer } from "./load.ts";
import { Member } from "./member.ts";
import { tradesPath } from "./paths.ts";

/** Errors that the documents promise where a process or a store is gone: timed out, unavailable. */
const DOCUMENTED = [408, 502, 503, 504];
const SLOTS = 100_000;

/** Every answer is a table or a documented error in its form. */
export function requireDocumented(answers: readonly Answer[]): void {
  const unknown = answers.filter(
    ({ status }) => status !== undefined && status !== 200 && !DOCUMENTED.includes(status),
  );
  expect(unknown).to.deep.equal([]);
  for (const { error, status } of answers) {
    if (status === undefined || status === 200) continue;
    expect(JSON.parse(error as string), error).to.include.keys("error", "message", "session");
  }
}

/** Resolves when both gateways answer with the heads that the chains have now. */
export async function comeToHead(layout: Layout): Promise<void> {
  const heads = {
    "/evm/dexb/v3/pools?chain_id=8453&limit=1": await layout.chain.headNumber(),
    "/evm/lending/lendinga/v3/pools?chain_id=8453": await layout.chain.headNumber(),
    "/api/v1/solana/tokens?limit=1": layout.solana.chain.head("confirmed"),
  };
  for (const { url } of layout.gateways)
    for (const [path, head] of Object.entries(heads)) {
      const read = async () => {
        const { headers } = await fetch(url + path, { headers: { "x-api-key": KEY } });
        return Number(headers.get("x-data-block"));
      };
      while ((await read()) < head) await sleep(100);
    }
}

/** The rows of the EVM DEXes are those of the chain. */
export async function passAudit({ dataDir, settings }: Layout): Promise<void> {
  const { code, stdout, stderr } = await runProgram("services/evm-dex/audit/main.ts", {
    args: ["--chain", "8453", "--pools", "20"],
    env: { ...settings, DATA_DIR: dataDir },
  });
  expect(code, stdout + stderr).to.equal(0);
}

/** The trades are those of an index of the same chain that nothing has disturbed. Ends the layout's processes of solana. */
export async function equalUndisturbed(layout: Layout): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "chaintables-undisturbed-"));
  const members = ["solana-ingest", "solana"].map((role) => {
    const { plan } = layout.members.find((each) => each.plan.role === role) as Member;
    return new Member({ ...plan, env: { ...plan.env, DATA_DIR: folder, MONGODB_URL: "", REDIS_URL: "" } });
  });
  // Its ports are those of the first ones.
  await Promise.all(
    layout
      .membersWith("solana-ingest")
      .concat(layout.membersWith("solana"))
      .map((each) => each.stop("SIGTERM")),
  );
  const disturbed = layout.membersWith("solana")[0] as Member;
  await disturbed.start();
  const url = disturbed.plan.readyUrl.replace("/readyz", "");
  const expected = await readTrades(url);
  await disturbed.stop("SIGTERM");
  try {
    for (const member of members) await member.start();
    let found = await readTrades(url);
    // Pages of an index that goes on meanwhile are of several states.
    while (found.slot < expected.slot || !found.isOneState) {
      await sleep(100);
      found = await readTrades(url);
    }
    expect(found.rows.length).to.be.above(100);
    expect(expected.rows).to.deep.equal(found.rows);
  } finally {
    for (const member of members) await member.stop("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
}

interface Trades {
  readonly slot: number;
  readonly rows: readonly unknown[];
  readonly isOneState: boolean;
}

async function readTrades(url: string): Promise<Trades> {
  const rows: unknown[] = [];
  const slots = new Set<number>();
  for (let offset = 0; offset < SLOTS; offset += 1_000) {
    const response = await ask(`${url}${tradesPath({ limit: 1_000, offset })}`);
    slots.add(Number(response.headers.get("x-data-block")));
    const parsed = (await response.json()) as { data: unknown[] } | [{ data: unknown[] }];
    const { data } = Array.isArray(parsed) ? parsed[0] : parsed;
    rows.push(...data);
    if (data.length < 1_000) break;
  }
  return { slot: Math.max(...slots), rows, isOneState: slots.size === 1 };
}

async function ask(url: string): Promise<Response> {
  const response = await fetch(url, { headers: { "x-api-key": KEY } });
  if (response.status !== 200) throw new Error(`${url} answers ${response.status}: ${await response.text()}`);
  return response;
}

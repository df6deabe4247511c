import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startProgram, type TestProcess } from "../../services/shared/testkit/process.ts";
import { deskPools } from "../devnet/plan.ts";
import { createTestChain } from "../devnet/testkit.ts";
import { demoTill } from "../devnet/usdc/demo-wallets.ts";

/** The gateway and the three services as processes of their own, over stores with something in them. */
export interface Stack {
  /** Of the gateway. */
  readonly url: string;
  /** Where operators read /metrics of the gateway. */
  readonly adminUrl: string;
  readonly payUrl: string;
  /** An API key with every scope. */
  readonly key: string;
  /** Addresses of pools, tokens, vaults and accounts that the stores know, as the API returns them. */
  readonly known: readonly string[];
  /** Where the stores are, the node of the chain that they index, and its contracts. */
  readonly data: { readonly dataDir: string; readonly rpcUrl: string; readonly deploymentsFile: string };
  /** The processes, by name. */
  readonly processes: Readonly<Record<string, TestProcess>>;
  stop(): Promise<void>;
}

const KEY = "bootstrap key of the stack";
const FAMILIES = [
  "aerodrome-v2",
  "slipstream",
  "pancake-v3",
  "sushi-v3",
  "aave-v3",
  "morpho-v1",
  "euler-v2",
] as const;
const BLOCKS = 12;
const BLOCK_S = 60;
/** Lists that are filled when the ingests have caught up. */
const FILLED = [
  "/evm/dexa/v2/pools",
  "/evm/dexb/v3/pools",
  "/evm/clones/v3/pools",
  "/evm/lending/lendinga/v3/pools",
  "/evm/lending/lendingb/v2/vaults",
  "/evm/lending/lendingc/v1/vaults",
  "/api/v1/solana/tokens",
  "/api/v1/solana/token-transactions?token_address=So11111111111111111111111111111111111111112&days=2",
];
const EVM_ADDRESS = /\b0x[0-9a-f]{40}\b/gi;
const ADDRESS = /^(0x[0-9a-f]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/;

/** Limits are out of the way, and payments find a facilitator that refuses them all. */
export async function startStack(env: Readonly<Record<string, string>> = {}): Promise<Stack> {
  const dataDir = await mkdtemp(join(tmpdir(), "chaintables-stack-"));
  const facilitator = await startRefusingFacilitator();
  // Its last block is now: rows of blocks in the future would be outside of every range of time up to now.
  const timestamp = Math.floor(Date.now() / 1_000) - BLOCKS * BLOCK_S - 30;
  const chain = await createTestChain({ poolCount: 3, families: FAMILIES, timestamp });
  const processes: Record<string, TestProcess> = {};
  const start = (path: string, more: Record<string, string> = {}) => {
    const own = {
      DATA_DIR: dataDir,
      DEPLOYMENTS_FILE: chain.deploymentsFile,
      LOG_LEVEL: "info",
      ...env,
      ...more,
    };
    const started = startProgram(path, { env: { HTTP_PORT: "0", GRPC_PORT: "0", ...own } });
    processes[path.split("/").slice(-3).join("/")] = started;
    return started;
  };
  const stop = async () => {
    await Promise.all(Object.values(processes).map((started) => started.stop("SIGKILL")));
    facilitator.close();
    await chain.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    // All DEXes have trades: pages of pools have candles of each.
    const traded = deskPools(chain.deployment);
    for (let block = 0; block < BLOCKS; block += 1) {
      await chain.send(chain.randomActions(block, 8, traded));
      await chain.sendTransactions(chain.aerodrome.randomTransactions(block, 4));
      await chain.mine(1, { intervalS: BLOCK_S });
    }
    const filling = start("services/solana/test/fill.main.ts").exited;
    const rpc = { EVM_RPC_8453: chain.url, START_BLOCK_8453: "0" };
    const ingests = ["evm-dex", "lending"].map((name) => start(`services/${name}/ingest/main.ts`, rpc));
    if ((await filling).code !== 0) throw new Error("The store of solana could not be filled");
    const evmDex = await start("services/evm-dex/main.ts").logged("listening");
    const { grpcAddress } = evmDex;
    const lending = await start("services/lending/main.ts", { EVM_DEX_GRPC: grpcAddress }).logged(
      "listening",
    );
    const solana = await start("services/solana/main.ts").logged("listening");
    const gateway = start("gateway/main.ts", {
      ...{ GATEWAY_PORT: "0", BOOTSTRAP_API_KEY: KEY, ADDRESS_RATE: "1000000", ADDRESS_BURST: "1000000" },
      ...{ VERIFY_RATE: "1000000", VERIFY_BURST: "1000000" },
      ...{ EVM_DEX_URL: evmDex.httpUrl, EVM_DEX_GRPC: grpcAddress },
      ...{ LENDING_URL: lending.httpUrl, LENDING_GRPC: lending.grpcAddress },
      ...{ SOLANA_URL: solana.httpUrl, SOLANA_GRPC: solana.grpcAddress },
      ...{ X402_PORT: "0", X402_PAY_TO: demoTill.address, X402_PUBLIC_URL: "http://pay.example" },
      ...{ X402_FACILITATOR_URL: facilitator.url, EVM_RPC_8453: chain.url },
    });
    const { url } = await gateway.logged("listening");
    const payUrl = await gateway.find((line) => /"url":"([^"]+)".*"selling requests"/.exec(line)?.[1]);
    const adminUrl = await gateway.find((line) => /"url":"([^"]+)".*"serving metrics"/.exec(line)?.[1]);
    while ((await fetch(`${url}/readyz`)).status !== 200) await sleep(50);
    const deployed = JSON.stringify(chain.deployment, (_key, value) =>
      typeof value === "bigint" ? `${value}` : value,
    );
    const known = [
      ...(await readKnown(url, await chain.headNumber())),
      ...new Set(deployed.match(EVM_ADDRESS) ?? []),
    ];
    // Responses over a store that changes are not repeatable, and the ingests would take a part of the machine.
    await Promise.all(ingests.map((ingest) => ingest.stop()));
    for (const name of Object.keys(processes)) if (/ingest|fill/.test(name)) delete processes[name];
    const data = { dataDir, rpcUrl: chain.url, deploymentsFile: chain.deploymentsFile };
    return { url, adminUrl, payUrl, key: KEY, known, data, processes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Waits until every list has rows of the head, and collects the addresses in them. */
async function readKnown(url: string, head: number): Promise<string[]> {
  const cells: string[] = [];
  for (const path of FILLED) {
    let found: string[] = [];
    while (found.length === 0) {
      await sleep(20);
      found = await readCells(url + path, head);
    }
    cells.push(...found);
  }
  return [...new Set(cells.filter((cell) => ADDRESS.test(cell)))];
}

/** Texts in the rows of a list; none while it is behind the head. */
async function readCells(url: string, head: number): Promise<string[]> {
  const answer = await fetch(url, { headers: { "X-API-KEY": KEY } });
  const text = await answer.text();
  if (answer.status >= 400 && answer.status < 500) throw new Error(`${url} answered ${text}`);
  const isOnHead = url.includes("/solana/") || Number(answer.headers.get("x-data-block")) >= head;
  return answer.status === 200 && isOnHead ? cellsOf(text) : [];
}

function cellsOf(text: string): string[] {
  const parsed = JSON.parse(text);
  const { data } = Array.isArray(parsed) ? parsed[0] : parsed;
  return data.flat(3).filter((cell: unknown) => typeof cell === "string");
}

async function startRefusingFacilitator(): Promise<{ url: string; close(): void }> {
  const server = createServer((req, res) => {
    req.resume();
    const kinds = [{ x402Version: 2, scheme: "exact", network: "eip155:8453" }];
    const answer =
      req.url === "/supported" ? { kinds } : { isValid: false, invalidReason: "invalid_payload" };
    res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close().closeAllConnections() };
}

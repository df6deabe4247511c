import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, beforeEach, it } from "mocha";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { startProgram, type TestProcess } from "../../services/shared/testkit/process.ts";

const KEY = "key of this test alone";
const CONNECTIONS = 16;
const TOKEN = "So11111111111111111111111111111111111111112";
const PATH = "/api/v1/solana/token-transactions";

interface Sent {
  readonly beganMs: number;
  readonly endedMs: number;
  /** Undefined without a response. */
  readonly status: number | undefined;
}

describeThorough("two replicas of solana over one store, behind the gateway", () => {
  let dataDir: string;
  let url: string;
  let replicas: TestProcess[];
  const started: TestProcess[] = [];

  const start = (path: string, env: Record<string, string> = {}): TestProcess => {
    const free = {
      HTTP_PORT: "0",
      GRPC_PORT: "0",
      GATEWAY_PORT: "0",
      LOG_LEVEL: "info",
      BOOTSTRAP_API_KEY: KEY,
    };
    const program = startProgram(path, { env: { DATA_DIR: dataDir, ...free, ...env } });
    started.push(program);
    return program;
  };

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-replicas-"));
    expect((await start("services/solana/test/fill.main.ts").exited).code).to.equal(0);
  });
  beforeEach(async () => {
    replicas = [start("services/solana/main.ts"), start("services/solana/main.ts")];
    const addresses = await Promise.all(replicas.map((replica) => replica.logged("listening")));
    const gateway = start("gateway/main.ts", {
      SOLANA_URL: addresses.map(({ httpUrl }) => httpUrl).join(","),
      SOLANA_GRPC: addresses.map(({ grpcAddress }) => grpcAddress).join(","),
      // Every request is to reach a replica.
      RESPONSE_CACHE_MB: "0",
    });
    ({ url } = await gateway.logged("listening"));
    // Until the gateway has found both.
    while (replicas.some((replica) => answered(replica) === 0)) await sendMany(2);
  });
  after(async () => {
    await Promise.all(started.map((program) => program.stop("SIGKILL")));
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  it("share its load: each answers 40 to 60 % of the requests", async () => {
    const before = replicas.map(answered);
    const sent = await sendMany(1_000);
    expect(sent.map(({ status }) => status)).to.deep.equal(sent.map(() => 200));
    // The last lines of the logs may still be on their way.
    const counts = () => replicas.map((replica, i) => answered(replica) - (before[i] as number));
    while (counts().reduce((sum, count) => sum + count, 0) < sent.length) await new Promise(setImmediate);
    for (const count of counts()) expect(count / sent.length, `of ${counts()}`).to.be.within(0.4, 0.6);
  });

  it("one killed under load costs no request but those in flight on it", async () => {
    let killedMs = Number.POSITIVE_INFINITY;
    const kill = (done: number): void => {
      if (done !== 300) return;
      killedMs = performance.now();
      void replicas[0]?.stop("SIGKILL");
    };
    const sent = await sendMany(1_500, kill);
    const failed = sent.filter(({ status }) => status !== 200);
    const inFlight = sent.filter(({ beganMs, endedMs }) => beganMs <= killedMs && endedMs >= killedMs);
    expect(inFlight.length).to.be.at.most(CONNECTIONS);
    for (const one of failed) expect(one.beganMs, `${one.status}`).to.be.at.most(killedMs);
    expect(failed.length).to.be.at.most(inFlight.length);
    expect(sent.filter(({ beganMs }) => beganMs > killedMs)).to.have.length.above(1_000);
  });

  /** Requests over some connections, each the next when the one before is answered; no two are the same. */
  async function sendMany(count: number, onDone: (done: number) => void = () => {}): Promise<Sent[]> {
    const sent: Sent[] = [];
    let next = 0;
    const sendOn = async (): Promise<void> => {
      while (next < count) {
        const offset = next++;
        const beganMs = performance.now();
        const status = await send(offset);
        sent.push({ beganMs, endedMs: performance.now(), status });
        onDone(sent.length);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, sendOn));
    return sent;
  }

  async function send(offset: number): Promise<number | undefined> {
    const query = `token_address=${TOKEN}&days=1&limit=20&offset=${offset}`;
    try {
      const response = await fetch(`${url}${PATH}?${query}`, { headers: { "X-API-KEY": KEY } });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return undefined;
    }
  }
});

/** Requests for rows in a replica's log. */
function answered({ lines }: TestProcess): number {
  return lines.filter((line) => line.includes('"msg":"request"') && line.includes(`"route":"${PATH}"`))
    .length;
}

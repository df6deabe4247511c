import { get } from "node:http";
import { expect } from "chai";
import { afterEach, beforeEach, it } from "mocha";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { runProgram } from "../../services/shared/testkit/process.ts";
import {
  createGatewayProcesses,
  type GatewayProcess,
  type GatewayProcesses,
} from "../testkit/gateway-process.ts";
import { until } from "../testkit/until.ts";

interface Line {
  readonly pid: number;
  readonly msg: string;
  readonly route?: string;
  readonly worker?: number;
}

const linesOf = (gateway: GatewayProcess): Line[] =>
  gateway
    .stdout()
    .split("\n")
    .slice(0, -1)
    .map((text) => JSON.parse(text));
const pidsOf = (gateway: GatewayProcess, msg: string): number[] =>
  linesOf(gateway).flatMap((line) => (line.msg === msg ? [line.pid] : []));

/** Over a connection of its own, since workers receive connections in turn. */
const fetchText = (url: string, key: string): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    get(url, { agent: false, headers: { "X-API-KEY": key } }, (res) => {
      let text = "";
      res.on("data", (chunk) => (text += chunk));
      res.on("end", () => resolve({ status: res.statusCode as number, text }));
    }).on("error", reject);
  });

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describeThorough("gateway: several workers", () => {
  if ("Deno" in globalThis) {
    it("are refused under Deno, which has no node:cluster", async () => {
      const { code, stdout } = await runProgram("gateway/main.ts", { env: { GATEWAY_WORKERS: "2" } });
      expect(code).to.equal(78);
      expect(stdout).to.contain("GATEWAY_WORKERS: it must be 1 under Deno");
    });
    return;
  }

  let gateways: GatewayProcesses;
  let key: string;
  beforeEach(async () => {
    gateways = await createGatewayProcesses();
    const { stdout } = await gateways.keys(["create", "--label", "a client", "--json"]);
    key = (JSON.parse(stdout) as { key: string }).key;
  });
  afterEach(() => gateways.remove());

  const start = async (env: Readonly<Record<string, string>> = {}) => {
    const gateway = await gateways.start({ GATEWAY_WORKERS: "2", ...env });
    await until(() => pidsOf(gateway, "all workers listen").length === 1);
    return gateway;
  };
  const statuses = async ({ url }: GatewayProcess, count: number) =>
    (await Promise.all(Array.from({ length: count }, () => fetchText(`${url}/evm/chains`, key)))).map(
      ({ status }) => status,
    );

  it("answer in turn, and are one gateway to limits, metrics and usage", async () => {
    const gateway = await start({ KEY_RATE: "0.001", KEY_BURST: "5" });
    const received = await statuses(gateway, 12);
    expect(received.filter((status) => status === 200)).to.have.length(5);
    expect(received.filter((status) => status === 429)).to.have.length(7);
    const byWorker = () => linesOf(gateway).filter(({ route }) => route === "/evm/chains");
    await until(() => byWorker().length === 12);
    expect(new Set(byWorker().map(({ pid }) => pid)).size).to.equal(2);

    const { text } = await fetchText(`${gateway.adminUrl}/metrics`, "");
    const countOf = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
    const decided = (outcome: string) =>
      countOf(`gateway_limit_decisions_total\\{kind="key",outcome="${outcome}",service="gateway"\\}`);
    expect([decided("allowed"), decided("limited")]).to.deep.equal([5, 7]);
    expect(
      /^http_request_duration_seconds_count\{[^}]*evm\/chains[^}]*status="200"[^}]*\} 5$/m.test(text),
    ).to.equal(true);
    expect((await fetchText(`${gateway.url}/metrics`, "")).status).to.equal(404);
    expect(/^build_info\{[^}]*\} 1$/m.test(text)).to.equal(true);
    expect(/^gateway_upstream_serving\{[^}]*\} 1$/m.test(text), text).to.equal(true);
  });

  it("write the usage of a key together", async () => {
    const gateway = await start();
    expect(await statuses(gateway, 12)).to.deep.equal(Array(12).fill(200));
    const used = async () => {
      const { text } = await fetchText(`${gateway.url}/usage`, key);
      return (JSON.parse(text) as { usage: { requests: number }[] }).usage[0]?.requests;
    };
    // Each reports its own at once, and the others' when they have written it.
    await until(async () => (await used()) === 12 && (await used()) === 12);
  });

  it("are replaced when they die, and the others keep serving", async () => {
    const gateway = await start();
    const [first] = pidsOf(gateway, "listening") as [number];
    process.kill(first, "SIGKILL");
    await until(() =>
      linesOf(gateway).some(({ msg, worker }) => msg === "a worker ended" && worker === first),
    );
    // Not before the parent has seen the end of its channel, too: until then it hands connections to the dead one.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await statuses(gateway, 6)).to.deep.equal(Array(6).fill(200));
    await until(() => pidsOf(gateway, "listening").length === 3);
    expect(await statuses(gateway, 6)).to.deep.equal(Array(6).fill(200));
    const served = new Set(
      linesOf(gateway)
        .filter(({ route }) => route === "/evm/chains")
        .map(({ pid }) => pid),
    );
    expect(served.size).to.be.at.least(1);
    expect(served.has(first)).to.equal(false);
  });

  it("stop with their parent: in order on SIGTERM, at once where it is killed", async () => {
    const gateway = await start();
    gateway.signal("SIGTERM");
    const { code, stdout } = await gateway.finished;
    expect(code).to.equal(0);
    expect(stdout.match(/"msg":"stopped"/g)).to.have.length(2);

    const other = await start();
    const workers = pidsOf(other, "listening");
    other.signal("SIGKILL");
    await until(() => !workers.some(isAlive));
  });

  it("end the whole fleet where they cannot listen", async () => {
    const gateway = await start();
    const port = new URL(gateway.url).port;
    const { code, stdout } = await runProgram("gateway/main.ts", {
      env: {
        GATEWAY_WORKERS: "2",
        GATEWAY_PORT: port,
        ADMIN_PORT: "0",
      },
    });
    expect(code).to.equal(1);
    expect(stdout).to.contain("EADDRINUSE");
  });
});

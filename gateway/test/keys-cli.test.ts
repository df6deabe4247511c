import { expect } from "chai";
import { after, afterEach, before, beforeEach, it } from "mocha";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { type RedisServer, startRedisOrSkip } from "../../services/shared/testkit/redis-server.ts";
import {
  createGatewayProcesses,
  type GatewayProcess,
  type GatewayProcesses,
} from "../testkit/gateway-process.ts";
import { until } from "../testkit/until.ts";

/** Between two runs of the command that a test waits for: each is a process. */
const EVERY_MS = 1_000;

interface ShownKey {
  readonly id: string;
  readonly key?: string;
  readonly state: string;
  readonly [field: string]: unknown;
}

/** Fails after ten seconds, the longest documented wait for a revocation. */
async function untilStatus(send: () => Promise<Response>, status: number): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const answer = await send();
    await answer.text();
    if (answer.status === status) return;
    expect(Date.now(), `still ${answer.status}, not ${status}`).to.be.lessThan(deadline);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describeThorough("gateway: the keys command", () => {
  let processes: GatewayProcesses;
  let gateway: GatewayProcess;
  before(async () => {
    processes = await createGatewayProcesses();
    gateway = await processes.start();
  });
  after(() => processes.remove());

  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await processes.keys(args);
    expect(code, `${args.join(" ")}: ${stderr}`).to.equal(0);
    return stdout;
  };
  const runJson = async (...args: string[]) => JSON.parse(await run(...args, "--json"));

  it("makes, lists, changes, rotates, suspends, resumes and revokes keys that a running gateway follows", async () => {
    const made = await run(
      ..."create --label prod --owner acme --note first --scopes evm-dex --expires 30d".split(" "),
      ..."--rate 0.001 --burst 5 --daily-quota 100".split(" "),
    );
    expect(made).to.match(/^ID +LABEL +STATE +SCOPES +OWNER +LIMITS +CREATED +EXPIRES +REVOKED +LAST USED\n/);
    expect(made).to.match(/key_[0-9a-f]{16} +prod +live +evm-dex +acme +0\.001\/s burst 5 100\/day +20/);
    const key = /ct_\S+/.exec(made)?.[0] ?? "";
    const id = /key_[0-9a-f]{16}/.exec(made)?.[0] ?? "";

    const statuses: number[] = [];
    for (let i = 0; i < 6; i += 1) {
      const answer = await gateway.get(i === 0 ? "/evm/dexes" : "/evm/chains", key);
      await answer.text();
      statuses.push(answer.status);
    }
    expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 429]);

    await run("set", id, "--rate", "default", "--burst", "100000", "--note", "second");
    await untilStatus(() => gateway.get("/evm/chains", key), 200);

    const rotated: ShownKey & { readonly rotated: ShownKey } = await runJson("rotate", id, "--overlap", "1h");
    expect(rotated).to.include({ label: "prod", owner: "acme", note: "second", subject: id, state: "live" });
    expect(rotated.rotated).to.include({ id, rotatedTo: rotated.id, state: "live" });
    for (const each of [key, rotated.key ?? ""])
      expect((await gateway.get("/evm/chains", each)).status).to.equal(200);

    await run("suspend", rotated.id);
    await untilStatus(() => gateway.get("/evm/chains", rotated.key ?? ""), 403);
    await run("resume", rotated.id);
    await untilStatus(() => gateway.get("/evm/chains", rotated.key ?? ""), 200);
    expect(await run("revoke", id)).to.match(new RegExp(`${id} +prod +revoked `));
    await untilStatus(() => gateway.get("/evm/chains", key), 401);
    expect((await gateway.get("/evm/chains", rotated.key ?? "")).status).to.equal(200);

    await run("create", "--label", "other");
    // Usage is written every few seconds.
    await until(async () => {
      const [first] = (await runJson("usage", id)).days;
      return first?.limited >= 1 && first?.requests >= 7;
    }, EVERY_MS);
    const table = await run("usage", id);
    expect(table).to.match(/^DAY +ENDPOINT +REQUESTS +LIMITED\n20\d\d-\d\d-\d\d +\/evm\/chains +\d+ +\d+\n/);
    expect(table)
      .to.match(/\/evm\/dexes +1 +0\n/)
      .and.to.match(/ all +\d+ +\d+\n$/);
    const listed: ShownKey[] = await runJson("list", "--owner", "acme");
    expect(listed.map((each) => each.id)).to.deep.equal([id, rotated.id]);
    expect(listed[0]).to.deep.include({ state: "revoked", note: "second" });
    expect(listed[0]?.lastUsedAt).to.match(/^20\d\d-.*Z$/);
    expect(listed[0]).not.to.have.any.keys("hash", "key");
    expect(await run("list")).to.match(/other +live +evm-dex,lending,solana +default/);
    const everybody: { label: string; requests: number }[] = await runJson("usage");
    expect(everybody.map(({ label }) => label)).to.deep.equal(["prod", "prod", "other"]);
    expect(everybody[2]).to.include({ requests: 0, lastUsedAt: null });
  });

  it("exits with 1 for settings that no key can have, and with 2 for a wrong call", async () => {
    const { id } = await runJson("create", "--label", "once");
    await run("revoke", id);
    const refused = await processes.keys(["suspend", id]);
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.equal(`Cannot suspend ${id}: it is revoked.\n`);
    const wrong = await processes.keys(["rotate", "key_nobody"]);
    expect(wrong.code).to.equal(2);
    expect(wrong.stderr).to.contain('No key has the id "key_nobody"').and.contain("Usage:");
    const unset = await processes.keys(["list"], { REDIS_URL: "not a url" });
    expect(unset.code).to.equal(2);
    expect(unset.stderr).to.contain("REDIS_URL");
  });
});

describeThorough("gateway: two processes and a revoked key", () => {
  let processes: GatewayProcesses;
  let redis: RedisServer | undefined;
  beforeEach(async () => {
    processes = await createGatewayProcesses();
  });
  afterEach(async () => {
    await processes.remove();
    await redis?.remove();
  });

  const revokeAndWait = async (env: Record<string, string>) => {
    const gateways = await Promise.all([processes.start(env), processes.start(env)]);
    const create = ["create", "--label", "a", "--rate", "0.001", "--burst", "6", "--json"];
    const { id, key } = JSON.parse((await processes.keys(create, env)).stdout) as ShownKey & { key: string };
    const statuses: number[] = [];
    for (let i = 0; i < 7; i += 1)
      statuses.push((await (gateways[i % 2] as GatewayProcess).get("/evm/chains", key)).status);
    const { code, stderr } = await processes.keys(["revoke", id], env);
    expect(code, stderr).to.equal(0);
    expect(stderr).to.equal("");
    await Promise.all(gateways.map((gateway) => untilStatus(() => gateway.get("/evm/chains", key), 401)));
    return statuses;
  };

  it("both refuse it within ten seconds without Redis; each has limits of its own", async () => {
    expect(await revokeAndWait({})).to.deep.equal([200, 200, 200, 200, 200, 200, 200]);
  });

  it("both refuse it within ten seconds with Redis; limits are shared", async function () {
    redis = await startRedisOrSkip(this);
    const statuses = await revokeAndWait({ REDIS_URL: redis.url });
    expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 200, 429]);
  });

  it("a killed gateway loses no usage that was written, and a drained one none at all", async () => {
    const [killed, drained] = [await processes.start(), await processes.start()];
    const { id, key } = JSON.parse((await processes.keys(["create", "--label", "a", "--json"])).stdout) as {
      id: string;
      key: string;
    };
    const requests = async () => {
      const { days } = JSON.parse((await processes.keys(["usage", id, "--json"])).stdout);
      return days[0]?.requests ?? 0;
    };
    for (let i = 0; i < 4; i += 1) await (await killed.get("/evm/chains", key)).text();
    await until(async () => (await requests()) === 4, EVERY_MS);
    killed.signal("SIGKILL");
    await killed.finished;
    for (let i = 0; i < 3; i += 1) await (await drained.get("/evm/chains", key)).text();
    drained.signal("SIGTERM");
    expect((await drained.finished).code).to.equal(0);
    expect(await requests()).to.equal(7);
  });
});

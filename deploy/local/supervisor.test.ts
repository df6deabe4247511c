import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { afterEach, it } from "mocha";
import { EXIT_CONFIG } from "../../services/shared/process/process.ts";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { collectingLog, until } from "../../services/shared/testkit/fixture.ts";
import {
  type ProcessExit,
  type SupervisedOptions,
  type SupervisedProcess,
  superviseProcess,
} from "./supervisor.ts";

const CHILD = new URL("./testkit/child.main.ts", import.meta.url);
const PARENT = new URL("./testkit/parent.main.ts", import.meta.url);
const QUICK = { minDelayMs: 1, maxDelayMs: 4, stableAfterMs: 60_000 };

interface Report {
  readonly event?: string;
  readonly pid?: number;
  readonly msg?: string;
  readonly level?: string;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describeThorough("host/supervisor and host/process", () => {
  const running: SupervisedProcess[] = [];
  const parents: ChildProcess[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((each) => each.stop()));
    for (const parent of parents.splice(0)) parent.kill("SIGKILL");
  });

  function supervise(args: string[], more: Partial<SupervisedOptions> = {}) {
    const reports: Report[] = [];
    const exits: ProcessExit[] = [];
    const lines: Record<string, unknown>[] = [];
    const supervised = superviseProcess({
      name: "child",
      program: { entry: CHILD, args },
      log: collectingLog(lines),
      restart: QUICK,
      onLine: (line, from) =>
        reports.push(line.startsWith("{") ? JSON.parse(line) : { event: from, msg: line }),
      onExit: (exit) => exits.push(exit),
      ...more,
    });
    running.push(supervised);
    const ready = () => until(() => reports.some(({ event }) => event === "ready"));
    return { supervised, reports, exits, lines, ready };
  }

  it("stops a program by its own stop and takes exit code 0", async () => {
    const { supervised, reports, exits, ready } = supervise([]);
    await ready();
    expect(reports[0]?.pid).to.equal(supervised.pid());
    await supervised.stop();
    expect(exits).to.deep.equal([{ code: 0, signal: null, restartInMs: null }]);
    expect(reports.map(({ event }) => event).filter(Boolean)).to.deep.equal(["ready", "stopping"]);
    expect(supervised.pid()).to.equal(undefined);
  });

  it("passes messages of the child on, and answers them until it is gone", async () => {
    let reply: (message: object) => boolean = () => false;
    const asked: unknown[] = [];
    const { supervised, reports, ready } = supervise(["talk"], {
      onMessage: (message, answer) => {
        asked.push(message);
        reply = answer;
      },
    });
    await ready();
    await until(() => asked.length > 0);
    expect(asked).to.deep.equal([{ question: 1 }]);
    expect(reply({ answer: 2 })).to.equal(true);
    await until(() => reports.some(({ event }) => event === 'told {"answer":2}'));
    await supervised.stop();
    expect(reply({ answer: 3 })).to.equal(false);
  });

  it("starts a crashed program again, with growing delays", async () => {
    const { supervised, exits, reports } = supervise(["crash"]);
    await until(() => exits.length >= 3);
    await supervised.stop();
    expect(supervised.restarts()).to.be.at.least(2);
    expect(
      new Set(reports.filter(({ event }) => event === "ready").map(({ pid }) => pid)).size,
    ).to.be.at.least(3);
    const [first, second, third] = exits;
    expect(first).to.include({ code: 3 });
    expect(first?.restartInMs).to.be.within(0, 1);
    expect(second?.restartInMs).to.be.within(1, 2);
    expect(third?.restartInMs).to.be.within(3, 4);
  });

  it("does not start again what a restart cannot heal, nor what must not restart", async () => {
    const wrong = supervise(["bad-config"]);
    const once = supervise(["crash"], { restart: "never" });
    await until(() => wrong.exits.length === 1 && once.exits.length === 1);
    expect(wrong.exits[0]).to.deep.equal({ code: EXIT_CONFIG, signal: null, restartInMs: null });
    expect(wrong.reports.at(-1)).to.deep.include({ problems: ["Cannot read PORT: it must be a number"] });
    expect(once.exits[0]).to.deep.equal({ code: 3, signal: null, restartInMs: null });
  });

  it("logs why a program dies and exits with 1", async () => {
    for (const [behaviour, message, cause] of [
      ["fail", "the process failed", "cannot start"],
      ["reject", "unhandled rejection", "forgotten"],
      ["throw", "uncaught exception", "thrown"],
    ]) {
      const { exits, reports } = supervise([behaviour as string], { restart: "never" });
      await until(() => exits.length === 1);
      expect(exits[0]?.code, behaviour).to.equal(1);
      expect(reports.at(-1), behaviour).to.include({ level: "fatal", msg: message });
      expect(JSON.stringify(reports.at(-1)), behaviour).to.contain(cause);
    }
  });

  it("exits with 1 when the stop fails", async () => {
    const { supervised, exits, ready } = supervise(["fail-to-stop"]);
    await ready();
    await supervised.stop();
    expect(exits[0]?.code).to.equal(1);
  });

  it("kills what does not stop in time", async () => {
    const { supervised, exits, ready } = supervise(["hang"], { stopTimeoutMs: 50 });
    await ready();
    await supervised.stop();
    expect(exits[0]).to.include({ signal: "SIGKILL" });
  });

  it("takes a signal that comes twice at once as one, and a later second one as an order to exit", async () => {
    const { supervised, reports, exits, ready } = supervise(["hang"], { restart: "never" });
    await ready();
    const pid = supervised.pid() as number;
    process.kill(pid, "SIGINT");
    process.kill(pid, "SIGTERM");
    await until(() => reports.some(({ event }) => event === "stopping"));
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(exits).to.be.empty;
    process.kill(pid, "SIGINT");
    await until(() => exits.length === 1);
    expect(exits[0]).to.include({ code: 1, signal: null });
  });

  it("runs foreign programs: forwards lines, passes the stop on, keeps the exit code", async () => {
    const script = "trap 'echo bye; exit 7' TERM; echo hello; echo oops >&2; while :; do sleep 0.01; done";
    const { supervised, reports, exits } = supervise([], {
      program: { command: "/bin/sh", args: ["-c", script] },
    });
    await until(() => reports.length === 2);
    expect(reports).to.have.deep.members([
      { event: "stdout", msg: "hello" },
      { event: "stderr", msg: "oops" },
    ]);
    await supervised.stop();
    expect(reports.at(-1)).to.deep.equal({ event: "stdout", msg: "bye" });
    expect(exits[0]).to.include({ code: 7 });
  });

  it("logs and retries a program that cannot be started", async () => {
    const { exits, supervised } = supervise([], { cwd: "/nonexistent-folder" });
    await until(() => exits.length >= 2);
    await supervised.stop();
    expect(exits[0]?.restartInMs).to.be.a("number");
  });

  for (const signal of ["SIGKILL", "SIGTERM"] as const) {
    it(`leaves no child behind when the supervisor gets ${signal}`, async () => {
      const argv = process.versions.deno === undefined ? process.execArgv : ["run", "-A"];
      const parent = spawn(process.execPath, [...argv, PARENT.pathname], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      parents.push(parent);
      const pids = new Map<string, number>();
      createInterface({ input: parent.stdout }).on("line", (line) => {
        const { event, pid } = JSON.parse(line) as Report;
        if (event !== undefined && pid !== undefined) pids.set(event, pid);
      });
      await until(() => pids.has("ready") && pids.has("foreign"));
      parent.kill(signal);
      await until(() => ![...pids.values()].some(isAlive));
    });
  }
});

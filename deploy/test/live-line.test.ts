import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { type Screen, signalGroup, type } from "./screen.ts";

/** Runs a command in a pseudo-terminal; Debian's package bsdutils, which every installation has. */
const SCRIPT = "/usr/bin/script";
const START = "--import tsx deploy/all-in-one.ts";
const HEAD = /Base \(local devnet\) [\d,]+ · \d+ s behind · [\d.]+ events\/s/;
const ANY_PORTS = { GATEWAY_PORT: "0", ADMIN_PORT: "0", X402_PORT: "0" };

if (!existsSync(SCRIPT)) {
  describe("npm start in a terminal", () => {
    it("pending: there is no script(1)", function () {
      this.skip();
    });
  });
} else describeThorough("npm start in a terminal", defineSuite);

function defineSuite(): void {
  let dataDir: string;
  let screen: Screen | undefined;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-live-"));
  });
  afterEach(async () => {
    if (screen !== undefined) {
      signalGroup(screen.child, "SIGINT");
      await screen.ended;
    }
    await rm(dataDir, { recursive: true, force: true });
  });
  // The shell that script(1) runs splits the variable into words.
  const start = (env: Record<string, string> = {}): Screen => {
    const shown = type(`${SCRIPT} -qfec $COMMAND /dev/null`, {
      ...{ ...ANY_PORTS, DATA_DIR: dataDir, TERM: "xterm", COMMAND: `${process.execPath} ${START}` },
      ...env,
    });
    screen = shown;
    return shown;
  };

  it("keeps one line of the heads, which changes in place", async () => {
    const shown = start();
    await shown.shows(/Ctrl-C stops everything/);
    await shown.shows(HEAD);
    expect(shown.text()).to.contain("\r\u001b[2K\u001b[3");
    expect(shown.text(), "no lines that repeat it").not.to.contain("Base (local devnet) head ·");
    signalGroup(shown.child, "SIGINT");
    await shown.ended;
    expect(shown.text().slice(shown.text().lastIndexOf("Stopping"))).not.to.match(HEAD);
  });

  it("has no colours where NO_COLOR wants none", async () => {
    const shown = start({ NO_COLOR: "1" });
    await shown.shows(HEAD);
    expect(shown.text()).to.contain("\r\u001b[2K").and.not.to.contain("\u001b[3");
  });
}

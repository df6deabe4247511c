import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect } from "chai";
import { describe, it } from "mocha";
import { killGroup } from "../command.ts";
import { describeGroup } from "./left-open.ts";

describe("what is left open", () => {
  it("names the processes of a group and what they have open, where the system shows them", async () => {
    const script = 'require("net").createServer().listen(0, () => console.log("up"))';
    const child = spawn(process.execPath, ["-e", script], { detached: true });
    try {
      await once(child.stdout, "data");
      const description = describeGroup(child.pid as number);
      if (existsSync("/proc/self/stat"))
        expect(description).to.match(/createServer.*\n {2}open: .*socket ×\d/);
      else expect(description).to.equal("");
    } finally {
      killGroup(child, "SIGKILL");
    }
    await once(child, "close");
    expect(describeGroup(child.pid as number)).to.equal("");
  });
});

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { describe, it } from "mocha";
import { readBoot } from "./boot.ts";

describe("the machine's last start", () => {
  it("is the same for all who ask", async () => {
    const boot = await readBoot();
    expect(boot).to.match(/^[0-9a-f-]{36}$|^started \d+$/);
    expect(await readBoot()).to.equal(boot);
  });

  it("is named by the system where it has a name for it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "chaintables-boot-"));
    const path = join(folder, "boot_id");
    await writeFile(path, "7d1f7a3e-one\n");
    expect(await readBoot(path)).to.equal("7d1f7a3e-one");
    await rm(folder, { recursive: true });
  });

  it("is its time elsewhere", async () => {
    const boot = await readBoot("/nonexistent/boot_id");
    const startedS = Number(/^started (\d+)$/.exec(boot)?.[1]);
    expect(startedS)
      .to.be.greaterThan(0)
      .and.at.most(Date.now() / 1_000);
  });
});

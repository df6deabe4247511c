import { expect } from "chai";
import { describe, it } from "mocha";
import { completeLockfile, findLockfileFaults, type Lockfile } from "./lockfile.ts";

const TOOL = { version: "1.0.0", integrity: "sha512-x", dev: true };
const GOOD: Lockfile = {
  packages: {
    "": {},
    "node_modules/tool": { ...TOOL, optionalDependencies: { "@tool/linux-x64": "1.0.0" } },
    "node_modules/@tool/linux-x64": { ...TOOL },
  },
};

function withPackage(path: string, entry: object): Lockfile {
  return { packages: { ...GOOD.packages, [path]: entry } };
}

describe("lock file", () => {
  it("accepts versions with checksums and every platform entered", () =>
    expect(findLockfileFaults(GOOD)).to.deep.equal([]));

  it("reports an address", () => {
    const lock = withPackage("node_modules/a", { ...TOOL, resolved: "https://registry.example/a.tgz" });
    expect(findLockfileFaults(lock)).to.deep.equal([
      "node_modules/a names where it came from: https://registry.example/a.tgz",
    ]);
  });

  it("reports a package without a checksum, unless it is optional and for one platform", () => {
    const entry = { version: "1.0.0" };
    expect(findLockfileFaults(withPackage("node_modules/a", entry))).to.deep.equal([
      "node_modules/a has no checksum",
    ]);
    expect(findLockfileFaults(withPackage("node_modules/a-linux-x64", entry))).to.have.length(1);
    expect(
      findLockfileFaults(withPackage("node_modules/a-linux-x64", { ...entry, optional: true })),
    ).to.deep.equal([]);
  });

  it("enters missing platform packages with their system, processor and C library, in npm's order", () => {
    const optionalDependencies = { "@tool/linux-x64-musl": "1.2.3", "tool-darwin-amd64": "1.2.3" };
    const lock = withPackage("node_modules/other", { ...TOOL, optionalDependencies });
    expect(findLockfileFaults(lock)).to.deep.equal([
      "node_modules/@tool/linux-x64-musl 1.2.3 has no entry",
      "node_modules/tool-darwin-amd64 1.2.3 has no entry",
    ]);
    const { packages } = completeLockfile(lock);
    expect(packages["node_modules/@tool/linux-x64-musl"]).to.deep.equal({
      version: "1.2.3",
      cpu: ["x64"],
      dev: true,
      libc: ["musl"],
      optional: true,
      os: ["linux"],
    });
    expect(packages["node_modules/tool-darwin-amd64"]).to.deep.include({ cpu: ["x64"], os: ["darwin"] });
    expect(Object.keys(packages)).to.deep.equal([...Object.keys(packages)].sort());
    expect(findLockfileFaults({ packages })).to.deep.equal([]);
  });

  it("refuses to guess the platform of an optional dependency whose name has none", () => {
    const lock = withPackage("node_modules/other", { ...TOOL, optionalDependencies: { extra: "1.0.0" } });
    expect(() => completeLockfile(lock)).to.throw("Cannot enter extra");
  });
});

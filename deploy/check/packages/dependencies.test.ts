import { expect } from "chai";
import { describe, it } from "mocha";
import { findDependencyFaults, type LockedPackages, type Manifest } from "./dependencies.ts";

const SUM = "sha512-x";
const MANIFEST: Manifest = {
  dependencies: { a: "1.0.0" },
  devDependencies: { tool: "2.0.0-beta.1" },
  allowScripts: { tool: false },
};
const PACKAGES: LockedPackages["packages"] = {
  "": { dependencies: { a: "1.0.0" }, devDependencies: { tool: "2.0.0-beta.1" } },
  "node_modules/a": { version: "1.0.0", integrity: SUM, license: "MIT", dependencies: { b: "^1.0.0" } },
  "node_modules/a/node_modules/b": { version: "1.2.0", integrity: SUM, license: "ISC" },
  "node_modules/tool": { version: "2.0.0-beta.1", integrity: SUM, dev: true, hasInstallScript: true },
};

function faultsWith(path: string, change: object, manifest: Manifest = {}): string[] {
  const packages = { ...PACKAGES, [path]: { ...PACKAGES[path], ...change } };
  return findDependencyFaults({ ...MANIFEST, ...manifest }, { packages });
}

describe("dependencies", () => {
  it("are good when each is one version, its bytes are known, it runs nothing and its licence is permissive", () =>
    expect(findDependencyFaults(MANIFEST, { packages: PACKAGES })).to.deep.equal([]));

  it("are one version each, and the one that is locked", () => {
    for (const version of ["^1.0.0", "latest", "1.x", "git+ssh://host.example/a.git", "file:../a"]) {
      expect(faultsWith("", {}, { dependencies: { a: version } }).join()).to.contain(
        `is wanted as ${version}`,
      );
    }
    expect(faultsWith("", {}, { dependencies: { a: "1.0.1" } })).to.deep.equal([
      "a is locked at 1.0.0, and 1.0.1 is wanted",
    ]);
    expect(faultsWith("", {}, { dependencies: {} })).to.deep.equal([
      "a is locked, and package.json does not list it",
    ]);
  });

  it("come from the registry, and those of dependencies too", () => {
    for (const range of [
      "git+https://host.example/b.git",
      "github:who/b",
      "who/b",
      "https://host.example/b.tgz",
    ])
      expect(faultsWith("node_modules/a", { dependencies: { b: range } })).to.deep.equal([
        `node_modules/a takes b from beside the registry: ${range}`,
      ]);
    for (const range of ["npm:other@^1.0.0", ">=1 <2 || ^3.0.0", "*", "npm:@scope/other@1.0.0"])
      expect(faultsWith("node_modules/a", { dependencies: { b: range } }), range).to.deep.equal([]);
  });

  it("have strong checksums", () => {
    expect(faultsWith("node_modules/a", { integrity: "sha1-x" })).to.deep.equal([
      "node_modules/a has a weak checksum: sha1-x",
    ]);
  });

  it("run nothing when they are installed", () => {
    expect(faultsWith("node_modules/a/node_modules/b", { hasInstallScript: true })).to.deep.equal([
      "node_modules/a/node_modules/b has an install script that is not reviewed (allowScripts)",
    ]);
    expect(faultsWith("", {}, { allowScripts: { tool: true } })).to.deep.equal([
      "tool runs its install script (allowScripts)",
    ]);
    expect(faultsWith("", {}, { allowScripts: { tool: false, a: false } })).to.deep.equal([
      "a has no install script, and allowScripts names it",
    ]);
  });

  it("are under permissive licences where production has them", () => {
    expect(faultsWith("node_modules/a", { license: "GPL-3.0" })).to.deep.equal([
      "node_modules/a goes to production under GPL-3.0",
    ]);
    expect(faultsWith("node_modules/a", { license: undefined })).to.deep.equal([
      "node_modules/a goes to production under no licence",
    ]);
    expect(faultsWith("node_modules/tool", { license: "GPL-3.0" })).to.deep.equal([]);
  });
});

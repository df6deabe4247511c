import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { getAddress } from "viem";
import { loadCurators } from "./curators.ts";

const ADDRESS = "0x0A0e559bc3b0950a7e448F0d4894db195b9cf8DD";

describe("curators", () => {
  let dir: string;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "chaintables-curators-"));
  });
  after(() => rm(dir, { recursive: true, force: true }));

  const fileWith = async (content: unknown): Promise<string> => {
    const path = join(dir, "curators.json");
    await writeFile(path, JSON.stringify(content));
    return path;
  };
  const failureWith = async (content: unknown): Promise<string> => {
    const path = await fileWith(content);
    try {
      loadCurators(path);
    } catch (error) {
      return (error as Error).message;
    }
    return expect.fail("the file was taken");
  };
  const entry = (fields: object = {}) => ({
    name: "Someone",
    verified: true,
    source: "https://example.com/curators",
    addresses: { "8453": [ADDRESS] },
    ...fields,
  });

  it("knows built-in curators, each address written with its checksum", () => {
    const registry = loadCurators(undefined);
    expect(registry.nameOf(8453, ADDRESS.toLowerCase())).to.equal("Steakhouse Financial");
    expect(registry.isVerified(8453, ADDRESS.toLowerCase())).to.equal(true);
    const { curators } = JSON.parse(readFileSync(new URL("./curators.json", import.meta.url), "utf8"));
    for (const { addresses } of curators) {
      for (const address of Object.values(addresses as Record<string, string[]>).flat()) {
        expect(address).to.equal(getAddress(address.toLowerCase()));
      }
    }
  });

  it("names one that is not listed, or not on this chain, by its address, and does not verify it", () => {
    const registry = loadCurators(undefined);
    const stranger = `0x${"12".repeat(20)}`;
    expect(registry.nameOf(8453, stranger)).to.equal(stranger);
    expect(registry.isVerified(8453, stranger)).to.equal(false);
    expect(registry.nameOf(10, ADDRESS.toLowerCase())).to.equal(ADDRESS.toLowerCase());
  });

  it("reads a custom file in its place, in which a curator may be unverified", async () => {
    const path = await fileWith({ curators: [entry({ name: "Our desk", verified: false })] });
    const registry = loadCurators(path);
    expect(registry.nameOf(8453, ADDRESS.toLowerCase())).to.equal("Our desk");
    expect(registry.isVerified(8453, ADDRESS.toLowerCase())).to.equal(false);
  });

  it("names an address as the first of several sources does, and knows whose vaults a source says they are", async () => {
    const [other, vault] = [`0x${"34".repeat(20)}`, `0x${"56".repeat(20)}`];
    const path = await fileWith({
      curators: [
        entry(),
        entry({
          ...{ name: "Another", verified: false, source: "https://example.com/labels" },
          ...{ addresses: { "8453": [other, ADDRESS] }, vaults: { "8453": [vault] } },
        }),
      ],
    });
    const registry = loadCurators(path);
    expect(registry.nameOf(8453, ADDRESS.toLowerCase())).to.equal("Someone");
    expect(registry.isVerified(8453, other)).to.equal(false);
    const curatorOf = (claimed: string) => registry.curatorOf(8453, { vault, claimed });
    expect(curatorOf(ADDRESS.toLowerCase())).to.equal(ADDRESS.toLowerCase());
    expect(curatorOf(vault)).to.equal(other);
    expect(registry.curatorOf(8453, { vault: other, claimed: ADDRESS })).to.equal(undefined);
    expect(registry.curatorOf(1, { vault, claimed: ADDRESS })).to.equal(undefined);
  });

  it("says which file is wrong and where", async () => {
    const wrong: [unknown, string][] = [
      [{ curators: [entry({ addresses: { "8453": ["0x12"] } })] }, "is not an EVM address"],
      [{ curators: [entry({ addresses: { base: [ADDRESS] } })] }, "curators[0].addresses.base"],
      [{ curators: [entry({ source: "not a URL" })] }, "curators[0].source"],
      [{ curators: [entry({ verfied: true })] }, '"verfied"'],
      [
        { curators: [entry(), entry({ name: "Another" })] },
        `${ADDRESS.toLowerCase()} of chain 8453 is listed twice, for Someone and for Another`,
      ],
      [
        { curators: [entry({ vaults: { "1": [ADDRESS] } })] },
        "Someone has vaults on chain 1, but no address",
      ],
    ];
    for (const [content, reason] of wrong) {
      const message = await failureWith(content);
      expect(message)
        .to.contain(`Cannot read curators from ${join(dir, "curators.json")}`)
        .and.contain(reason);
    }
    expect(() => loadCurators(join(dir, "none.json"))).to.throw("none.json");
  });
});

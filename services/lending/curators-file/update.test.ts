import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { describe, it } from "mocha";
import { type CuratorEntry, CuratorRegistry } from "../curators.ts";
import { address } from "../test/fake-protocol.ts";
import { parseCuratorsCall, UsageError } from "./arguments.ts";
import { BadExport, readExports } from "./exports.ts";
import { formatJson } from "./format-json.ts";
import { listedVaults, MORPHO_CURATORS, updateCurators, updateDeployments } from "./update.ts";

const [A, B, C, V1, V2, V3] = [1, 2, 3, 0xb1, 0xb2, 0xb3].map(address) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
const DATE = "2026-05-05";

const listing = (name: string, addresses: object) => ({ name, verified: true, addresses, image: "…" });
const vault = (account: string, ...history: [string, number][]) => ({
  address: account,
  chainId: 1,
  history: history.map(([action, timestamp]) => ({ action, timestamp })),
});
const read = (...files: [path: string, content: unknown][]) =>
  readExports(files.map(([path, content]) => ({ path, text: JSON.stringify(content) })));

const CURATORS = [
  listing("First", { 1: [A], 8453: [B], 42161: [C] }),
  listing("Second", { 1: [A.toUpperCase().replace("0X", "0x"), C] }),
];
const ENTITIES = { desk: { name: "Desk", addresses: { [B]: "Multisig" } }, none: { name: "None" } };
const PRODUCTS = {
  prime: { name: "Prime", entity: ["desk", "none"], vaults: [V1, V2] },
  old: { name: "Old", entity: "none", vaults: [V3] },
};

describe("npm run curators", () => {
  it("takes an update of files with a day, and says what is wrong with another call", () => {
    expect(parseCuratorsCall(["update", "--date", DATE, "a.json", "b.json"])).to.deep.include({
      date: DATE,
      files: ["a.json", "b.json"],
    });
    expect(parseCuratorsCall(["--help"])).to.equal("help");
    const wrong: [string[], RegExp][] = [
      [["update", "a.json"], /--date/],
      [["update", "--date", "2026-13-05", "a.json"], /--date/],
      [["update", "--date", DATE], /No export/],
      [["upgrade"], /upgrade/],
      [["--nope"], /nope/],
    ];
    for (const [args, reason] of wrong) expect(() => parseCuratorsCall(args)).to.throw(UsageError, reason);
  });

  it("tells the lists apart by their content, and refuses others", () => {
    const found = read(
      ["x/curators-listing.json", CURATORS],
      ["x/vaults-listing.json", [vault(V1, ["added", 1])]],
      ["labels/1/entities.json", ENTITIES],
      ["labels/1/products.json", PRODUCTS],
    );
    expect(found.morphoCurators?.[0]).to.deep.include({ name: "First", verified: true });
    expect(found.morphoVaults).to.have.length(1);
    expect(Object.keys(found.entities)).to.deep.equal(["1"]);
    expect(found.products["1"]?.prime?.vaults).to.deep.equal([V1, V2]);
    const bad: [string, unknown, RegExp][] = [
      ["1/products.json", PRODUCTS, /Chain 1 needs its entities\.json/],
      ["labels/products.json", PRODUCTS, /folder does not name a chain/],
      ["curators.json", [{ name: "No addresses", verified: true }], /curators\.json: .*addresses/s],
      ["1/entities.json", { desk: { name: "Desk", addresses: { "0x12": "x" } } }, /1\/entities\.json/],
    ];
    for (const [path, content, reason] of bad)
      expect(() => read([path, content])).to.throw(BadExport, reason);
  });

  it("replaces a list as a whole: who is no longer listed is no longer named", () => {
    const before: CuratorEntry[] = [
      { name: "Gone", verified: true, source: MORPHO_CURATORS, addresses: { 1: [C] } },
      { name: "Our desk", verified: false, source: "https://example.com", addresses: { 1: [V3] } },
    ];
    const morpho = updateCurators(before, { exports: read(["c.json", CURATORS]), date: DATE });
    expect(morpho.map(({ name }) => name)).to.deep.equal(["First / Second", "Second", "First", "Our desk"]);
    expect(morpho[0]).to.deep.equal({
      ...{ name: "First / Second", verified: true, source: MORPHO_CURATORS, date: DATE },
      addresses: { 1: [A] },
    });
    const labels = read(["1/entities.json", ENTITIES], ["1/products.json", PRODUCTS]);
    const both = updateCurators(morpho, { exports: labels, date: "2026-08-21" });
    // A product is its first entity's; one without an address on the chain has no row.
    expect(both.find(({ name }) => name === "Desk")).to.deep.equal({
      ...{ name: "Desk", verified: true, date: "2026-08-21" },
      source: "https://github.com/euler-xyz/euler-labels/blob/master/1/entities.json",
      ...{ addresses: { 1: [B] }, vaults: { 1: [V1, V2] } },
    });
    expect(both.map(({ name }) => name)).not.to.include("None");
    expect(updateCurators(both, { exports: labels, date: "2026-08-21" })).to.deep.equal(both);
    const registry = new CuratorRegistry(both);
    expect(registry.curatorOf(1, { vault: V1, claimed: A })).to.equal(B);
    expect(registry.curatorOf(1, { vault: V3, claimed: A })).to.equal(undefined);
  });

  it("lists Morpho's vaults by their last action, in the deployments of their chain", () => {
    const { morphoVaults = [] } = read([
      "v.json",
      [
        vault(V2, ["added", 1], ["removed", 2]),
        vault(V1, ["removed", 2], ["added", 3], ["added", 1]),
        { ...vault(V3, ["added", 1]), chainId: 10 },
      ],
    ]);
    expect(listedVaults(morphoVaults, 1)).to.deep.equal([V1]);
    const document = {
      lending: { chains: [{ chainId: 1, protocols: { "morpho-v1": { fromBlock: 1 }, "aave-v3": {} } }] },
    };
    const { protocols } = updateDeployments(document, { vaults: morphoVaults, date: DATE }).lending
      .chains[0] as { protocols: object };
    expect(protocols).to.deep.include({ "aave-v3": {} });
    expect(protocols).to.have.deep.nested.property("morpho-v1.listing.vaults", [V1]);
  });

  it("writes JSON as the formatter lays it out", () => {
    const long = Array.from({ length: 3 }, (_, i) => `${A}${i}`);
    const value = { list: ["a", 1], none: [], long, rows: [{ a: {} }] };
    expect(JSON.parse(formatJson(value))).to.deep.equal(value);
    expect(formatJson(value)).to.contain('  "list": ["a", 1],\n  "none": [],\n  "long": [\n    "0x');
  });
});

describe("the built-in lists", () => {
  it("are as the update writes them, each entry with its source and day", async () => {
    const read = (name: string) => readFile(new URL(`../${name}`, import.meta.url), "utf8");
    for (const name of ["curators.json", "deployments.json"]) {
      const text = await read(name);
      expect(formatJson(JSON.parse(text))).to.equal(text);
    }
    const { curators } = JSON.parse(await read("curators.json")) as { curators: CuratorEntry[] };
    for (const { name, source, date } of curators) {
      expect(source, name).to.match(/^https:\/\/github\.com\/(morpho-org|euler-xyz)\//);
      expect(date, name).to.match(/^\d{4}-\d\d-\d\d$/);
    }
    const names = curators.map(({ name }) => name);
    expect(names).to.include.members(["Sentora", "Steakhouse Financial", "K3 Capital"]);
    expect(names).not.to.include.members(["Seamless"]).and.not.to.include.members(["USDU DAO"]);
  });
});

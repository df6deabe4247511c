import { expect } from "chai";
import { describe, it } from "mocha";
import { banner } from "./banner.ts";

const FACTS = {
  ...{ url: "http://127.0.0.1:8080", payUrl: undefined, adminUrl: undefined, apiKey: "demo_a-b/c" },
  ...{ devnet: undefined, dataDir: "data", dataDirSetting: undefined, startedInSeconds: 1, notes: [] },
};

describe("banner of npm start", () => {
  it("has a link to the explorer that carries the key in the fragment, never in the query", () => {
    const link = /explorer\s+(\S+)/.exec(banner(FACTS))?.[1] ?? "";
    const { hash, search, pathname } = new URL(link);
    expect([hash, search, pathname]).to.deep.equal(["#key=demo_a-b%2Fc", "", "/"]);
  });
});

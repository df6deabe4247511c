import { expect } from "chai";
import { after, before, it } from "mocha";
import { catalogue } from "../../../gateway/catalogue.ts";
import { BOOTSTRAP_KEY } from "../../../gateway/testkit/gateway.ts";
import { deriveCases } from "../../../services/shared/contract/testkit/test-cases.ts";
import { describeLong } from "../../../services/shared/testkit/describe.ts";
import { SAMPLES, type Served, startServed } from "../../testkit/served.ts";
import { ApiError, Client, type PagedPath, ParameterError, type Table } from "../src/index.ts";

describeLong("the TypeScript client", () => {
  let served: Served;
  let client: Client;
  before(async () => {
    served = await startServed();
    client = new Client({ url: `${served.url}/`, apiKey: BOOTSTRAP_KEY });
  });
  after(() => served?.stop());

  /** A call whose parameters are known only when it runs. */
  const get = (path: string, params: object): Promise<Table<Readonly<Record<string, unknown>>>> =>
    client.get(path as "/evm/chains", params as never) as Promise<Table<never>>;
  const raw = async (path: string, params: Readonly<Record<string, string>>) => {
    const answer = await served.get(`${path}?${new URLSearchParams(params)}`);
    const body = await answer.json();
    return { answer, table: Array.isArray(body) ? body[0] : body };
  };

  it("has the rows of every declared endpoint as objects, and what the answer says of them", async () => {
    expect(SAMPLES.map(({ path }) => path)).to.have.members(catalogue.map(({ path }) => path));
    for (const { path, params } of SAMPLES) {
      const { answer, table } = await raw(path, params);
      expect(table.data, path).not.to.deep.equal([]);
      const { rows, columns, block, asOf, fromBlock, total } = await get(path, params);
      const names = columns.map(({ name }) => name);
      expect(columns, path).to.deep.equal(table.columns);
      expect(
        rows.map((row) => names.map((name) => row[name])),
        path,
      ).to.deep.equal(table.data);
      expect({ block, asOf, fromBlock }).to.deep.equal({
        block: 4_711,
        asOf: answer.headers.get("x-data-as-of"),
        fromBlock: 7,
      });
      expect(String(total ?? null), path).to.equal(String(answer.headers.get("x-total-count")));
    }
  });

  it("walks over the pages of every list, and over their rows", async () => {
    const lists = SAMPLES.filter(({ isPaged }) => isPaged);
    for (const { path, params } of lists) {
      const { data } = (await raw(path, params)).table;
      const [pages, rows]: unknown[][] = [[], []];
      const limit = Math.ceil(data.length / 3);
      const call = [{ ...params, limit }] as never;
      for await (const page of client.pages(path as PagedPath, ...(call as [])))
        pages?.push(page.rows.length);
      for await (const row of client.rows(path as PagedPath, ...(call as []))) rows?.push(row);
      expect(pages, path).to.deep.equal([limit, limit, data.length - 2 * limit]);
      expect(rows, path).to.deep.equal((await get(path, params)).rows);
    }
  });

  it("asks for the largest page, from an offset on, and yields the one page of an empty list", async () => {
    const asked = served.evmDex.seen.length;
    const pages: (readonly object[])[] = [];
    for await (const page of client.pages("/evm/dexb/v3/pools", { offset: 100_000 })) pages.push(page.rows);
    expect(pages).to.deep.equal([[]]);
    expect(served.evmDex.seen.slice(asked).map(({ url }) => url)).to.deep.equal([
      "/evm/dexb/v3/pools?offset=100000&limit=10000",
    ]);
  });

  it("sends lists as the API takes them, with places left to the other direction", async () => {
    const { length } = served.lending.seen;
    await client.get("/evm/lending/lendinga/v3/pools", {
      order_asc: ["chainId", ""],
      order_desc: ["", "supplyApy"],
      borrowable: true,
      protocol_id: undefined,
    });
    const sent = new URL(served.lending.seen[length]?.url ?? "", "http://x").searchParams;
    expect(Object.fromEntries(sent)).to.deep.equal({
      order_asc: "chainId,",
      order_desc: ",supplyApy",
      borrowable: "true",
    });
  });

  it("gives a table that has not changed again, and asks for it with its tag", async () => {
    const path = "/evm/dexb/v3/pools";
    const first = await client.get(path, { limit: 3 });
    expect(await client.get(path, { limit: 3 })).to.equal(first);
    expect(served.evmDex.seen.at(-1)?.headers["if-none-match"]).to.equal(first.headers.get("etag"));
    served.block += 1;
    const next = await client.get(path, { limit: 3 });
    expect(next).not.to.equal(first);
    expect(next.block).to.equal(served.block);
    served.block -= 1;
  });

  it("throws what the API says: code, status, session", async () => {
    const stranger = new Client({ url: served.url, apiKey: "no key" });
    const error = await failureOf(stranger.get("/evm/chains"));
    expect(error).to.be.instanceOf(ApiError).and.not.instanceOf(ParameterError);
    expect(error).to.include({ code: "unauthorized", status: 401 });
    expect((error as ApiError).session).to.match(/\S/);
  });

  it("names the parameter of every 400 that the declarations know of, its rule, and the value as sent", async () => {
    let cases = 0;
    for (const endpoint of catalogue) {
      // What a client can send at all: each parameter once, well encoded.
      const bad = deriveCases(endpoint).filter(
        ({ expect, query, name, parameter }) =>
          expect === 400 &&
          !/twice|UTF-8|escape|has no value/.test(name) &&
          !query.includes("format=") &&
          parameter,
      );
      for (const { query, parameter = "", name } of bad.filter((_, at) => at % 12 === cases % 12)) {
        cases += 1;
        const params = Object.fromEntries(new URLSearchParams(query));
        const error = (await failureOf(get(endpoint.path, params))) as ParameterError;
        expect(error, `${endpoint.path} ${name}: ${error.message}`).to.be.instanceOf(ParameterError);
        expect(error).to.include({ code: "bad_request", status: 400, parameter });
        expect(error.rule).to.match(/^(is|does|has|it|its|ends|starts|names|makes)\b/);
        const sent = params[parameter] ?? "";
        // Long and foreign values are shown cut and escaped.
        if (error.value !== undefined && /^[ -~]{1,64}$/.test(sent) && !parameter.startsWith("order"))
          expect(error.value, error.message).to.equal(sent);
      }
    }
    expect(cases).to.be.greaterThan(60);
  });
});

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (value) => expect.fail(`no error but ${JSON.stringify(value)?.slice(0, 200)}`),
    (error: unknown) => error,
  );
}

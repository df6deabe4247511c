import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { expect } from "chai";
import { after, before, it } from "mocha";
import type { Cell } from "../../services/shared/contract/column.ts";
import { MANY_TOKENS } from "./client-walk.ts";
import { readTables } from "./read-tables.ts";
import type { Stack } from "./stack.ts";

const LIMIT = 5;

/**
 * Tests of a suite with a running stack: the tool of every endpoint of OpenAPI has the rows of the HTTP answer, by the
 * official client; and reports speak of what the stack has.
 */
export function testMcp(running: () => Stack): void {
  let stack: Stack;
  const client = new Client({ name: "walk", version: "0" });
  before(async () => {
    stack = running();
    const requestInit = { headers: { "X-API-KEY": stack.key } };
    const transport = new StreamableHTTPClientTransport(new URL(`${stack.url}/mcp`), { requestInit });
    await client.connect(transport as Transport);
  });
  after(() => client.close());

  const call = async (name: string, args: Record<string, unknown>): Promise<string> => {
    const { content, isError } = await client.callTool({ name, arguments: args });
    const text = (content as { text: string }[])[0]?.text ?? "";
    expect(isError, `${name}: ${text}`).not.to.equal(true);
    return text;
  };

  it("have the same rows as tools", async () => {
    const tables = await readTables(stack);
    const tools = new Map((await client.listTools()).tools.map((tool) => [tool.name, tool]));
    for (const [path, { parameters = [] }] of tables) {
      const name = path.replace(/^\/(api\/v1\/)?/, "").replaceAll(/[/-]/g, "_");
      const known = Object.keys(tools.get(name)?.inputSchema.properties ?? {});
      const examples = Object.fromEntries(
        parameters.flatMap(({ name, example }) =>
          example !== undefined && known.includes(name) ? [[name, example]] : [],
        ),
      );
      const args = known.includes("limit") ? { ...examples, limit: LIMIT } : examples;
      const query = new URLSearchParams(
        Object.entries(args).map(([key, value]): [string, string] => [key, String(value)]),
      );
      const answer = await fetch(`${stack.url}${path}?${query}`, { headers: { "X-API-KEY": stack.key } });
      const body = await answer.json();
      const { columns, data } = (Array.isArray(body) ? body[0] : body) as {
        columns: { name: string }[];
        data: Cell[][];
      };
      expect(data, path).not.to.deep.equal([]);
      const shown = JSON.parse(await call(name, args));
      const rows = shown.row === undefined ? shown.rows : [columns.map((column) => shown.row[column.name])];
      expect(rows, path).to.deep.equal(data);
      expect(String(shown.block), path).to.equal(String(answer.headers.get("x-data-block") ?? undefined));
    }
  });

  it("take the longest lists of tokens", async () => {
    for (const [path, tokens] of Object.entries(MANY_TOKENS)) {
      const name = path.replace(/^\/(api\/v1\/)?/, "").replaceAll("/", "_");
      const shown = JSON.parse(await call(name, { tokens }));
      const { rows, rowsShown, rowsTotal } = shown;
      expect(rows.map(([token]: string[]) => token)).to.deep.equal(tokens.slice(0, rowsShown));
      expect(rowsTotal).to.equal(tokens.length);
    }
  });

  it("are what reports are made of", async () => {
    const tables = new Map(await readTables(stack));
    const exampleOf = (path: string, parameter: string) =>
      tables.get(path)?.parameters?.find(({ name }) => name === parameter)?.example;
    const pool = exampleOf("/evm/dexb/v3/pool", "pool_address");
    expect(await call("pool_report", { pool_address: pool })).to.match(/^\S+\/\S+, fee [\d.]+ %: 1 /);
    const token = exampleOf("/api/v1/solana/tokens/security", "token_address");
    expect(await call("token_report", { token_address: token })).to.match(/Slot \d+, \d+ s old\.$/);
    const evmToken = exampleOf("/evm/lending/lendinga/v3/pools", "underlying_address");
    expect(await call("token_report", { token_address: evmToken })).to.include("Lending: ");
    const wallet = exampleOf("/evm/dexa/v2/provider-summary", "wallet_address");
    expect(await call("wallet_liquidity", { wallet_address: wallet })).to.match(
      /LP positions of 0x[0-9a-f]{40}: /i,
    );
    const yields = await call("best_yields", { asset: "USDC", min_tvl_usd: 0, listed: "all" });
    expect(yields)
      .to.match(/^Best net supply APY for USDC on chain 8453/)
      .and.match(/Block \d+, \d+ s old\.$/);
  });
}

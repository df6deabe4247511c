import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { ROOT, run } from "../../deploy/check/command.ts";
import { catalogue } from "../../gateway/catalogue.ts";
import { HOST_PATHS } from "../../services/shared/contract/derive/openapi-host.ts";
import { toTypedOpenApi } from "../../services/shared/contract/derive/openapi-typed.ts";
import { typeNameOf } from "../../services/shared/contract/derive/type-name.ts";
import { describeWithProcesses } from "../../services/shared/testkit/describe.ts";

const COMPILER = ["node", join(ROOT, "node_modules/typescript/bin/tsc"), "--noEmit", "--strict"];

/** What a program does with a row; each line after `// wrong:` must not compile. */
const PROGRAM = `import type { components, paths } from "./types";
type Schemas = components["schemas"];
type Media = paths["/evm/dexb/v3/pools"]["get"]["responses"][200]["content"];
declare const [pools]: Media["application/vnd.service.table.v1.0.0+json"];
declare const [named]: Media["application/json; rows=objects"];
declare const trades: paths["/api/v1/solana/token-transactions"]["get"]["responses"][200]["content"]["application/json"];
declare const vault: Schemas["EvmDexaV2PoolObject"];
for (const [chainId, dexAddress] of pools.data) {
  const chain: number = chainId;
  const dex: string = dexAddress;
  // wrong: chain_id is a number
  const text: string = chainId;
  // wrong: dexAddress is text
  const count: number = dexAddress;
}
for (const row of named.data) {
  const address: string = row.poolAddress;
  // wrong: an address is text
  const count: number = row.poolAddress;
  // wrong: there is no such column
  row.poolAdress;
}
for (const trade of trades.data) {
  const [hash, slot, time, kind, amount, usd]: [string, number | string, number, string, number | null, number | null, ...unknown[]] = trade;
  // wrong: ten columns
  trade[10];
  // wrong: a slot above 2^53 is text
  const number: number = trade[1];
}
const tvl: number | null = vault.poolTvlUsd;
// wrong: it may be null
vault.poolTvlUsd.toFixed();
`;

const HEAD = 'import type { components } from "./types";';

/** What the number of cells in a row of each endpoint is assigned to; the text of a line by the number of its columns. */
function countColumns(columns: (declared: number) => number): string {
  const lines = catalogue.map((endpoint, at) => {
    const row = `components["schemas"]["${typeNameOf(endpoint)}Row"]`;
    return `const count${at}: ${row}["length"] = ${columns(endpoint.columns.length)};`;
  });
  return [HEAD, ...lines].join("\n");
}

/** Compiled together: reading the types takes seconds. */
const PROGRAMS = {
  used: PROGRAM,
  whole: countColumns((declared) => declared),
  short: countColumns(() => 0),
} as const;

describeWithProcesses("types that openapi-typescript makes of /openapi-3.1.json", () => {
  let folder: string;
  /** By program: the lines that do not compile. */
  const wrongLines = new Map<string, number[]>();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "openapi-types-"));
    const document = join(folder, "openapi.json");
    await writeFile(document, JSON.stringify(toTypedOpenApi(catalogue, { hostPaths: HOST_PATHS })));
    const generator = join(ROOT, "node_modules/openapi-typescript/bin/cli.js");
    const { ok, output } = await run(["node", generator, document, "--output", join(folder, "types.ts")]);
    expect(ok, output).to.equal(true);
    for (const [name, program] of Object.entries(PROGRAMS))
      await writeFile(join(folder, `${name}.ts`), program);
    await compile(Object.keys(PROGRAMS));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function compile(names: readonly string[]): Promise<void> {
    const files = names.map((name) => join(folder, `${name}.ts`));
    const { stdout } = await run([...COMPILER, "--ignoreConfig", "--target", "es2022", ...files], {
      cwd: folder,
    });
    for (const name of names) wrongLines.set(name, []);
    for (const [fault, name = "", line] of stdout.matchAll(/^(\S+)\.ts\((\d+),\d+\): error.*$/gm)) {
      const lines = wrongLines.get(name);
      if (lines === undefined) throw new Error(fault);
      if (!lines.includes(Number(line))) lines.push(Number(line));
    }
  }

  it("let each column be used as what it is, by place and by name, and as nothing else", () => {
    const lines = PROGRAM.split("\n");
    const wrong = lines.flatMap((line, at) => (line.trim().startsWith("// wrong:") ? [at + 2] : []));
    expect(wrong).to.have.length(7);
    expect(wrongLines.get("used")).to.deep.equal(wrong);
  });

  it("have as many cells in a row as the endpoint has columns, for every endpoint", () => {
    expect(wrongLines.get("whole")).to.deep.equal([]);
    expect(wrongLines.get("short")).to.deep.equal(catalogue.map((_, at) => at + 2));
  });
});

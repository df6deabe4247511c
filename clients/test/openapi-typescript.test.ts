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

describeWithProcesses("types that openapi-typescript makes of /openapi-3.1.json", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "openapi-types-"));
    const document = join(folder, "openapi.json");
    await writeFile(document, JSON.stringify(toTypedOpenApi(catalogue, { hostPaths: HOST_PATHS })));
    const generator = join(ROOT, "node_modules/openapi-typescript/bin/cli.js");
    const { ok, output } = await run(["node", generator, document, "--output", join(folder, "types.ts")]);
    expect(ok, output).to.equal(true);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** The lines of a program that do not compile. */
  async function findWrongLines(program: string): Promise<number[]> {
    const file = join(folder, "program.ts");
    await writeFile(file, program);
    const { stdout } = await run([...COMPILER, "--ignoreConfig", "--target", "es2022", file], {
      cwd: folder,
    });
    const places = [...stdout.matchAll(/^(\S+)\((\d+),\d+\): error/gm)];
    for (const [fault, path] of places) expect(path, fault).to.contain("program.ts");
    return [...new Set(places.map(([, , line]) => Number(line)))];
  }

  it("let each column be used as what it is, by place and by name, and as nothing else", async () => {
    const lines = PROGRAM.split("\n");
    const wrong = lines.flatMap((line, at) => (line.trim().startsWith("// wrong:") ? [at + 2] : []));
    expect(wrong).to.have.length(7);
    expect(await findWrongLines(PROGRAM)).to.deep.equal(wrong);
  });

  it("have as many cells in a row as the endpoint has columns, for every endpoint", async () => {
    const program = catalogue.map((endpoint, at) => {
      const row = `components["schemas"]["${typeNameOf(endpoint)}Row"]`;
      return `const count${at}: ${row}["length"] = ${endpoint.columns.length};`;
    });
    const head = 'import type { components } from "./types";';
    expect(await findWrongLines([head, ...program].join("\n"))).to.deep.equal([]);
    const short = [head, ...program.map((line) => line.replace(/\d+;$/, "0;"))].join("\n");
    expect(await findWrongLines(short)).to.deep.equal(catalogue.map((_, at) => at + 2));
  });
});

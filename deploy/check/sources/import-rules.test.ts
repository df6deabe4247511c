import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeThorough } from "../../../services/shared/testkit/describe.ts";
import { type Breach, type ImportReport, inspectImports, SOURCE_FOLDERS } from "./import-rules.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

interface Import {
  readonly from: string;
  readonly to: string;
  /** How the import is written where it is no relative path to `to`. */
  readonly as?: string;
}

/** One file that imports what it must not, for every rule: `rule: file → imported file`. */
const BREACHES: readonly (Breach & Import)[] = [
  { rule: "no-cycles", from: "services/shared/a.ts", to: "services/shared/b.ts" },
  { rule: "service-keeps-to-itself", from: "services/lending/peer.ts", to: "services/evm-dex/store.ts" },
  { rule: "service-keeps-to-itself", from: "services/solana/up.ts", to: "gateway/app.ts" },
  {
    rule: "service-tests-keep-to-themselves",
    from: "services/lending/peer.test.ts",
    to: "services/evm-dex/store.ts",
  },
  { rule: "service-tests-keep-to-themselves", from: "services/lending/test/up.ts", to: "gateway/app.ts" },
  { rule: "gateway-parts-one-way", from: "gateway/config.ts", to: "gateway/auth/limits/rule.ts" },
  { rule: "gateway-parts-one-way", from: "gateway/request/context.ts", to: "gateway/proxy/cache/store.ts" },
  { rule: "gateway-parts-one-way", from: "gateway/auth/usage/counts.ts", to: "gateway/auth/limits/rule.ts" },
  {
    rule: "gateway-parts-one-way",
    from: "gateway/proxy/delivery/send.ts",
    to: "gateway/proxy/cache/store.ts",
  },
  { rule: "gateway-parts-one-way", from: "gateway/payments/flow/flow.ts", to: "gateway/service.ts" },
  { rule: "gateway-sees-contracts-only", from: "gateway/inside.ts", to: "services/evm-dex/store.ts" },
  {
    rule: "gateway-tests-see-contracts-only",
    from: "gateway/inside.test.ts",
    to: "services/evm-dex/store.ts",
  },
  { rule: "shared-knows-nobody", from: "services/shared/down.ts", to: "services/solana/store.ts" },
  { rule: "shared-knows-nobody", from: "services/shared/edge.ts", to: "gateway/app.ts" },
  { rule: "shared-tests-know-nobody", from: "services/shared/down.test.ts", to: "services/solana/store.ts" },
  {
    rule: "serving-never-imports-ingest",
    from: "services/evm-dex/handlers.ts",
    to: "services/evm-dex/ingest/fetch.ts",
  },
  {
    rule: "serving-never-imports-ingest",
    from: "services/evm-dex/main.ts",
    to: "services/evm-dex/ingest/fetch.ts",
  },
  {
    rule: "ingest-never-imports-serving",
    from: "services/evm-dex/ingest/loop.ts",
    to: "services/evm-dex/handlers.ts",
  },
  {
    rule: "ingest-never-imports-serving",
    from: "services/evm-dex/ingest/decode/swap.ts",
    to: "services/evm-dex/endpoints/pool.handler.ts",
  },
  {
    rule: "ingest-never-imports-serving",
    from: "services/evm-dex/ingest/ahead.ts",
    to: "services/evm-dex/serve/pool.ts",
  },
  {
    rule: "endpoint-declares-only",
    from: "services/evm-dex/endpoints/pool.endpoint.ts",
    to: "services/evm-dex/store.ts",
  },
  {
    rule: "endpoint-declares-only",
    from: "services/evm-dex/endpoints/pools.endpoint.ts",
    to: "services/shared/storage/port.ts",
  },
  {
    rule: "endpoint-declares-only",
    from: "services/evm-dex/endpoints/v3/pool-columns.ts",
    to: "services/evm-dex/endpoints/pool.handler.ts",
  },
  {
    rule: "endpoint-declares-only",
    from: "services/evm-dex/endpoints/params.ts",
    to: "services/shared/errors.ts",
  },
  { rule: "only-all-in-one-composes", from: "deploy/other.ts", to: "gateway/app.ts" },
  { rule: "only-all-in-one-composes", from: "bench/other.ts", to: "gateway/app.ts" },
  { rule: "tools-see-no-inside-of-services", from: "deploy/devnet/peek.ts", to: "services/solana/store.ts" },
  { rule: "tools-see-no-inside-of-services", from: "proto/generate.ts", to: "services/solana/store.ts" },
  {
    rule: "solana-devnet-sees-chain-code-only",
    from: "deploy/devnet/solana/peek.ts",
    to: "services/solana/store.ts",
  },
  {
    rule: "reindex-sees-store-declarations-only",
    from: "deploy/reindex/peek.ts",
    to: "services/solana/store.ts",
  },
  {
    rule: "doctor-sees-deployments-only",
    from: "deploy/doctor/peek.ts",
    to: "services/solana/store.ts",
  },
  {
    rule: "store-doctor-sees-stores-only",
    from: "deploy/store-doctor/peek.ts",
    to: "services/solana/store.ts",
  },
  { rule: "client-stands-alone", from: "clients/typescript/src/a.ts", to: "services/shared/errors.ts" },
  { rule: "client-stands-alone", from: "clients/typescript/src/b.ts", to: "clients/testkit/served.ts" },
  {
    rule: "client-stands-alone",
    from: "clients/typescript/src/c.ts",
    to: "node_modules/prod/index.js",
    as: "prod",
  },
  { rule: "clients-are-made-of-declarations", from: "clients/generate/main.ts", to: "gateway/app.ts" },
  { rule: "product-knows-no-client", from: "gateway/ask.ts", to: "clients/typescript/src/index.ts" },
  { rule: "gateway-sees-contracts-only", from: "gateway/ask.ts", to: "clients/typescript/src/index.ts" },
  {
    rule: "devnet-stays-out-of-production",
    from: "services/evm-dex/chain.ts",
    to: "deploy/devnet/node/anvil.ts",
  },
  { rule: "devnet-stays-out-of-production", from: "gateway/chain.ts", to: "deploy/devnet/node/anvil.ts" },
  { rule: "service-keeps-to-itself", from: "services/evm-dex/chain.ts", to: "deploy/devnet/node/anvil.ts" },
  { rule: "gateway-sees-contracts-only", from: "gateway/chain.ts", to: "deploy/devnet/node/anvil.ts" },
  { rule: "devnet-stays-out-of-production", from: "proto/chain.ts", to: "deploy/devnet/node/anvil.ts" },
  {
    rule: "production-imports-no-test-code",
    from: "services/shared/storage/sqlite/store.ts",
    to: "services/shared/storage/suite.ts",
  },
  {
    rule: "production-imports-no-test-code",
    from: "services/shared/storage/mongodb/store.ts",
    to: "services/shared/storage/suite/values.ts",
  },
  {
    rule: "production-imports-no-test-code",
    from: "gateway/cli/keys.ts",
    to: "gateway/testkit/keys.ts",
  },
  {
    rule: "production-needs-no-dev-dependency",
    from: "services/shared/dev.ts",
    to: "node_modules/dev-only/index.js",
    as: "dev-only",
  },
  {
    rule: "viem-signs-for-the-facilitator",
    from: "services/shared/sign.ts",
    to: "node_modules/viem/index.js",
    as: "viem",
  },
  {
    rule: "viem-signs-for-the-facilitator",
    from: "gateway/sign.ts",
    to: "node_modules/viem/index.js",
    as: "viem",
  },
  { rule: "every-import-resolves", from: "services/shared/gone.ts", to: "./nowhere.ts", as: "./nowhere.ts" },
];

/** Imports that the rules must let through. */
const ALLOWED: readonly Import[] = [
  { from: "services/shared/b.ts", to: "services/shared/a.ts" },
  { from: "gateway/app.ts", to: "services/evm-dex/contract.ts" },
  { from: "gateway/app.ts", to: "gateway/proxy/cache/store.ts" },
  { from: "gateway/proxy/cache/store.ts", to: "gateway/request/clock.ts" },
  { from: "gateway/proxy/delivery/send.test.ts", to: "gateway/proxy/cache/store.ts" },
  { from: "gateway/upstream.test.ts", to: "deploy/devnet/node/anvil.ts" },
  { from: "services/evm-dex/ingest/fetch.ts", to: "services/evm-dex/store.ts" },
  { from: "services/evm-dex/ingest/fetch.test.ts", to: "services/evm-dex/handlers.ts" },
  { from: "services/evm-dex/test/reorg.test.ts", to: "services/evm-dex/ingest/fetch.ts" },
  { from: "services/evm-dex/store.ts", to: "services/shared/storage/port.ts" },
  { from: "services/evm-dex/endpoints/chains.endpoint.ts", to: "services/shared/contract/column.ts" },
  {
    from: "services/evm-dex/endpoints/chains.endpoint.ts",
    to: "services/evm-dex/endpoints/v3/pool-columns.ts",
  },
  { from: "services/evm-dex/endpoints/chains.endpoint.ts", to: "services/evm-dex/endpoints/params.ts" },
  { from: "services/shared/storage/sqlite/store.test.ts", to: "services/shared/storage/suite.ts" },
  { from: "services/shared/storage/suite/values.ts", to: "node_modules/dev-only/index.js", as: "dev-only" },
  { from: "gateway/payments/facilitator/wallet.ts", to: "node_modules/viem/index.js", as: "viem" },
  { from: "gateway/payments/flow/signature.ts", to: "node_modules/viem/index.js", as: "viem" },
  { from: "gateway/sign.test.ts", to: "node_modules/viem/index.js", as: "viem" },
  { from: "services/shared/prod.ts", to: "node_modules/prod/index.js", as: "prod" },
  { from: "deploy/all-in-one.ts", to: "gateway/app.ts" },
  { from: "deploy/all-in-one.ts", to: "services/solana/store.ts" },
  { from: "bench/ingest.ts", to: "services/evm-dex/ingest/fetch.ts" },
  { from: "proto/openapi.ts", to: "services/solana/contract.ts" },
  { from: "proto/openapi.ts", to: "gateway/catalogue.ts" },
  { from: "clients/generate/main.ts", to: "gateway/catalogue.ts" },
  { from: "clients/typescript/src/index.ts", to: "clients/typescript/src/table.ts" },
  { from: "clients/typescript/test/client.test.ts", to: "clients/testkit/served.ts" },
  { from: "clients/testkit/served.ts", to: "gateway/testkit/gateway.ts" },
  { from: "deploy/test/client-walk.ts", to: "clients/typescript/src/index.ts" },
];

const key = ({ rule, from, to }: Breach): string => `${rule}: ${from} → ${to}`;

/** Writes a repository whose files import exactly what the tables say; other imported files are empty modules. */
async function buildRepository(root: string): Promise<void> {
  const imports = new Map<string, string[]>(SOURCE_FOLDERS.map((folder) => [`${folder}/empty.ts`, []]));
  for (const { from, to, as } of [...BREACHES, ...ALLOWED]) {
    imports.set(from, [...new Set([...(imports.get(from) ?? []), as ?? relativeImport(from, to)])]);
    if (as === undefined && !imports.has(to)) imports.set(to, []);
  }
  for (const [path, targets] of imports) {
    const lines = targets.map(
      (target, at) => `import * as x${at} from "${target}";\nexport type X${at} = typeof x${at};`,
    );
    await write(join(root, path), `${lines.join("\n")}\nexport {};\n`);
  }
  for (const name of ["dev-only", "prod", "viem"]) {
    await write(
      join(root, `node_modules/${name}/package.json`),
      `{"name":"${name}","version":"1.0.0","main":"index.js"}`,
    );
    await write(join(root, `node_modules/${name}/index.js`), "module.exports = {};\n");
  }
  await write(
    join(root, "package.json"),
    JSON.stringify({
      type: "module",
      dependencies: { prod: "1.0.0", viem: "1.0.0" },
      devDependencies: { "dev-only": "1.0.0" },
    }),
  );
}

function relativeImport(from: string, to: string): string {
  return `${"../".repeat(from.split("/").length - 1) || "./"}${to}`;
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

async function countSources(): Promise<number> {
  const listings = await Promise.all(
    SOURCE_FOLDERS.map((folder) => readdir(join(ROOT, folder), { recursive: true })),
  );
  return listings.flat().filter((name) => name.endsWith(".ts")).length;
}

describeThorough("import rules", () => {
  let root: string;
  let report: ImportReport;

  before(async () => {
    root = await mkdtemp(join(tmpdir(), "import-rules-"));
    await buildRepository(root);
    report = await inspectImports(root, ROOT);
  });
  after(() => rm(root, { recursive: true, force: true }));

  it("reads the temporary repository", () => expect(report.modules).to.be.greaterThan(BREACHES.length));

  for (const breach of BREACHES) {
    it(`reports ${key(breach)}`, () => expect(report.breaches.map(key)).to.include(key(breach)));
  }

  it("reports nothing else: what is allowed passes", () => {
    const expected = new Set(BREACHES.map(key));
    expect(report.breaches.map(key).filter((breach) => !expected.has(breach))).to.deep.equal([]);
  });

  it("names every rule of the configuration in this test", async () => {
    const { default: config } = (await import(join(ROOT, ".dependency-cruiser.mjs"))) as {
      default: { forbidden: { name: string }[] };
    };
    expect(new Set(BREACHES.map(({ rule }) => rule))).to.deep.equal(
      new Set(config.forbidden.map(({ name }) => name)),
    );
  });

  it("reads every source file of this repository", async () => {
    const real = await inspectImports(ROOT);
    expect(real.modules).to.be.at.least(await countSources());
    expect(real.dependencies).to.be.greaterThan(real.modules);
  });
});

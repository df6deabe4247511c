/**
 * Import rules: who may import whom. `deploy/check/sources/import-rules.test.ts` breaks each rule on purpose, so that a rule
 * that stops biting is noticed.
 *
 * @type {import("dependency-cruiser").IConfiguration}
 */

/** Files that never run in production: tests, their fixtures, benches. They may reach the devnet and the testkits. */
const TEST_FILES =
  "(\\.(test|bench)\\.ts$|/(test|bench|suite|testkit)/|[/.](suite|testkit)\\.ts$|-suite\\.ts$)";
const SOURCE_FOLDERS = "^(gateway|services|proto|deploy|bench|clients)/";

/**
 * The gateway's parts, the lowest first: each may import those before it, by value and by type, and none behind it. The
 * root's app.ts, service.ts, admin.ts and main.ts compose the others.
 */
const GATEWAY_ORDER = [
  "(config|catalogue|lazy-store)\\.ts$",
  "request/",
  "auth/usage/",
  "auth/limits/",
  "auth/keys/",
  "auth/[^/]+\\.ts$",
  "proxy/transport/",
  "proxy/upstream/",
  "proxy/heads/",
  "proxy/delivery/",
  "proxy/cache/",
  "live/",
  "explorer/",
  "pages/",
  "mcp/",
  "payments/[^/]+\\.ts$",
  "payments/ledger/",
  "payments/settlement/",
  "payments/flow/",
  "payments/facilitator/",
  "(app|service|admin)\\.ts$",
  "fleet/",
  "cli/",
  "main\\.ts$",
];

export default {
  forbidden: [
    ...GATEWAY_ORDER.slice(0, -1).map((part, at) => ({
      name: "gateway-parts-one-way",
      comment:
        "Two folders that import each other are one. GATEWAY_ORDER says which of two may import the other.",
      severity: "error",
      from: { path: `^gateway/${part}`, pathNot: TEST_FILES },
      to: { path: `^gateway/(${GATEWAY_ORDER.slice(at + 1).join("|")})` },
    })),
    {
      name: "no-cycles",
      comment:
        "A cycle makes two files one. `import type` counts: types that need each other belong together.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "service-keeps-to-itself",
      comment:
        "A service is deployed alone: it imports itself and services/shared. It asks others over gRPC.",
      severity: "error",
      from: { path: "^services/([^/]+)/", pathNot: `^services/shared/|${TEST_FILES}` },
      to: { path: SOURCE_FOLDERS, pathNot: "^services/($1|shared)/" },
    },
    {
      name: "service-tests-keep-to-themselves",
      comment: "Tests and benches of a service may use the devnet too, but no other service and no gateway.",
      severity: "error",
      from: { path: `^services/([^/]+).*${TEST_FILES}`, pathNot: "^services/shared/" },
      to: { path: SOURCE_FOLDERS, pathNot: "^services/($1|shared)/|^deploy/devnet/" },
    },
    {
      name: "gateway-sees-contracts-only",
      comment:
        "The gateway knows services by their declarations (contract.ts) and speaks to them over the wire.",
      severity: "error",
      from: { path: "^gateway/", pathNot: TEST_FILES },
      to: { path: SOURCE_FOLDERS, pathNot: "^gateway/|^services/shared/|^services/[^/]+/contract\\.ts$" },
    },
    {
      name: "gateway-tests-see-contracts-only",
      comment: "Tests of the gateway may use the devnet too, but not the inside of a service.",
      severity: "error",
      from: { path: `^gateway.*${TEST_FILES}` },
      to: {
        path: SOURCE_FOLDERS,
        pathNot: "^gateway/|^services/shared/|^services/[^/]+/contract\\.ts$|^deploy/devnet/",
      },
    },
    {
      name: "shared-knows-nobody",
      comment:
        "services/shared is below everything: it imports no service, no gateway and nothing of deploy.",
      severity: "error",
      from: { path: "^services/shared/", pathNot: TEST_FILES },
      to: { path: SOURCE_FOLDERS, pathNot: "^services/shared/" },
    },
    {
      name: "shared-tests-know-nobody",
      comment: "Tests of services/shared may use the devnet too.",
      severity: "error",
      from: { path: `^services/shared.*${TEST_FILES}` },
      to: { path: SOURCE_FOLDERS, pathNot: "^services/shared/|^deploy/devnet/" },
    },
    {
      name: "serving-never-imports-ingest",
      comment: "Ingest is its own process. What both need stands outside ingest/.",
      severity: "error",
      from: { path: "^services/[^/]+/", pathNot: `^services/[^/]+/ingest/|${TEST_FILES}` },
      to: { path: "^services/[^/]+/ingest/" },
    },
    {
      name: "ingest-never-imports-serving",
      comment: "Ingest uses the pure folders and the store of its service, not what answers requests.",
      severity: "error",
      from: { path: "^services/([^/]+)/ingest/", pathNot: TEST_FILES },
      to: { path: "^services/$1/(endpoints/|serve/|handlers\\.ts$|main\\.ts$|contract\\.ts$)" },
    },
    {
      name: "endpoint-declares-only",
      comment:
        "A declaration is data: contract code, zod, and its siblings' columns and parameters; no store, no handler.",
      severity: "error",
      from: { path: "^(services/[^/]+)/endpoints/.*(\\.endpoint|columns|params)\\.ts$" },
      to: { pathNot: "^services/shared/contract/|^$1/endpoints/.*(columns|params)\\.ts$|^node_modules/zod/" },
    },
    {
      name: "only-all-in-one-composes",
      comment: "deploy/all-in-one.ts is the only file that may import the gateway and every service.",
      severity: "error",
      from: { path: "^(deploy|bench|proto)/", pathNot: "^deploy/all-in-one(\\.test)?\\.ts$" },
      // The catalogue is the list of all contracts: data, which generators read. Benches pay with the clients of the tests. Records
      // declare what is stored, which the doctor of stores looks at.
      to: {
        path: "^gateway/",
        pathNot:
          "^gateway/(catalogue|testkit/payments/payer|auth/(keys|usage)/(key|usage)-record|payments/ledger/payment-record)\\.ts$",
      },
    },
    {
      name: "tools-see-no-inside-of-services",
      comment:
        "Generators, the devnet and checks know services by their contracts; benches may measure the inside.",
      severity: "error",
      from: {
        path: "^(deploy|proto)/",
        pathNot:
          "^deploy/(all-in-one(\\.test)?\\.ts$|reindex/|doctor/|store-doctor/|devnet/(portal/)?solana/)",
      },
      // npm start asks the endpoints of every chain before it builds anything.
      to: {
        path: "^services/(?!shared/)",
        pathNot: "^services/[^/]+/contract\\.ts$|^services/solana/chain/endpoints\\.ts$",
      },
    },
    {
      name: "solana-devnet-sees-chain-code-only",
      comment:
        "The local Solana node and portal speak the types of the reader that they are read by, and know no more of the service.",
      severity: "error",
      from: { path: "^deploy/devnet/(portal/)?solana/" },
      to: { path: "^services/(?!shared/)", pathNot: "^services/solana/chain/" },
    },
    {
      name: "reindex-sees-store-declarations-only",
      comment:
        "The command that deletes a chain's index knows of services what they store, and nothing else.",
      severity: "error",
      from: { path: "^deploy/reindex/" },
      to: { path: "^services/(?!shared/)", pathNot: "^services/[^/]+/store/collections\\.ts$" },
    },
    {
      name: "doctor-sees-deployments-only",
      comment: "The command that tells costs knows of services which contracts they read, and nothing else.",
      severity: "error",
      from: { path: "^deploy/doctor/" },
      to: { path: "^services/(?!shared/)", pathNot: "^services/[^/]+/deployments\\.ts$" },
    },
    {
      name: "store-doctor-sees-stores-only",
      comment:
        "The command that looks at stores knows of services what they store, how rows belong together, and the audit; nothing that serves or writes.",
      severity: "error",
      from: { path: "^deploy/store-doctor/", pathNot: TEST_FILES },
      to: {
        path: "^services/(?!shared/)",
        pathNot: "^services/[^/]+/(store/|audit/|deployments\\.ts$)|^services/solana/metrics/candle\\.ts$",
      },
    },
    {
      name: "client-stands-alone",
      comment:
        "A client is published by itself and runs where there is no Node: it imports its own files, no package and no module of Node.",
      severity: "error",
      from: { path: "^clients/([^/]+)/src/" },
      to: { pathNot: "^clients/$1/src/" },
    },
    {
      name: "clients-are-made-of-declarations",
      comment: "What makes the generated parts of clients reads declarations, and no more of the product.",
      severity: "error",
      from: { path: "^clients/generate/", pathNot: TEST_FILES },
      to: { path: SOURCE_FOLDERS, pathNot: "^clients/generate/|^gateway/catalogue\\.ts$|^services/shared/" },
    },
    {
      name: "product-knows-no-client",
      comment: "Clients are of those who ask. Only tests of a whole stack ask by them.",
      severity: "error",
      from: { path: "^(gateway|services|proto|bench|deploy)/", pathNot: "^deploy/test/" },
      to: { path: "^clients/" },
    },
    {
      name: "devnet-stays-out-of-production",
      comment: "The local chain is for the first run, tests and benches.",
      severity: "error",
      from: { path: "^(gateway|services|proto)/", pathNot: TEST_FILES },
      to: { path: "^deploy/" },
    },
    {
      name: "production-imports-no-test-code",
      comment:
        "Tests, fixtures and contract suites need mocha and chai, which are not installed in production.",
      severity: "error",
      from: { path: "^(gateway|services)/", pathNot: TEST_FILES },
      to: { path: TEST_FILES, pathNot: "^node_modules/" },
    },
    {
      name: "production-needs-no-dev-dependency",
      comment: "The image installs dependencies only. Types are erased and may come from devDependencies.",
      severity: "error",
      from: { path: "^(gateway|services)/", pathNot: TEST_FILES },
      to: {
        dependencyTypes: ["npm-dev", "npm-no-pkg"],
        dependencyTypesNot: ["type-only"],
        pathNot: "/@types/",
      },
    },
    {
      name: "viem-signs-for-the-facilitator",
      comment:
        "viem signs for the wallet of the built-in facilitator and recovers who signed a payment; everything else has services/shared/evm.",
      severity: "error",
      from: {
        path: "^(gateway|services)/",
        pathNot: `^gateway/payments/facilitator/|^gateway/payments/flow/signature\\.ts$|${TEST_FILES}`,
      },
      to: { path: "^node_modules/viem/" },
    },
    {
      name: "every-import-resolves",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    doNotFollow: { path: "^node_modules/" },
    exclude: { path: "^dist/" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
    },
  },
};

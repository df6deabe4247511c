import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

/** Contracts compiled here; everything else on the devnet is genuine, from npm. One output file for each group. */
const GROUPS = [
  { output: "./artifacts.ts", sources: ["DevToken", "OldToken", "WrappedEther", "Desk"], uses: ["Payer"] },
  {
    output: "./aerodrome/artifacts.ts",
    sources: ["AerodromePool", "AerodromeFactory", "AerodromeGauge", "AerodromeVoter", "AerodromeDesk"].map(
      (name) => `aerodrome/${name}`,
    ),
    uses: ["Cloner", "Payer", "aerodrome/AerodromeLpToken", "aerodrome/StableCurve"],
  },
  {
    output: "./slipstream/artifacts.ts",
    sources: ["slipstream/SlipstreamPool", "slipstream/SlipstreamFactory", "slipstream/SlipstreamGauge"],
    uses: [
      "Cloner",
      ...["PriceMath", "SlipstreamPositions", "SlipstreamTicks", "WideMath"].map(
        (name) => `slipstream/${name}`,
      ),
    ],
  },
  { output: "./pancake/artifacts.ts", sources: ["pancake/PancakeDeployer"], uses: [] },
  {
    output: "./aave/artifacts.ts",
    sources: ["PriceFeed", "EModePool", "FacilitatorToken"].map((name) => `aave/${name}`),
    uses: ["aave/ScaledToken"],
  },
  { output: "./feed/artifacts.ts", sources: ["feed/FeedAggregator", "feed/FeedProxy"], uses: [] },
  { output: "./wallets/artifacts.ts", sources: ["wallets/BurningWallet"], uses: [] },
  { output: "./attack/artifacts.ts", sources: ["attack/HostileToken"], uses: [] },
  { output: "./multicall/artifacts.ts", sources: ["multicall/Multicall3"], uses: [] },
  {
    output: "./morpho/artifacts.ts",
    sources: ["PriceOracle", "FlatRateModel", "VaultFactory", "LossKeepingVault"].map(
      (name) => `morpho/${name}`,
    ),
    uses: ["morpho/IMorpho"],
  },
  {
    output: "./euler/more-artifacts.ts",
    sources: [
      ...["EulerAggregationVault", "EulerAggregationFactory"],
      ...["EulerKinkyRateModel", "EulerCyclicalRateModel"],
    ].map((name) => `euler/${name}`),
    uses: [
      "EulerEarnShares",
      "EulerMath",
      "EulerShares",
      "EulerGovernance",
      "EulerLedger",
      "EulerConnector",
    ].map((name) => `euler/${name}`),
  },
  {
    output: "./euler/artifacts.ts",
    sources: [
      ...["EulerConnector", "EulerVault", "EulerBrokenVault", "EulerVaultFactory", "EulerOracle"],
      ...["EulerRateModel", "EulerEarnVault", "EulerEarnFactory", "EulerPerspective", "EulerHook"],
    ].map((name) => `euler/${name}`),
    uses: [
      "Cloner",
      ...["EulerMath", "EulerLedger", "EulerGovernance"].map((name) => `euler/${name}`),
      ...["EulerShares", "EulerDebtToken", "EulerEarnShares"].map((name) => `euler/${name}`),
    ],
  },
] as const satisfies readonly Group[];

interface Group {
  readonly output: string;
  /** Paths without .sol, each holding a contract of its file's name. */
  readonly sources: readonly string[];
  /** What they import. */
  readonly uses: readonly string[];
}

interface Compiled {
  readonly abi: readonly unknown[];
  readonly bytecode: string;
}

interface Solc {
  version(): string;
  compile(input: string): string;
}

interface SolcOutput {
  errors?: { severity: string; formattedMessage: string }[];
  contracts: Record<string, Record<string, { abi: unknown[]; evm: { bytecode: { object: string } } }>>;
}

/** Compiles the Solidity sources of a group. Throws with the compiler's words on any error or warning. */
export function compileContracts(group: Group): Record<string, Compiled> {
  const solc = createRequire(import.meta.url)("solc") as Solc;
  const sources = Object.fromEntries(
    [...group.sources, ...group.uses].map((path) => [
      `${path}.sol`,
      { content: readFileSync(new URL(`./${path}.sol`, import.meta.url), "utf8") },
    ]),
  );
  const settings = {
    // The hash of the metadata would change the bytecode with every comment.
    metadata: { bytecodeHash: "none", appendCBOR: false },
    optimizer: { enabled: true, runs: 1_000_000 },
    evmVersion: "cancun",
    outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
  };
  const output = JSON.parse(
    solc.compile(JSON.stringify({ language: "Solidity", sources, settings })),
  ) as SolcOutput;
  if (output.errors?.length) throw new Error(output.errors.map((error) => error.formattedMessage).join("\n"));
  return Object.fromEntries(
    group.sources.map((path) => {
      const name = path.slice(path.lastIndexOf("/") + 1);
      const contract = output.contracts[`${path}.sol`]?.[name];
      if (!contract) throw new Error(`${path}.sol holds no contract ${name}`);
      return [name, { abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` }];
    }),
  );
}

/** The text of an artifacts.ts: constants, so that start-up needs no compiler and viem infers the types. */
export function renderArtifacts(compiled: Record<string, Compiled>): string {
  const constants = Object.entries(compiled).map(([name, { abi, bytecode }]) => {
    const items = abi.map((item) => `    ${JSON.stringify(item)},`).join("\n");
    return `export const ${toConstant(name)} = {\n  abi: [\n${items}\n  ],\n  bytecode: "${bytecode}",\n} as const;\n`;
  });
  return `// Generated by generate.ts from the .sol files beside it; do not edit.\n\n${constants.join("\n")}`;
}

/** Whether the checked-in constants are what the compiler makes now; their layout is the formatter's business. */
async function artifactsAreCurrent(): Promise<boolean> {
  const current = await Promise.all(GROUPS.map(isCurrent));
  return current.every(Boolean);
}

async function isCurrent(group: Group): Promise<boolean> {
  const checkedIn = (await import(group.output)) as Record<string, Compiled>;
  const ofNow = Object.entries(compileContracts(group)).map(
    ([name, contract]) => [toConstant(name), contract] as const,
  );
  return (
    Object.keys(checkedIn).length === ofNow.length &&
    ofNow.every(([name, contract]) => JSON.stringify(checkedIn[name]) === JSON.stringify(contract))
  );
}

function toConstant(contract: string): string {
  return contract.charAt(0).toLowerCase() + contract.slice(1);
}

async function main(): Promise<void> {
  if (!process.argv.includes("--check")) {
    for (const group of GROUPS) {
      writeFileSync(new URL(group.output, import.meta.url), renderArtifacts(compileContracts(group)));
    }
  } else if (!(await artifactsAreCurrent())) {
    console.error("deploy/devnet/contracts: artifacts.ts is out of date; run generate.ts");
    process.exitCode = 1;
  }
}

// Runs as a script only: tests import the functions.
if (process.argv[1]?.endsWith("generate.ts")) await main();

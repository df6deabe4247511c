import type { Process } from "./process.ts";

/** The processes that the manifests start, typed out: the checks themselves find them in the tree. */
export const PROCESSES: readonly Process[] = [
  process("gateway", "gateway", "gateway"),
  process("facilitator", "facilitator", "gateway/payments/facilitator"),
  process("evm-dex", "evm-dex", "services/evm-dex"),
  process("evm-dex-ingest", "ingest", "services/evm-dex/ingest"),
  process("lending", "lending", "services/lending"),
  process("lending-ingest", "ingest", "services/lending/ingest"),
  process("solana", "solana", "services/solana"),
  process("solana-ingest", "ingest", "services/solana/ingest"),
];

function process(name: string, role: string, folder: string): Process {
  return { name, role, source: `${folder}/main.ts`, built: `dist/${folder}/main.js` };
}

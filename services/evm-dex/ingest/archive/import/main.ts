/** `npm run import`: recorded blocks into the store. Exit code 1 = it ended early, 2 = the call was wrong. */

import { type ArchiveFolder, openArchive } from "../../../../shared/evm/archive/folder-client.ts";
import { knowDeployedChains } from "../../../../shared/evm/deployed-chains.ts";
import { sanitizeText } from "../../../../shared/logging/log.ts";
import { printJson } from "../../../../shared/process/print-json.ts";
import { disablePretenuring, startWithFullSemiSpace } from "../../../../shared/process/v8-flags.ts";
import { ConfigError } from "../../../../shared/settings/settings.ts";
import { IMPORT_USAGE, type ImportCall, parseImportCall, UsageError } from "../arguments.ts";
import { checkArchive } from "./check-archive.ts";
import { importArchive } from "./import.ts";

startWithFullSemiSpace();
disablePretenuring();

const say = (text: string) => process.stderr.write(`${text}\n`);

/** Returns the exit code. */
async function run(call: ImportCall, signal: AbortSignal): Promise<number> {
  const archive = await openArchive(call.folder);
  const { first, last, files } = archive;
  say(`${call.folder}: blocks ${first.number} to ${last.number} in ${files.length} files`);
  if (call.isCheck) {
    const { blocks, logs } = await checkArchive(archive);
    say(
      `${blocks} blocks with ${logs} logs: every hash is that of its header, every block follows on its parent`,
    );
    if (call.asJson) printJson({ folder: call.folder, first: first.number, last: last.number, blocks, logs });
    return 0;
  }
  const chainId = chainOf(archive, call);
  const block = await importArchive(archive, { chainId, env: process.env, signal, say });
  say(`The index of chain ${chainId} holds block ${block}.`);
  const range = { first: first.number, last: last.number };
  if (call.asJson) printJson({ folder: call.folder, chainId, ...range, indexedBlock: block });
  return block >= last.number ? 0 : 1;
}

function chainOf({ folder, manifest }: ArchiveFolder, { chainId }: ImportCall): number {
  const known = chainId ?? manifest?.chainId;
  if (known === undefined)
    throw new UsageError(`--chain is missing: ${folder} has no manifest.json that says it`);
  if (manifest !== undefined && manifest.chainId !== known)
    throw new UsageError(`--chain is ${known}: ${folder} was recorded of chain ${manifest.chainId}`);
  return known;
}

const stopping = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => stopping.abort());
try {
  knowDeployedChains(process.env.DEPLOYMENTS_FILE);
  const call = parseImportCall(process.argv.slice(2));
  if (call === "help") process.stdout.write(IMPORT_USAGE);
  else process.exitCode = await run(call, stopping.signal);
} catch (error) {
  const isUsage = error instanceof UsageError;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${sanitizeText(message)}\n${isUsage ? `\n${IMPORT_USAGE}` : ""}`);
  process.exitCode = isUsage || error instanceof ConfigError ? 2 : 1;
}

import { existsSync, readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError, type Environment, readSettings } from "./settings.ts";

/**
 * Which store the server of a DATA_DIR uses: npm start keeps the data of its local chain in a separate folder, and commands
 * in other shells cannot see its environment. The server writes this marker, commands follow it.
 */
export interface StoreMarker {
  readonly pid: number;
  /** Folder of the embedded databases, relative to DATA_DIR: "." or "local". */
  readonly folder: string;
  readonly usesMongodb: boolean;
  /** It runs on the local chain of npm start. */
  readonly isLocalChain: boolean;
  /** Endpoints of the local chain by chain id. Those of real chains carry keys and are never stored. */
  readonly localRpc?: Readonly<Record<string, string>>;
  /** Deployments of the local chain. */
  readonly deploymentsFile?: string;
  /** Base address of the gateway. */
  readonly url?: string;
  /** Base address of the pay-per-request host. */
  readonly payUrl?: string;
}

export interface StoreLocation {
  /** Folder of the embedded databases. */
  readonly dataDir: string;
  /** Whether that is the folder of a local chain, whose deployments are its own. */
  readonly isLocal: boolean;
  readonly mongodbUrl: string | undefined;
  /** The marker of a running server. */
  readonly running: StoreMarker | undefined;
  /** A sentence that explains the choice to the user. */
  readonly note: string | undefined;
}

const FILE = "store-in-use.json";
export const LOCAL_FOLDER = "local";

/** Writes the marker into an existing folder; after the process ends it describes the last start. */
export async function writeStoreMarker(dataDir: string, mark: Omit<StoreMarker, "pid">): Promise<void> {
  const file = join(dataDir, FILE);
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, `${JSON.stringify({ pid: process.pid, ...mark }, undefined, 2)}\n`);
  await rename(temporary, file);
}

/**
 * The store for a command: that of the server that runs on DATA_DIR; else by the command's own settings, as npm start
 * would read them; else that of the last start. Throws ConfigError if the command lacks a setting for it.
 */
export function locateStore(env: Environment): StoreLocation {
  const settings = readSettings(env, ["DATA_DIR", "MONGODB_URL", "EVM_RPC_8453", "EVM_RPC_1"]);
  const { DATA_DIR: root, MONGODB_URL: mongodbUrl } = settings;
  const mark = readMark(root);
  const running = mark !== undefined && isAlive(mark.pid) ? mark : undefined;
  if (running?.usesMongodb && mongodbUrl === undefined)
    throw new ConfigError([
      `The server that runs on ${root} (process ${running.pid}) keeps its data in MongoDB: set MONGODB_URL for this command too.`,
    ]);
  if (mongodbUrl !== undefined)
    return { dataDir: root, isLocal: running?.isLocalChain ?? false, mongodbUrl, running, note: undefined };
  const isReal = settings.EVM_RPC_8453 !== undefined || settings.EVM_RPC_1 !== undefined;
  const followed = running ?? (isReal ? undefined : mark);
  const isLocal =
    followed === undefined ? !isReal && holdsLocalDataAlone(root) : followed.folder === LOCAL_FOLDER;
  const dataDir = isLocal ? join(root, LOCAL_FOLDER) : root;
  if (!isLocal) {
    // An npm start on its local chain would not find what this command stores here.
    const isFirst = mark === undefined && !isReal && !existsSync(join(root, "gateway.sqlite"));
    return { dataDir, isLocal, mongodbUrl, running, note: isFirst ? nothingYet(root) : undefined };
  }
  const whose = running === undefined ? "the last npm start" : "the npm start that runs";
  const note = `This is the store of ${whose}, with its local chain: ${dataDir}.`;
  return { dataDir, isLocal, mongodbUrl, running, note };
}

function nothingYet(root: string): string {
  return `No server has run on ${root} yet. What this command stores is for a server that is started on its own (npm run gateway) or with EVM_RPC_8453; for npm start on its local chain, start that first.`;
}

/** Older versions wrote no marker; this one only ran on its local chain. */
function holdsLocalDataAlone(root: string): boolean {
  const file = "gateway.sqlite";
  return !existsSync(join(root, file)) && existsSync(join(root, LOCAL_FOLDER, file));
}

function readMark(root: string): StoreMarker | undefined {
  try {
    const mark: Partial<StoreMarker> = JSON.parse(readFileSync(join(root, FILE), "utf8"));
    const isWhole = typeof mark.pid === "number" && (mark.folder === "." || mark.folder === LOCAL_FOLDER);
    return isWhole ? (mark as StoreMarker) : undefined;
  } catch {
    // Missing or malformed.
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

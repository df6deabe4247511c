import { existsSync } from "node:fs";
import { join } from "node:path";
import { evmChainName } from "../../services/shared/evm/chains.ts";
import { readRpcUrls } from "../../services/shared/settings/rpc-urls.ts";
import type { Environment } from "../../services/shared/settings/settings.ts";
import { shortForm } from "../doctor/diagnosis.ts";
import { examine } from "../doctor/examine.ts";
import { type Deployments, deployedOn } from "../doctor/work.ts";

/** A slow endpoint must not hold up a start. */
const MOST_MS = 8_000;
const QUESTION_MS = 3_000;

/**
 * Says what a first start will ask of the endpoints, a line a chain, and what stands against it. Nothing where there is an
 * index already: what it still needs is little. Never rejects: a start does not depend on it.
 */
export async function tellCosts(
  options: Deployments & {
    readonly env: Environment;
    readonly dataDir: string;
    readonly say: (line: string) => void;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { env, dataDir, say } = options;
  if (existsSync(join(dataDir, "evm-dex.sqlite"))) return;
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(MOST_MS)]);
  const told = [...readRpcUrls(env)].map(async ([chainId, urls]) => {
    const deployed = deployedOn(chainId, options);
    if (deployed === undefined) return;
    const name = evmChainName(chainId);
    const examining = examine({ chainId, name, urls, deployed, env, timeoutMs: QUESTION_MS, signal });
    // A probe under way notices the signal at its next question only.
    const diagnosis = await Promise.race([examining, aborted(signal)]).catch(() => undefined);
    if (diagnosis !== undefined) for (const line of shortForm(diagnosis)) say(line);
    else if (!options.signal.aborted)
      say(
        `${name}: what a start costs is not known yet, its endpoints are slow. npm run doctor -- --chain ${chainId} asks again.`,
      );
  });
  await Promise.all(told);
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

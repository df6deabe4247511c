import { chainModel } from "./data.ts";
import { type Diagnosis, diagnose } from "./diagnosis.ts";
import { probePortal } from "./portal.ts";
import { probeEndpoint } from "./probe.ts";
import { type Deployed, historyDaysOf, rawDaysOf } from "./work.ts";

export interface ExamineOptions {
  readonly chainId: number;
  readonly name: string;
  readonly urls: readonly string[];
  readonly deployed: Deployed;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** In place of the settings. */
  readonly days?: number | undefined;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Probes the endpoints and the portal of a chain at the same time, and judges them. Rejects only for `signal`. */
export async function examine(options: ExamineOptions): Promise<Diagnosis> {
  const { chainId, name, urls, deployed, env, timeoutMs, signal } = options;
  const { blockSeconds } = chainModel(chainId);
  const portalUrl = env[`EVM_PORTAL_${chainId}`]?.trim();
  const probing = {
    ...{ chainId, blockSeconds, addresses: deployed.factories.map(({ address }) => address) },
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(signal && { signal }),
  };
  const [portal, ...endpoints] = await Promise.all([
    portalUrl ? probePortal(portalUrl, timeoutMs === undefined ? {} : { timeoutMs }) : undefined,
    ...urls.filter((url) => /^https?:/i.test(url)).map((url) => probeEndpoint(url, probing)),
  ]);
  const head = endpoints.find(({ failure }) => failure === undefined)?.head ?? 0;
  const historyDays = options.days ?? historyDaysOf(env, { chainId, head, blockSeconds });
  const hasWebsocket = urls.some((url) => /^wss?:/i.test(url));
  return diagnose({
    chainId,
    name,
    endpoints,
    portal,
    hasWebsocket,
    deployed,
    historyDays,
    rawDays: rawDaysOf(env),
  });
}

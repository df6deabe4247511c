import { expect } from "chai";
import type { AsOf } from "../../../shared/contract/as-of.ts";
import type { DataVersion, Endpoint } from "../../../shared/contract/endpoint.ts";
import { checkRows } from "../../../shared/contract/testkit/check-rows.ts";
import { ServiceError } from "../../../shared/errors.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { expectSame } from "../../../shared/testkit/expect-same.ts";
import { testContext } from "../../../shared/testkit/handler-context.ts";
import { endpoints } from "../../contract.ts";
import type { ChainDeployments } from "../../deployments.ts";
import { createHandlers } from "../../handlers.ts";
import { protocolOf } from "../../protocols/index.ts";
import { type PoolRow, pools, tokens } from "../../store/collections.ts";
import { depsOf } from "./answers.ts";

/** What a request was answered: its rows by column, or the error. */
export interface PastAnswer {
  readonly rows?: readonly Record<string, unknown>[];
  readonly version?: DataVersion | undefined;
  readonly code?: string;
  readonly message?: string;
}

/** By request. */
export type Answers = ReadonlyMap<string, PastAnswer>;

/** The answers of all single-pool endpoints for some pools, and the prices of some tokens, at the head or earlier. */
export async function askAll(
  store: Store,
  asked: { pools: readonly PoolRow[]; tokens: readonly string[]; chains?: readonly ChainDeployments[] },
  asOf: AsOf = {},
): Promise<Answers> {
  const handlers = createHandlers(depsOf(store, asked.chains));
  const answers = new Map<string, PastAnswer>();
  const ask = async (path: string, params: Record<string, unknown>) => {
    const endpoint = endpoints.find((each) => each.path === path) as Endpoint;
    const handler = handlers[path] as NonNullable<(typeof handlers)[string]>;
    const context = testContext();
    const answer = await handler({ ...params, ...asOf } as never, context).then(
      ({ rows, version }): PastAnswer => {
        checkRows(endpoint, rows as never);
        const named = (rows as readonly unknown[][]).map((row) =>
          Object.fromEntries(endpoint.columns.map(({ name }, i) => [name, row[i]])),
        );
        return { rows: named, version };
      },
      (error: unknown): PastAnswer => {
        if (!(error instanceof ServiceError)) throw error;
        return { code: error.code, message: error.message };
      },
    );
    answers.set(`${path} ${params.pool_address ?? ""}`.trim(), answer);
  };
  for (const pool of asked.pools)
    for (const path of pathsOf(pool)) {
      const days = path === "/evm/dexa/v2/pool" ? { apr_days_annualized: 7 } : {};
      await ask(path, { chain_id: pool.chainId, pool_address: pool.poolAddress, ...days });
    }
  const [first] = asked.pools;
  if (first !== undefined && asked.tokens.length > 0)
    await ask("/evm/prices", { chain_id: first.chainId, tokens: asked.tokens });
  return answers;
}

function pathsOf({ family, protocol }: PoolRow): string[] {
  if (protocolOf(protocol).generation === "v3") return [`/evm/${family}/v3/pool`];
  return ["pool", "fee-metrics", "pool-volume"].map((name) => `/evm/dexa/v2/${name}`);
}

/** All pools and tokens that a store knows. */
export async function listAsked(store: Store): Promise<{ pools: PoolRow[]; tokens: string[] }> {
  const known = await store.find(tokens, {});
  return { pools: await store.find(pools, {}), tokens: known.map(({ address }) => address).slice(0, 150) };
}

/** Compares what was answered at a head with what is answered of that block now; returns how many had rows. */
export function expectSameAnswers(then: Answers, now: Answers, label: string): number {
  let compared = 0;
  for (const [request, before] of then) {
    const after = now.get(request) as PastAnswer;
    const name = `${label}: ${request}`;
    if (before.rows === undefined) {
      expect(after.code, `${name}: ${JSON.stringify(after.rows)}`).to.equal(before.code);
      continue;
    }
    expect(after.rows, `${name}: ${after.message}`).to.not.equal(undefined);
    const asked = new Set(before.rows.map(({ token }) => token));
    const same = (after.rows ?? []).filter(({ token }) => asked.has(token));
    expectSame(comparable(same), comparable(before.rows), name);
    compared += 1;
  }
  return compared;
}

/** Whether a token is known at all is no number of a block. */
function comparable(rows: readonly Record<string, unknown>[]): Record<string, unknown>[] {
  return rows.map(({ symbol, nullReason, ...numbers }) => numbers);
}

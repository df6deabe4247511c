import { createRpcClient, type RpcOptions } from "../../shared/rpc-client/client.ts";
import type { SourceEvent, SourceLog } from "../../shared/rpc-client/endpoint/endpoint.ts";
import { AnchorVerifier } from "./anchor-verifier.ts";
import { createBlockFetcher } from "./block-fetcher.ts";
import { classifySolanaError, LARGEST_ACCOUNTS, OPTIONAL_METHODS } from "./classify.ts";
import { createHeadTracker } from "./head-tracker.ts";
import { type AccountsAt, MAX_ACCOUNTS_PER_REQUEST, type SolanaSource, SolanaUpstreamError } from "./port.ts";
import {
  createAccountsRequest,
  createFirstAvailableRequest,
  createGenesisRequest,
  createLargestAccountsRequest,
  createLinkRequest,
  createTokenAccountsRequest,
} from "./requests.ts";

export interface SolanaSourceConfig {
  /**
   * http(s):// URLs in order of preference; the first is the primary. ws(s):// URLs among them only wake the ingest for
   * new slots: an endpoint's websocket is not guessed from its http URL.
   */
  readonly urls: readonly string[];
  /** Of the cluster; unset = that of the endpoint which responds first, and the others have to agree. */
  readonly genesisHash?: string;
  readonly log?: SourceLog;
  /** Metrics hook; must not throw. */
  readonly onEvent?: (event: SourceEvent) => void;
  readonly options?: RpcOptions;
}

/**
 * Live JSON-RPC endpoints of a Solana cluster behind the SolanaSource port. Does no I/O before the first request.
 * Throws TypeError for a list without an http URL or with a malformed one (the URL itself is not quoted).
 */
export function createSolanaSource(config: SolanaSourceConfig): SolanaSource {
  const { log = () => {}, onEvent = () => {}, options = {}, genesisHash } = config;
  const verifier = new AnchorVerifier(genesisHash === undefined ? {} : { genesisHash });
  const rpc = createRpcClient({
    name: "solana",
    fields: { chain: "solana" },
    urls: config.urls,
    createError: (message) => new SolanaUpstreamError(message),
    classify: classifySolanaError,
    identityCheck: verifier.identityCheck,
    consistencyCheck: verifier.consistencyCheck,
    optionalMethods: OPTIONAL_METHODS,
    subscribe: { method: "slotSubscribe", params: [] },
    notification: "slotNotification",
    log,
    onEvent(event) {
      // Heads that an endpoint of another cluster reported are void.
      if (event.kind === "aside") for (const head of Object.values(heads)) head.reset();
      onEvent(event);
    },
    options,
  });
  const { pool, voters, clock, lifetime } = rpc;
  const heads = {
    confirmed: createHeadTracker({ pool, clock, log, commitment: "confirmed" }),
    finalized: createHeadTracker({ pool, clock, log, commitment: "finalized" }),
  };
  const readBlocks = createBlockFetcher({
    pool,
    voters,
    clock,
    log,
    lifetime,
    backoffMs: rpc.backoffMs,
    patienceMs: rpc.behindTotalMs,
  });

  return {
    head: (commitment) => heads[commitment].read(),
    blocks: (range) => readBlocks(range, (transaction) => transaction),
    readBlocks,
    async link(slot, commitment) {
      const [link] = await pool.request([createLinkRequest(slot, commitment)], `getBlock of slot ${slot}`);
      return link ?? undefined;
    },
    async genesisHash() {
      const [found] = await pool.request([createGenesisRequest()], "getGenesisHash");
      return found;
    },
    setAnchor: (anchor) => verifier.set(anchor),
    getAnchor: () => verifier.anchor,
    async recheck() {
      await rpc.recheck();
      // An endpoint that was just set aside may have reported its head once more.
      for (const head of Object.values(heads)) head.reset();
      return rpc.contradictions();
    },
    async firstAvailableSlot() {
      const answers = await Promise.allSettled(
        voters.map(({ pool: one }) => one.request([createFirstAvailableRequest()], "getFirstAvailableBlock")),
      );
      const slots = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
      if (slots.length > 0) return Math.min(...slots);
      throw answers.find((answer) => answer.status === "rejected")?.reason;
    },
    async accounts(addresses, commitment) {
      if (addresses.length > MAX_ACCOUNTS_PER_REQUEST)
        throw new RangeError(
          `Cannot request ${addresses.length} accounts at once: ${MAX_ACCOUNTS_PER_REQUEST} at most`,
        );
      const about = `getMultipleAccounts of ${addresses.length} from ${addresses[0] ?? "none"}`;
      const [found] = await pool.request([createAccountsRequest(addresses, commitment)], about);
      return found as AccountsAt;
    },
    async largestTokenAccounts(mint) {
      const [largest] = await pool.request(
        [createLargestAccountsRequest(mint)],
        `${LARGEST_ACCOUNTS} of ${mint}`,
      );
      return largest;
    },
    async tokenAccounts(mint, query) {
      const about = `the token accounts of ${mint}`;
      const [page] = await pool.request(
        [createTokenAccountsRequest(mint, { ...query, isPaged: true })],
        about,
      );
      if (page !== undefined || query.after !== null) return page;
      const [whole] = await pool.request(
        [createTokenAccountsRequest(mint, { ...query, isPaged: false })],
        about,
      );
      return whole;
    },
    async waitForHead(timeoutMs, signal) {
      await rpc.headSubscription.wait(timeoutMs, signal);
    },
    async close() {
      rpc.close();
    },
  };
}

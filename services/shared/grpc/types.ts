/** The data that services exchange over gRPC. The wire formats are in proto/. */

/** Most tokens of one GetPrices; the largest response is then a few tens of KB. */
export const MAX_PRICE_TOKENS = 500;

/** Solana has no number of its own: it is chain 0, as in statuses. */
export const SOLANA_CHAIN_ID = 0;

export interface PricesRequest {
  readonly chainId: number;
  /** EVM addresses in lower case, or Solana mints; at most MAX_PRICE_TOKENS. */
  readonly tokens: readonly string[];
  /** Any indexed block; absent = the latest, which is all that Solana has. */
  readonly block?: number;
}

export interface TokenPrice {
  /** As in the request. */
  readonly token: string;
  /** USD for one whole token; null where no path of sufficient depth leads to an anchor. */
  readonly usd: number | null;
  /** Pools between the anchor and the token; 0 for an anchor and where there is no price. */
  readonly hops: number;
  /** USD behind the deepest pool that agrees; null for anchors and where there is no price. */
  readonly depthUsd: number | null;
  /** What the price rests on; undefined for anchors and where there is no price. */
  readonly origin?: PriceOrigin | undefined;
}

export interface PriceOrigin {
  /** The pool whose price is used, and the token at its other side. */
  readonly pool: string;
  readonly parent: string;
  /** USD behind all other pools that agree, added. */
  readonly restUsd: number;
  /** Unix seconds since which the price has been as it is. */
  readonly changedAt: number;
  /** Whether pools with most of the weight have left the others and are not followed for now. */
  readonly departed: boolean;
}

export interface PricesResponse {
  /** The block of the prices. */
  readonly block: number;
  /** Its Unix seconds; where it is long past and had no event, those of the last block before it that had one. */
  readonly blockTime: number;
  /** One entry a requested token, in the order of the request. */
  readonly prices: readonly TokenPrice[];
}

/**
 * Returns prices. A service implements it on the server side, createPricesClient on the client side.
 * Throws ServiceError: bad_request, not_found (chain or block not indexed) or unavailable.
 */
export interface PriceSource {
  getPrices(request: PricesRequest, options?: CallOptions): Promise<PricesResponse>;
}

export interface CallOptions {
  /** Ends the call early. */
  readonly signal?: AbortSignal;
}

/**
 * starting: not ready; empty: ready, nothing is indexed; serving; stale: ready, with data that lags more than it should;
 * draining: about to stop.
 */
export type ServiceMode = "starting" | "empty" | "serving" | "stale" | "draining";

/**
 * serving: has data; first_read: no data yet, the ingest is reading; no_source: no endpoint is configured for the chain;
 * failing: the ingest fails, or no ingest reports; unknown: an older service. Existing data is served in every state.
 */
export type ChainState = "serving" | "first_read" | "no_source" | "failing" | "unknown";

/** The ingest's progress on a chain. */
export interface ChainReading {
  readonly state: ChainState;
  /** Share of the work up to the head that is done, 0 to 1; null before the first measurement. */
  readonly share: number | null;
  readonly etaSeconds: number | null;
  /** One sentence without credentials. */
  readonly why: string | null;
  /** Unix seconds since when. */
  readonly since: number | null;
  /** While history grows backwards: Unix seconds from which on all is indexed, and at which it is to begin; else null. */
  readonly historyFrom: number | null;
  readonly historySince: number | null;
  readonly historyEtaSeconds: number | null;
}

/** Blocks are slots on Solana, whose chainId is 0. Nulls: nothing indexed yet, head unknown. */
export interface ChainStatus extends ChainReading {
  readonly chainId: number;
  readonly name: string;
  readonly indexedBlock: number | null;
  readonly indexedBlockHash: string | null;
  /** Unix seconds of the indexed block. */
  readonly indexedTime: number | null;
  /** First indexed block. */
  readonly fromBlock: number | null;
  /** As the ingest last saw it. */
  readonly chainHead: number | null;
  readonly lagBlocks: number | null;
  /** Of Solana: the indexed programs' share of the cluster's swaps in the last hour; undefined where not counted. */
  readonly swapShare?: number | undefined;
  /** The last indexed block that the chain has finalized; undefined while the ingest knows none. */
  readonly finalBlock?: number | undefined;
}

export type PeerState = "serving" | "not_serving" | "unreachable" | "unknown";

export interface PeerStatus {
  readonly name: string;
  readonly state: PeerState;
}

export interface ServiceStatus {
  readonly service: string;
  readonly mode: ServiceMode;
  readonly version: string;
  readonly chains: readonly ChainStatus[];
  readonly peers: readonly PeerStatus[];
}

/** Returns the status of a service; must be fast, since health checks use it. */
export interface StatusSource {
  getStatus(options?: CallOptions): Promise<ServiceStatus>;
}

export interface BlockRef {
  readonly block: number;
  readonly hash: string;
}

/** A new head of a chain. */
export interface LiveHead extends BlockRef {
  readonly chainId: number;
  /** Unix seconds. */
  readonly time: number;
  /** Changes where tables of the same block may have. */
  readonly version: string;
  /** The last stored blocks up to it, oldest first. */
  readonly recent: readonly BlockRef[];
}

/** Tells of the current head of each chain, and then of each later one, until the returned function is called. */
export interface LiveHeads {
  watch(listener: (head: LiveHead) => void): () => void;
}

/** A PriceSource or StatusSource behind a connection. */
export interface RpcClient {
  /** Ends the connection; calls in flight fail. */
  close(): void;
}

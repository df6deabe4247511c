import type {
  ChainState,
  ChainStatus,
  PeerState,
  PricesRequest,
  PricesResponse,
  ServiceMode,
  ServiceStatus,
} from "./types.ts";
import type {
  ChainStatusMessage,
  PricesRequestMessage,
  PricesResponseMessage,
  StatusResponseMessage,
} from "./wire.ts";

/** Conversions between wire messages and types: absent fields and nulls, and nothing else. */

export function toPricesRequestMessage(request: PricesRequest): PricesRequestMessage {
  const message: PricesRequestMessage = { chainId: request.chainId, tokens: [...request.tokens] };
  if (request.block !== undefined) message.block = request.block;
  return message;
}

export function fromPricesRequestMessage(message: PricesRequestMessage): PricesRequest {
  // Letter case matters in Solana's addresses, which never begin like this.
  const tokens = message.tokens.map((token) => (/^0x/i.test(token) ? token.toLowerCase() : token));
  const request = { chainId: message.chainId, tokens };
  return message.block === undefined ? request : { ...request, block: message.block };
}

export function toPricesMessage(answer: PricesResponse): PricesResponseMessage {
  return {
    block: answer.block,
    blockTime: answer.blockTime,
    prices: answer.prices.map(({ token, usd, hops, depthUsd, origin }) => ({
      token,
      hops,
      ...(usd !== null && { usd }),
      ...(depthUsd !== null && { depthUsd }),
      ...(origin !== undefined && { origin }),
    })),
  };
}

export function fromPricesMessage(message: PricesResponseMessage): PricesResponse {
  return {
    block: message.block,
    blockTime: message.blockTime,
    prices: message.prices.map(({ token, usd, hops, depthUsd, origin }) => ({
      token,
      usd: usd ?? null,
      hops,
      depthUsd: depthUsd ?? null,
      ...(origin && { origin }),
    })),
  };
}

export function toStatusMessage(status: ServiceStatus): StatusResponseMessage {
  return {
    ...status,
    chains: status.chains.map(toChainMessage),
    peers: status.peers.map((peer) => ({ ...peer })),
  };
}

export function fromStatusMessage(message: StatusResponseMessage): ServiceStatus {
  return {
    service: message.service,
    mode: message.mode as ServiceMode,
    version: message.version,
    chains: message.chains.map(fromChainMessage),
    peers: message.peers.map((peer) => ({ name: peer.name, state: peer.state as PeerState })),
  };
}

const OPTIONAL_NUMBERS = [
  "indexedBlock",
  "indexedTime",
  "fromBlock",
  "chainHead",
  "lagBlocks",
  "share",
  "etaSeconds",
  "since",
  "historyFrom",
  "historySince",
  "historyEtaSeconds",
] as const;

function toChainMessage(chain: ChainStatus): ChainStatusMessage {
  const message: ChainStatusMessage = {
    chainId: chain.chainId,
    name: chain.name,
    indexedBlockHash: chain.indexedBlockHash ?? "",
    state: chain.state,
    why: chain.why ?? "",
  };
  for (const field of OPTIONAL_NUMBERS) {
    const value = chain[field];
    if (value !== null) message[field] = value;
  }
  if (chain.swapShare !== undefined) message.swapShare = chain.swapShare;
  if (chain.finalBlock !== undefined) message.finalBlock = chain.finalBlock;
  return message;
}

function fromChainMessage(message: ChainStatusMessage): ChainStatus {
  return {
    chainId: message.chainId,
    name: message.name,
    indexedBlock: message.indexedBlock ?? null,
    indexedBlockHash: message.indexedBlockHash === "" ? null : message.indexedBlockHash,
    indexedTime: message.indexedTime ?? null,
    fromBlock: message.fromBlock ?? null,
    chainHead: message.chainHead ?? null,
    lagBlocks: message.lagBlocks ?? null,
    state: message.state === "" ? "unknown" : (message.state as ChainState),
    share: message.share ?? null,
    etaSeconds: message.etaSeconds ?? null,
    why: message.why === "" ? null : message.why,
    since: message.since ?? null,
    historyFrom: message.historyFrom ?? null,
    historySince: message.historySince ?? null,
    historyEtaSeconds: message.historyEtaSeconds ?? null,
    ...(message.swapShare !== undefined && { swapShare: message.swapShare }),
    ...(message.finalBlock !== undefined && { finalBlock: message.finalBlock }),
  };
}

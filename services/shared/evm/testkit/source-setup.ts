import type { SourceEvent } from "../../rpc-client/endpoint/endpoint.ts";
import type { RpcCall } from "../../rpc-client/endpoint/transport.ts";
import {
  createFakeClock,
  createFakeNetwork,
  type FakeClock,
  type FakeNetwork,
  type FakeResponse,
} from "../../rpc-client/testkit/fake-network.ts";
import type { EvmSource } from "../port.ts";
import { createEvmSource, type SourceOptions } from "../source/source.ts";
import { answerHonestly, type FakeChain, fakeLog } from "./fake-chain.ts";

export type Handler = (calls: readonly RpcCall[]) => FakeResponse;

interface SourceSetup {
  readonly chain: FakeChain;
  readonly clock: FakeClock;
  readonly network: FakeNetwork;
  readonly events: SourceEvent[];
  readonly lines: string[];
  readonly source: EvmSource;
}

/** Chain 8453 with a hundred blocks and a log in each of the first fifty. */
export function createChain(): FakeChain {
  return { head: 100, chainId: 8453, fork: 0, logs: Array.from({ length: 50 }, (_, i) => fakeLog(i + 1)) };
}

/** A source over fake endpoints, in the order of the hosts. */
export function setUpSource(
  hosts: (chain: FakeChain) => Record<string, Handler>,
  options: SourceOptions = {},
): SourceSetup {
  const chain = createChain();
  const clock = createFakeClock();
  const handlers = hosts(chain);
  const network = createFakeNetwork(clock, handlers);
  const events: SourceEvent[] = [];
  const lines: string[] = [];
  const source = createEvmSource({
    chainId: 8453,
    urls: Object.keys(handlers).map((host) => `https://${host}/key-0123456789`),
    log: (message, fields) => lines.push(`${message} ${JSON.stringify(fields)}`),
    onEvent: (event) => events.push(event),
    options: { clock, fetch: network.fetch, socketClass: undefined, ...options },
  });
  return { chain, clock, network, events, lines, source };
}

export function isCheck(calls: readonly RpcCall[]): boolean {
  return calls[0]?.method === "eth_chainId";
}

/** A node that responds correctly. */
export function honest(chain: FakeChain): Handler {
  return (calls) => ({ results: answerHonestly(chain, calls) });
}

/** Responds correctly to the chain id check, otherwise by `misbehave`. */
export function whenAsked(chain: FakeChain, misbehave: Handler): Handler {
  return (calls) => (isCheck(calls) ? honest(chain)(calls) : misbehave(calls));
}

/** The error a promise ends with. */
export async function failure(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("It did not fail");
}

import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { json } from "node:stream/consumers";
import { catalogue } from "../../gateway/catalogue.ts";
import { startTestGateway } from "../../gateway/testkit/gateway.ts";
import { LiveTable } from "../../gateway/testkit/live-table.ts";

const MARKETS = "/evm/lending/lendingc/markets";

/** A gateway with one live table, which a program of another language moves. */
export interface LiveStage {
  /** The gateway, behind connections that can be cut. */
  readonly url: string;
  /** Takes actions as JSON, see `act`. */
  readonly control: string;
  stop(): Promise<void>;
}

interface Action {
  /** Markets of the next block: id and TVL. */
  readonly mine?: readonly (readonly [id: string, tvlUsd: number])[];
  /** Makes the hash of the mined block another one. */
  readonly fork?: string;
  readonly takeBack?: number;
  /** Breaks all connections off. */
  readonly cut?: boolean;
  /** The service fails until it is false again. */
  readonly outage?: boolean;
}

export async function startLiveStage(): Promise<LiveStage> {
  const gateway = await startTestGateway();
  const markets = new LiveTable(gateway.lending);
  const { answer } = gateway.lending;
  const sockets = new Set<Socket>();
  const tcp = createTcpServer((socket) => {
    const { hostname, port } = new URL(gateway.url);
    const onwards = connect(Number(port), hostname);
    for (const [one, other] of [
      [socket, onwards],
      [onwards, socket],
    ] as const) {
      sockets.add(one);
      one.on("error", () => {});
      one.once("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });

  const act = ({ mine, fork, takeBack, cut, outage }: Action): void => {
    if (cut) for (const socket of [...sockets]) socket.destroy();
    if (outage !== undefined) {
      gateway.lending.answer = outage
        ? (_req, res) => {
            res.writeHead(503, { "Content-Type": "application/json" });
            res.end(JSON.stringify({ error: "unavailable", message: "Not now.", session: "x" }));
          }
        : answer;
    }
    if (takeBack !== undefined) markets.takeBack(takeBack);
    if (mine !== undefined) markets.mine(mine.map(rowOf), fork);
  };
  const http = createServer(async (req, res) => {
    act((await json(req)) as Action);
    const metrics = await gateway.metrics();
    const [, streams = "0"] = /^gateway_live_streams\{.*\} (\d+)$/m.exec(metrics) ?? [];
    res.end(streams);
  });

  const listen = async (server: typeof http | typeof tcp): Promise<string> => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  return {
    url: await listen(tcp),
    control: await listen(http),
    async stop() {
      for (const socket of [...sockets]) socket.destroy();
      tcp.close();
      http.closeAllConnections();
      http.close();
      await gateway.stop();
    },
  };
}

const columns = catalogue.find(({ path }) => path === MARKETS)?.columns ?? [];

function rowOf([id, tvlUsd]: readonly [string, number]) {
  return columns.map(({ name }) => (name === "marketId" ? id : name === "tvlUsd" ? tvlUsd : null));
}

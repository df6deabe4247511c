/**
 * The process of startBareProxy: a reverse proxy of node:http's server and client with kept-alive connections and nothing else,
 * no key, limit, metric or log. What a gateway on node:http costs more than this is its own. Argument: the upstream's
 * port. Prints its own. Ends with its standard input.
 */
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

const port = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true });
const server = createServer((req, res) => {
  const proxied = request({ host: "127.0.0.1", port, path: req.url, agent }, (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    answer.pipe(res);
  });
  proxied.on("error", () => res.destroy());
  proxied.end();
});
// As ours: connections that a pace leaves idle for a while are used again.
server.keepAliveTimeout = 65_000;
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
process.stdin.resume().once("end", () => process.exit(0));

import { createHealthClient, createStatusClient } from "../client.ts";
import { startGrpcServer } from "../server.ts";

/** A program for goaway.test.ts: clients disconnect from a server, and a server from its clients, in one process. */
const start = (port: number) =>
  startGrpcServer({
    host: "127.0.0.1",
    port,
    services: {
      status: {
        getStatus: async () => ({ service: "evm-dex", mode: "serving", version: "", chains: [], peers: [] }),
      },
      health: async () => true,
    },
  });

const first = await start(0);
for (let calls = 0; calls < 4; calls++) {
  const leaving = createHealthClient(first.address);
  for (let call = 0; call < calls; call++) await leaving.check();
  leaving.close();
}
const staying = createStatusClient(first.address);
await staying.getStatus();
await staying.getStatus();
await first.stop({ timeoutMs: 1_000 });
const second = await start(Number(first.address.split(":")[1]));
let answered = false;
while (!answered) {
  answered = await staying.getStatus().then(
    () => true,
    () => false,
  );
}
staying.close();
await second.stop({ timeoutMs: 1_000 });
process.stdout.write("survived\n");
process.exit(0);

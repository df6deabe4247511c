import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { EventReader } from "../../services/shared/testkit/event-reader.ts";
import {
  createGatewayProcesses,
  type GatewayProcess,
  type GatewayProcesses,
} from "../testkit/gateway-process.ts";
import { LiveTable } from "../testkit/live-table.ts";
import { until } from "../testkit/until.ts";

const KEY = "key of five hundred listeners";
const POOL = "/evm/dexb/v3/pool?pool_address=0xd0b53d9277642d899df5c87a3966a349a798f224";
const LISTENERS = 500;
const DEAF = 20;
const ROUNDS = 6;
const BLOCKS_A_ROUND = 50;
/** Of rows as large as a long list: 20 kB a block for each of 500. */
const ROW = "x".repeat(20_000);
/** What a heap may differ by between two rounds. All the events of one round, kept once a listener, are 500 MB. */
const MOST_GROWTH_BYTES = 60_000_000;

/** These, once each, and three blocks taken back by each reorg. */
function expectEvents(reader: EventReader, expected: readonly string[]): void {
  expect(reader.events.map(({ name, data }) => `${name} ${data.block}`)).to.deep.equal(expected);
  for (const { data } of reader.named("reorg")) expect(data.takenBack.length).to.equal(3);
}

describeThorough(`gateway: ${LISTENERS} live streams of one table`, () => {
  let processes: GatewayProcesses;
  let gateway: GatewayProcess;
  let pool: LiveTable;
  const readers: EventReader[] = [];
  before(async () => {
    processes = await createGatewayProcesses();
    const env = { BOOTSTRAP_API_KEY: KEY, LIVE_STREAMS: "600", LIVE_STREAMS_PER_KEY: "600" };
    gateway = await processes.start(env);
    pool = new LiveTable(processes.services[0]);
    pool.rows = [["begin"]];
  });
  after(async () => {
    for (const reader of readers) reader.close();
    await processes?.remove();
  });
  const listen = () => {
    const reader = new EventReader(`${gateway.url}${POOL}`, { "X-API-KEY": KEY });
    readers.push(reader);
    return reader;
  };
  const residentBytes = async () => {
    const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    return Number(/^process_resident_memory_bytes\{?.*\}? (\S+)$/m.exec(text)?.[1]);
  };

  it("get each change once and in order, and a reorg, from one request a head; memory stays, though some do not read", async () => {
    const all = Array.from({ length: LISTENERS }, listen);
    await Promise.all(all.map((reader) => reader.count(1)));
    const deaf = Array.from({ length: DEAF }, listen);
    await Promise.all(deaf.map((reader) => reader.count(1)));
    for (const reader of deaf) reader.pause();
    expect(processes.services[0].headListeners.size).to.equal(1);

    const expected: string[] = ["snapshot 100"];
    const resident: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const asked = pool.asked;
      for (let i = 0; i < BLOCKS_A_ROUND; i += 1) {
        pool.mine([[`${round}.${i}${ROW}`]]);
        expected.push(`change ${pool.head.block}`);
        await Promise.all(all.map((reader) => reader.count(expected.length)));
      }
      expect(pool.asked - asked, "one request a head").to.be.at.most(BLOCKS_A_ROUND * 2);
      pool.takeBack(3);
      pool.mine([[`fork ${round}`]], `f${round}`);
      expected.push(`reorg ${pool.head.block}`);
      await Promise.all(all.map((reader) => reader.count(expected.length)));
      resident.push(await residentBytes());
      // What the test itself keeps must not fill the machine.
      for (const { data } of all.flatMap(({ events }) => events)) delete data.rows;
    }
    for (const reader of all) expectEvents(reader, expected);
    const [, warm = 0] = resident;
    expect(Math.max(...resident.slice(2)) - warm, `resident: ${resident.join(", ")}`).to.be.lessThan(
      MOST_GROWTH_BYTES,
    );
    for (const reader of deaf) reader.resume();
    await until(() => deaf.every((reader) => reader.events.at(-1)?.data.block === pool.head.block));
  });

  it("are ended when the gateway stops, all of them, without a cut", async () => {
    const all = readers.filter((reader) => !reader.isOver);
    gateway.signal("SIGTERM");
    await until(() => all.every((reader) => reader.isOver));
    await gateway.finished;
    for (const reader of all) expect(reader.events.at(-1)?.name).to.equal("end");
  });
});

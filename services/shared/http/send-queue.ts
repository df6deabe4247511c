import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { endianness } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** The two endpoints of a TCP connection; unknown once its socket is closed. */
export type TcpEndpoints = Pick<
  Socket,
  "localAddress" | "localPort" | "remoteAddress" | "remotePort" | "remoteFamily"
>;

/**
 * The kernel's send queue of a connection:
 * - a number  bytes that the peer has not acknowledged
 * - `gone`    the kernel does not list the connection (any more)
 * - `unknown` the system does not show it
 */
export type SendQueue = number | "gone" | "unknown";

/** Reads the send queue of one connection, also after its socket was closed here. */
export interface SendQueueReader {
  /** Never rejects. */
  read(): Promise<SendQueue>;
  /** Whether the table listed a connection of the same listener before: then `gone` means that this one ended. */
  readonly isListed: boolean;
}

/**
 * The kernel returns the table in pieces and skips lines while other connections open and close: on a busy machine twice
 * in a row. A line that this many readings lack does not exist.
 */
const READINGS = 5;
const PAUSE_MS = 20;
/** Of a listener's first connection, which may be gone soon: one right after the other. */
const FIRST_READINGS = 3;

/** Listeners with a connection found in the table, by family and local endpoint. */
const listed = new Set<string>();

/** A reader for one connection, opened while its socket is open; all readers share the tables. Linux only. */
export function openSendQueue(socket: TcpEndpoints, readTable: ReadTable = readSharedTable): SendQueueReader {
  const key = keyOf(socket);
  if (key === undefined || process.platform !== "linux")
    return { read: async () => "unknown", isListed: false };
  const isIpv6 = socket.remoteFamily === "IPv6" || socket.remoteAddress?.includes(":") === true;
  const name = isIpv6 ? "tcp6" : "tcp";
  const listener = `${name} ${key.split(" ", 1)[0]}`;
  const look = async (): Promise<number | "gone"> => {
    const found = findSendQueue(await readTable(name), key);
    if (found !== "gone") listed.add(listener);
    return found;
  };
  const lookUntilFound = async (readings: number, pauseMs: number): Promise<number | "gone"> => {
    let found = await look();
    for (let again = 1; found === "gone" && again < readings; again += 1) {
      await sleep(pauseMs, undefined, { ref: false });
      found = await look();
    }
    return found;
  };
  // The first connection of a listener shows whether the table is its own. It may be gone when its queue is wanted.
  const first = listed.has(listener) ? undefined : lookUntilFound(FIRST_READINGS, 0).catch(() => "gone");
  return {
    get isListed() {
      return listed.has(listener);
    },
    async read() {
      try {
        await first;
        return await lookUntilFound(READINGS, PAUSE_MS);
      } catch {
        return "unknown";
      }
    },
  };
}

type ReadTable = (name: "tcp" | "tcp6") => Promise<string>;

/** Bytes in the send queue by the text of /proc/net/tcp. A pending FIN counts as one byte. */
export function findSendQueue(table: string, key: string): number | "gone" {
  const at = table.indexOf(` ${key} `);
  if (at === -1) return "gone";
  // Behind the addresses: two digits of the state, a blank, eight digits of the send queue.
  const digits = table.slice(at + key.length + 5, at + key.length + 13);
  return Number.parseInt(digits, 16);
}

/** Both endpoints as the table writes them: addresses as words in machine byte order, in upper-case hex. */
export function keyOf(ends: TcpEndpoints): string | undefined {
  const local = endpointText(ends.localAddress, ends.localPort);
  const remote = endpointText(ends.remoteAddress, ends.remotePort);
  return local === undefined || remote === undefined ? undefined : `${local} ${remote}`;
}

function endpointText(address: string | undefined, port: number | undefined): string | undefined {
  const bytes = address === undefined ? undefined : bytesOf(address);
  if (bytes === undefined || port === undefined) return undefined;
  let text = "";
  for (let word = 0; word < bytes.length; word += 4) {
    const four = bytes.slice(word, word + 4);
    if (endianness() === "LE") four.reverse();
    text += four.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }
  return `${text}:${port.toString(16).padStart(4, "0")}`.toUpperCase();
}

function bytesOf(address: string): number[] | undefined {
  if (!address.includes(":")) return address.split(".").map(Number);
  const [plain = ""] = address.split("%");
  const mapped = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(plain);
  const groups = (text: string) =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const tail = mapped ? mapped.slice(2).map(Number) : [];
  const [head = "", rest] = (mapped ? (mapped[1] as string).replace(/(?<!:):$/, "") : plain).split("::");
  const toBytes = (list: number[]) => list.flatMap((group) => [group >> 8, group & 255]);
  const first = toBytes(groups(head));
  const last = [...toBytes(groups(rest ?? "")), ...tail];
  const missing = 16 - first.length - last.length;
  if (missing < 0 || (rest === undefined && missing !== 0)) return undefined;
  return [...first, ...new Array<number>(missing).fill(0), ...last];
}

/** A call during a reading waits for the next one: the table must be newer than the call. */
function shareReads(read: ReadTable): ReadTable {
  const running = new Map<string, Promise<string>>();
  const next = new Map<string, Promise<string>>();
  const begin = (name: "tcp" | "tcp6"): Promise<string> => {
    next.delete(name);
    const reading = read(name).finally(() => running.delete(name));
    running.set(name, reading);
    return reading;
  };
  return (name) => {
    const current = running.get(name);
    if (current === undefined) return begin(name);
    const waiting =
      next.get(name) ??
      current.then(
        () => begin(name),
        () => begin(name),
      );
    next.set(name, waiting);
    return waiting;
  };
}

const readSharedTable = shareReads((name) => readFile(`/proc/net/${name}`, "latin1"));

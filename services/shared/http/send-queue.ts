import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { endianness } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** The two ends of a TCP connection: they are no longer known once its socket is closed. */
export type TcpEndpoints = Pick<
  Socket,
  "localAddress" | "localPort" | "remoteAddress" | "remotePort" | "remoteFamily"
>;

/**
 * What the kernel still holds of what was written to a connection:
 * - a number  bytes that the peer has not acknowledged
 * - `gone`    the kernel has no such connection (any more)
 * - `unknown` the system does not show it
 */
export type SendQueue = number | "gone" | "unknown";

/** Reads the send queue of one connection, also after its socket was closed here. */
export interface SendQueueReader {
  /** Never rejects. */
  read(): Promise<SendQueue>;
  /** Whether the system has shown a connection of the same listener before: then `gone` means that this one has ended. */
  readonly isShown: boolean;
}

/**
 * The kernel gives the table out piece by piece, and passes lines over while other connections come and go: on a busy
 * machine twice in a row. A line that so many readings lack is not there.
 */
const READINGS = 5;
const PAUSE_MS = 20;

/** Listeners of which a connection was found in the table, by family and local end. */
const shown = new Set<string>();

/** A reader for one connection, made while its socket is open; tables are shared by all readers. Linux only. */
export function openSendQueue(socket: TcpEndpoints, readTable: ReadTable = readSharedTable): SendQueueReader {
  const key = keyOf(socket);
  if (key === undefined || process.platform !== "linux")
    return { read: async () => "unknown", isShown: false };
  const isIpv6 = socket.remoteFamily === "IPv6" || socket.remoteAddress?.includes(":") === true;
  const name = isIpv6 ? "tcp6" : "tcp";
  const listener = `${name} ${key.split(" ", 1)[0]}`;
  return {
    get isShown() {
      return shown.has(listener);
    },
    async read() {
      try {
        let found = findSendQueue(await readTable(name), key);
        for (let again = 1; found === "gone" && again < READINGS; again += 1) {
          await sleep(PAUSE_MS, undefined, { ref: false });
          found = findSendQueue(await readTable(name), key);
        }
        if (found !== "gone") shown.add(listener);
        return found;
      } catch {
        return "unknown";
      }
    },
  };
}

type ReadTable = (name: "tcp" | "tcp6") => Promise<string>;

/** Bytes in the send queue by the text of /proc/net/tcp. A connection whose end is being said counts that as one byte. */
export function findSendQueue(table: string, key: string): number | "gone" {
  const at = table.indexOf(` ${key} `);
  if (at === -1) return "gone";
  // Behind the addresses: two digits of the state, a blank, eight digits of the send queue.
  const digits = table.slice(at + key.length + 5, at + key.length + 13);
  return Number.parseInt(digits, 16);
}

/** Both ends as the table writes them: addresses as words in the order of the machine, all in upper-case hex. */
export function keyOf(ends: TcpEndpoints): string | undefined {
  const local = endOf(ends.localAddress, ends.localPort);
  const remote = endOf(ends.remoteAddress, ends.remotePort);
  return local === undefined || remote === undefined ? undefined : `${local} ${remote}`;
}

function endOf(address: string | undefined, port: number | undefined): string | undefined {
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

/** Who asks while a table is being read waits for the next reading: what it shows must be younger than the question. */
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

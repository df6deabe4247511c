import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** The bytes of a connection, both ways. */
export interface Wire {
  readonly socket: Socket;
  /** The event after which it can be used. */
  readonly madeBy: "connect" | "secureConnect";
  /** Told of what is read. `isLent` = the bytes are there for the length of the call, and must be copied to be kept. */
  onBytes: (bytes: Buffer, isLent: boolean) => void;
}

export type OpenWire = () => Wire;

/** All plain connections are read into this: a buffer of its own for each read would be much of a request's garbage. */
const readInto = Buffer.allocUnsafeSlow(65_536);

/** How to connect to an origin. */
export function wiresTo(origin: string): OpenWire {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, "");
  if (protocol === "https:") {
    // Server names are for names: TLS knows none for addresses.
    const address = { host, port: Number(port) || 443, ...(isIP(host) === 0 && { servername: host }) };
    return () => openTls(address);
  }
  const address = { host, port: Number(port) || 80 };
  return () => openPlain(address);
}

type Address = { readonly host: string; readonly port: number };

function openPlain(address: Address): Wire {
  const callback = (length: number): boolean => {
    wire.onBytes(readInto.subarray(0, length), true);
    return true;
  };
  const socket = connect({ ...address, onread: { buffer: readInto, callback } });
  const wire: Wire = { socket, madeBy: "connect", onBytes: () => {} };
  return wire;
}

function openTls(address: Address & { readonly servername?: string }): Wire {
  const socket = connectTls(address);
  const wire: Wire = { socket, madeBy: "secureConnect", onBytes: () => {} };
  socket.on("data", (bytes: Buffer) => wire.onBytes(bytes, false));
  return wire;
}

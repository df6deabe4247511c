import type { IncomingMessage } from "node:http";
import { BlockList, isIP, isIPv4 } from "node:net";

/** Returns the client that limits count a request for: an IPv4 address, or an IPv6 network of 64 bits. */
export type ReadClientAddress = (req: Pick<IncomingMessage, "headers" | "socket">) => string;

/** Requests that this gateway asks itself for a client, with that client's address as this module has read it. */
const askedFor = new WeakMap<object, string>();

/** Makes limits count a request of this gateway to itself for the client that it is asked for. */
export function countForClient(req: object, address: string): void {
  askedFor.set(req, address);
}

/** Hops of X-Forwarded-For that are read, from its end: a client can make it as long as headers may be. */
const MAX_HOPS = 32;

/**
 * Reads the client's address. X-Forwarded-For is trusted only from the given proxies: from the right, the first address
 * that is not one of them is the client.
 * `trusted`: addresses and networks such as 10.0.0.0/8 or fd00::/8.
 */
export function createClientAddressReader(trusted: readonly string[]): ReadClientAddress {
  const proxies = toBlockList(trusted);
  const isProxy = (address: string) => proxies.check(address, isIPv4(address) ? "ipv4" : "ipv6");

  return (req) => {
    const { headers, socket } = req;
    const asked = askedFor.get(req);
    if (asked !== undefined) return asked;
    let client = parseAddress(socket.remoteAddress ?? "") ?? "unknown";
    const forwarded = headers["x-forwarded-for"];
    if (trusted.length === 0 || forwarded === undefined || client === "unknown" || !isProxy(client))
      return toNetwork(client);
    const hops = String(forwarded).split(",").slice(-MAX_HOPS);
    for (const hop of hops.reverse()) {
      const address = parseAddress(hop.trim());
      // Nothing left of an invalid address can be trusted: the last valid one counts as the client.
      if (address === undefined) break;
      client = address;
      if (!isProxy(address)) break;
    }
    return toNetwork(client);
  };
}

function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const version = isIPv4(address) ? "ipv4" : "ipv6";
    list.addSubnet(address, Number(bits ?? (version === "ipv4" ? 32 : 128)), version);
  }
  return list;
}

/** The address without port, brackets and zone; an IPv4-mapped IPv6 address as IPv4. */
function parseAddress(text: string): string | undefined {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1];
  const bare = bracketed ?? (/^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(":")) : text);
  const address = bare.split("%", 1)[0] ?? "";
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  return isIP(address) === 0 ? undefined : address;
}

/** A home or a server gets an IPv6 network of 64 bits or more, so a single address identifies nothing. */
function toNetwork(address: string): string {
  if (!address.includes(":")) return address;
  return `${groupsOf(address).slice(0, 4).join(":")}::/64`;
}

/** The eight groups of an IPv6 address in lower case without leading zeros. */
function groupsOf(address: string): string[] {
  const [head = "", tail] = address.toLowerCase().split("::", 2);
  const left = head === "" ? [] : expand(head);
  const right = tail === undefined || tail === "" ? [] : expand(tail);
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array.from({ length: Math.max(0, zeros) }, () => "0"), ...right];
}

function expand(text: string): string[] {
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return [group.replace(/^0+(?=.)/, "")];
    const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
    return [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)];
  });
}

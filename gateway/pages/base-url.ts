import type { Request } from "express";

/** Names of the local machine: a client that uses one runs here, or has forwarded the port there. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/**
 * The base address to show in a document: the configured one, else the one the request came in at. The header Host is
 * whatever a client writes there, and through a cache one client's document is another's: it is used only where it is a
 * name of this machine itself, or matches the connection. Empty where the address is unknown.
 */
export function baseUrlOf(req: Pick<Request, "headers" | "socket">, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl;
  const { host } = req.headers;
  const isKnown = host !== undefined && (LOOPBACK.test(host) || namesOf(req.socket).includes(host));
  return isKnown ? `http://${host}` : "";
}

/** How clients may write the address that a connection has reached. */
function namesOf({ localAddress = "", localPort }: Request["socket"]): string[] {
  // An IPv4 client of a listener for both kinds of address.
  const plain = localAddress.replace(/^::ffff:(?=\d+\.)/, "");
  const name = plain.includes(":") ? `[${plain}]` : plain;
  return localPort === 80 ? [name, `${name}:80`] : [`${name}:${localPort}`];
}

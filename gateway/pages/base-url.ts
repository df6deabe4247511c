import type { Request } from "express";

/** Names, IPv4 and bracketed IPv6 with an optional port: nothing that could leave its place in a document. */
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** The base address to show in a document: the configured one, else the Host the client asked, else relative. */
export function baseUrlOf(req: Request, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl;
  const { host } = req.headers;
  return host !== undefined && HOST.test(host) ? `http://${host}` : "";
}

import { expect } from "chai";
import { describe, it } from "mocha";
import { baseUrlOf } from "./base-url.ts";

function shown(host: string | undefined, at: { address?: string; port?: number; publicUrl?: string } = {}) {
  const socket = { localAddress: at.address ?? "10.1.2.3", localPort: at.port ?? 8080 };
  return baseUrlOf({ headers: { host }, socket } as never, at.publicUrl);
}

describe("base address of documents", () => {
  it("is the configured one, whatever a client writes", () =>
    expect(shown("evil.example", { publicUrl: "https://data.example" })).to.equal("https://data.example"));

  it("is what a client at this machine calls it", () => {
    for (const host of ["localhost:8080", "LOCALHOST", "127.0.0.1:80", "127.8.9.1:8080", "[::1]:8080"])
      expect(shown(host), host).to.equal(`http://${host}`);
  });

  it("is the address that the connection has reached", () => {
    expect(shown("10.1.2.3:8080")).to.equal("http://10.1.2.3:8080");
    expect(shown("10.1.2.3", { port: 80 })).to.equal("http://10.1.2.3");
    expect(shown("10.1.2.3:8080", { address: "::ffff:10.1.2.3" })).to.equal("http://10.1.2.3:8080");
    expect(shown("[fd00::1]:8080", { address: "fd00::1" })).to.equal("http://[fd00::1]:8080");
  });

  it("is not known by any other Host", () => {
    const spoofed = ["evil.example", "10.1.2.3", "10.1.2.3:81", "10.1.2.4:8080", "data.example:8080"];
    const broken = [
      "localhost.evil.example",
      "localhost:8080@evil.example",
      "127.0.0.1.evil.example",
      'x"y',
      "",
    ];
    for (const host of [...spoofed, ...broken, undefined]) expect(shown(host), host).to.equal("");
  });
});

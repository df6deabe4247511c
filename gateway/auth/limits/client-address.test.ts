import { expect } from "chai";
import { describe, it } from "mocha";
import { createClientAddressReader } from "./client-address.ts";

function from(remoteAddress: string | undefined, forwarded?: string) {
  return {
    socket: { remoteAddress } as never,
    headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
  };
}

describe("client address", () => {
  it("is the connection's where no proxy is trusted, whatever the client claims", () => {
    const addressOf = createClientAddressReader([]);
    expect(addressOf(from("203.0.113.7", "198.51.100.1"))).to.equal("203.0.113.7");
    expect(addressOf(from("::ffff:203.0.113.7"))).to.equal("203.0.113.7");
    expect(addressOf(from(undefined, "198.51.100.1"))).to.equal("unknown");
  });

  it("is the last one that no trusted proxy has", () => {
    const addressOf = createClientAddressReader(["10.0.0.0/8", "192.0.2.5", "fd00::/8"]);
    const cases: [string, string | undefined, string][] = [
      ["10.1.2.3", undefined, "10.1.2.3"],
      ["10.1.2.3", "198.51.100.1", "198.51.100.1"],
      ["::ffff:10.1.2.3", "198.51.100.1", "198.51.100.1"],
      ["10.1.2.3", "6.6.6.6, 198.51.100.1, 192.0.2.5,10.9.9.9", "198.51.100.1"],
      ["10.1.2.3", "198.51.100.1:4711", "198.51.100.1"],
      ["fd00::1", "[2001:db8:1:2:3::4]:443", "2001:db8:1:2::/64"],
      ["10.1.2.3", "10.7.7.7, 10.8.8.8", "10.7.7.7"],
      // Not a proxy: what it claims is not read.
      ["192.0.2.6", "198.51.100.1", "192.0.2.6"],
      ["11.0.0.1", "198.51.100.1", "11.0.0.1"],
      // What is no address ends the chain.
      ["10.1.2.3", "198.51.100.1, bogus, 10.4.4.4", "10.4.4.4"],
      ["10.1.2.3", "unknown", "10.1.2.3"],
      ["10.1.2.3", "", "10.1.2.3"],
      ["10.1.2.3", "256.1.1.1", "10.1.2.3"],
    ];
    for (const [remote, forwarded, expected] of cases)
      expect(addressOf(from(remote, forwarded)), `${remote} ${forwarded}`).to.equal(expected);
  });

  it("reads no more of a long header than some hops from its end", () => {
    const addressOf = createClientAddressReader(["10.0.0.0/8"]);
    const long = `198.51.100.1, ${Array.from({ length: 40 }, () => "10.4.4.4").join(", ")}`;
    expect(addressOf(from("10.1.1.1", long))).to.equal("10.4.4.4");
  });

  it("is the network of 64 bits in IPv6, however the address is written", () => {
    const addressOf = createClientAddressReader([]);
    const same = [
      "2001:db8:0:1::1",
      "2001:0DB8:0000:0001:ffff:0:0:1",
      "2001:db8::1:0:0:0:1",
      "2001:db8:0:1::1%eth0",
    ];
    for (const address of same) expect(addressOf(from(address)), address).to.equal("2001:db8:0:1::/64");
    expect(addressOf(from("2001:db8:0:2::1"))).to.equal("2001:db8:0:2::/64");
    expect(addressOf(from("::1"))).to.equal("0:0:0:0::/64");
    expect(addressOf(from("64:ff9b::192.0.2.33"))).to.equal("64:ff9b:0:0::/64");
    expect(addressOf(from("::"))).to.equal("0:0:0:0::/64");
  });
});

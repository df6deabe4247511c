import { expect } from "chai";
import { describe, it } from "mocha";
import { createLog } from "../logging/log.ts";
import { redactSecrets, registerSecret } from "./secrets.ts";

/** What becomes of a text once the setting has been read. */
function hidden(setting: string, text: string): string {
  registerSecret(setting);
  return redactSecrets(text);
}

describe("settings/secrets", () => {
  it("hides a plain secret wherever it occurs, and leaves the words around it", () => {
    expect(hidden("the first-key", "key the first-key, again the first-key.")).to.equal(
      "key [secret], again [secret].",
    );
  });

  it("hides a password as it was sent, decoded, and as HTTP sends it; hosts and names stay", () => {
    registerSecret("redis://chain:p%40ss-of-redis@cache.example:6379/3");
    const basic = Buffer.from("chain:p@ss-of-redis").toString("base64");
    for (const secret of ["p%40ss-of-redis", "p@ss-of-redis", basic])
      expect(redactSecrets(`AUTH ${secret} at cache.example`)).to.equal("AUTH [secret] at cache.example");
    expect(redactSecrets("chain is up")).to.equal("chain is up");
  });

  it("hides passwords that are not escaped", () => {
    const address = "mongodb://writer:sl/ash@at'quote@db.example,db2.example/tables?replicaSet=setofthree";
    expect(hidden(address, "Unescaped sl/ash@at'quote in it")).to.equal("Unescaped [secret] in it");
    expect(redactSecrets("db2.example of setofthree and tables")).to.equal(
      "db2.example of setofthree and tables",
    );
  });

  it("hides keys in the paths, queries and user parts of a list of endpoints, and no names", () => {
    registerSecret(
      "https://rpc.example/mainnet/KEY-IN-PATH, wss://KEY-AS-USER@ws.example?apikey=KEY-IN-QUERY",
    );
    for (const key of ["KEY-IN-PATH", "KEY-AS-USER", "KEY-IN-QUERY"])
      expect(redactSecrets(`POST ${key} at ws.example`)).to.equal("POST [secret] at ws.example");
    expect(redactSecrets("mainnet at rpc.example")).to.equal("mainnet at rpc.example");
  });

  it("hides what options of a database carry", () => {
    const address = "mongodb://db.example/?authMechanismProperties=AWS_SESSION_TOKEN:session-of-aws";
    expect(hidden(address, "AWS_SESSION_TOKEN:session-of-aws")).to.equal("[secret]");
  });

  it("hides a private key without its prefix, in lower case and as a number", () => {
    const digits = "AbCdEf".repeat(10).padEnd(64, "0");
    registerSecret(`0x${digits}`);
    for (const text of [`0x${digits}`, digits, digits.toLowerCase(), String(BigInt(`0x${digits}`))])
      expect(redactSecrets(`signed by ${text}`)).to.match(/^signed by (0x)?\[secret\]$/);
  });

  it("leaves words alone that a short secret would blank", () => {
    expect(hidden("ok", "all ok")).to.equal("all ok");
    expect(hidden("redis://:pw@cache.example", "pw at cache.example")).to.equal("pw at cache.example");
  });

  it("holds for every line of a log, in any field, escaped as JSON is", () => {
    const lines: string[] = [];
    const log = createLog({
      name: "test",
      level: "info",
      destination: { write: (line) => void lines.push(line) },
    });
    registerSecret('quoted "secret" text');
    log.warn(
      { err: new Error('cannot use quoted "secret" text'), deep: { any: ['quoted "secret" text'] } },
      "failed",
    );
    const { err, deep } = JSON.parse(lines[0] ?? "");
    expect(err.message).to.equal("cannot use [secret]");
    expect(err.stack).to.contain("cannot use [secret]");
    expect(deep.any).to.deep.equal(["[secret]"]);
  });
});

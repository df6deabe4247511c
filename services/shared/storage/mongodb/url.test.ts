import { expect } from "chai";
import { describe, it } from "mocha";
import { ConfigError } from "../../settings/env.ts";
import { checkMongoUrl } from "./url.ts";

const HOSTS = "mongodb://reader:p%40ss@one:27017,two:27017/admin";

describe("the options of MONGODB_URL", () => {
  const refused: Record<string, string> = {
    "w=1": 'the option w must be majority, not "1"',
    "w=0": 'the option w must be majority, not "0"',
    "W=2": 'the option W must be majority, not "2"',
    "journal=false": 'the option journal must be true, not "false"',
    "j=false": 'the option j must be true, not "false"',
    "readPreference=secondary": 'the option readPreference must be primary, not "secondary"',
    "readPreference=primaryPreferred": 'the option readPreference must be primary, not "primaryPreferred"',
    "readpreference=nearest": 'the option readpreference must be primary, not "nearest"',
    "readPreferenceTags=dc:east": 'the option readPreferenceTags must be absent, not "dc:east"',
    "maxStalenessSeconds=120": 'the option maxStalenessSeconds must be absent, not "120"',
    "readConcernLevel=available": 'the option readConcernLevel must be absent, not "available"',
    "safe=false": 'the option safe must be absent, not "false"',
  };
  for (const [option, problem] of Object.entries(refused)) {
    it(`refuse ${option}`, () => {
      for (const scheme of [HOSTS, "mongodb+srv://cluster.example/"]) {
        const check = () => checkMongoUrl(`${scheme}?retryWrites=true&${option}&appName=x`);
        expect(check).to.throw(ConfigError, problem);
        expect(check, "no credentials in the error").not.to.throw("p%40ss");
      }
    });
  }

  it("name every one of them at once", () => {
    expect(() => checkMongoUrl(`${HOSTS}?w=1&readPreference=secondary`)).to.throw(
      ConfigError,
      /option w .*\n.*option readPreference /,
    );
  });

  it("accept what says the same as the code, and options of the connection", () => {
    for (const url of [
      "mongodb://one",
      HOSTS,
      `${HOSTS}?w=majority&journal=true&readPreference=primary`,
      `${HOSTS}?replicaSet=rs0&tls=true&maxPoolSize=5&authSource=admin&directConnection=true`,
    ])
      checkMongoUrl(url);
  });
});

import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { BOOTSTRAP_KEY } from "../../gateway/testkit/gateway.ts";
import { describeWithProcesses, NOT_IN_DEBIAN } from "../../services/shared/testkit/describe.ts";
import { startLiveStage } from "../testkit/live-stage.ts";
import { hasPython, runUnittest } from "../testkit/python.ts";
import { SAMPLES, type Served, startServed } from "../testkit/served.ts";

if (!hasPython()) {
  describe("the Python client", () => {
    it("pending: there is no Python: set PYTHON, or install python3", function () {
      this.skip();
    });
  });
} else describeWithProcesses("the Python client", defineSuite);

function defineSuite(): void {
  let served: Served;
  before(async () => {
    served = await startServed();
  });
  after(() => served?.stop());

  const unittest = (...args: string[]) =>
    runUnittest({ url: served.url, key: BOOTSTRAP_KEY, samples: SAMPLES }, ...args);

  it("asks every endpoint, walks, waits, keeps and pays as its own tests say", async () => {
    expect(await unittest("discover", "-t", ".", "-s", "tests")).to.match(/Ran (2\d|[3-9]\d) tests/);
  });

  it("follows live tables: changes, reorgs, broken connections and outages", async () => {
    const stage = await startLiveStage();
    try {
      const asked = { url: stage.url, key: BOOTSTRAP_KEY, samples: SAMPLES, control: stage.control };
      expect(await runUnittest(asked, "tests.live_served")).to.match(/Ran 5 tests/);
    } finally {
      await stage.stop();
    }
  });

  if (hasPython("pandas")) {
    it("makes data frames of pandas with the same cells", async () => {
      expect(await unittest("tests.frames_pandas")).to.match(/Ran 2 tests/);
    });
  } else {
    it("makes data frames of pandas; pending: install Debian's python3-pandas", function () {
      this.skip();
    });
  }

  if (hasPython("polars")) {
    it("makes data frames of polars with the same cells", async () => {
      expect(await unittest("tests.frames_polars")).to.match(/Ran 2 tests/);
    });
  } else {
    it(`makes data frames of polars with the same cells; ${NOT_IN_DEBIAN}`, function () {
      this.skip();
    });
  }
}

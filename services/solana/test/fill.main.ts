import { fillFolder } from "./fill.ts";

/** Fills the store in DATA_DIR, or at MONGODB_URL, with sample blocks up to the clock, for tests that see services as processes alone. */
const { DATA_DIR = "", MONGODB_URL: mongodbUrl } = process.env;
const { checkpoint } = await fillFolder({
  ...{ dataDir: DATA_DIR, mongodbUrl },
  // Ahead of the clock, so that the store is not stale before a test is done.
  endTime: Math.floor(Date.now() / 1000) + 300,
  blocks: 400,
});
console.log(JSON.stringify({ msg: "filled", slot: checkpoint.slot }));

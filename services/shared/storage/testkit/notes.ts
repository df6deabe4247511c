import { collection } from "../collection.ts";

/** A small collection for tests of stores. */
export const notes = collection({
  name: "notes",
  fields: { id: "int", text: "text" },
  key: ["id"],
  indexes: [],
  shardKey: ["id"],
});

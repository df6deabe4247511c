// Run by mongosh in the service mongodb-init. Each step is done only where it is missing, so that it can run at every start.
const read = (name) => require("node:fs").readFileSync(`/run/secrets/${name}`, "utf8").trim();
const url = `mongodb://root:${read("mongodb_root_password")}@mongodb:27017/?authSource=admin&directConnection=true`;
const admin = connect(url).getSiblingDB("admin");

try {
  admin.adminCommand({ replSetGetStatus: 1 });
} catch (error) {
  if (error.codeName !== "NotYetInitialized") throw error;
  admin.adminCommand({ replSetInitiate: { _id: "rs0", members: [{ _id: 0, host: "mongodb:27017" }] } });
}
while (!admin.hello().isWritablePrimary) sleep(200);

const roles = ["evm_dex", "lending", "solana", "gateway"].map((name) => ({
  role: "readWrite",
  db: `chaintables_${name}`,
}));
// dbStats shows what is left on the disk.
const user = { pwd: read("mongodb_password"), roles: [...roles, { role: "clusterMonitor", db: "admin" }] };
if (admin.getUser("chaintables") === null) admin.createUser({ user: "chaintables", ...user });
else admin.updateUser("chaintables", user);
print("The replica set and the user are there.");

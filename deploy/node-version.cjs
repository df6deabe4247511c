/**
 * Loaded before everything else by the npm scripts: an older Node fails at some import without naming the reason.
 * CommonJS without anything new, so that every Node that is still around can read it.
 */
const NEEDED = [20, 19];
const version = process.versions.node;
const [major, minor] = version.split(".").map(Number);
if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
  process.stderr.write(
    `chaintables needs Node ${NEEDED.join(".")} or newer, and this is Node ${version}: get one from https://nodejs.org\n`,
  );
  process.exit(78);
}

/**
 * What package-lock.json must hold so that `npm ci` works from any registry, on any platform:
 * no host names, and an entry for every platform package that a dependency offers as optional.
 *
 * npm leaves out the platform packages that the registry at hand does not carry, and `npm ci` then refuses the file.
 * Such a package is only ever fetched on its own platform, so a version without a checksum is enough for the others.
 */

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface PlatformPackage {
  readonly path: string;
  readonly name: string;
  readonly version: string;
  readonly dev: boolean;
}

const PLATFORMS = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "sunos", "win32"];
const CPUS: Readonly<Record<string, string>> = {
  amd64: "x64",
  arm: "arm",
  arm64: "arm64",
  ia32: "ia32",
  x64: "x64",
};

/** Faults of a lock file, each a sentence; none when it is good. */
export function findLockfileFaults(lock: Lockfile): string[] {
  const faults: string[] = [];
  for (const [path, { resolved, integrity, version, link, optional = false }] of Object.entries(
    lock.packages,
  )) {
    if (resolved !== undefined) faults.push(`${path} names where it came from: ${resolved}`);
    if (path === "" || link === true) continue;
    if (version === undefined) faults.push(`${path} has no version`);
    if (integrity === undefined && !(optional && platformOf(path) !== undefined))
      faults.push(`${path} has no checksum`);
  }
  for (const { path, version } of listMissingPlatforms(lock)) faults.push(`${path} ${version} has no entry`);
  return faults;
}

/** The same lock file with the missing platform packages entered and host names left out. */
export function completeLockfile(lock: Lockfile): Lockfile {
  const packages: Record<string, object> = {};
  for (const [path, { resolved: _, ...entry }] of Object.entries(lock.packages)) packages[path] = entry;
  for (const { path, name, version, dev } of listMissingPlatforms(lock)) {
    const platform = platformOf(name);
    if (platform === undefined) throw new Error(`Cannot enter ${name}: its name has no platform.`);
    packages[path] = {
      version,
      cpu: [platform.cpu],
      ...(dev && { dev }),
      ...platform.libc,
      optional: true,
      os: [platform.os],
    };
  }
  const sorted = Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...lock, packages: Object.fromEntries(sorted) as Lockfile["packages"] };
}

function listMissingPlatforms({ packages }: Lockfile): PlatformPackage[] {
  return Object.entries(packages).flatMap(([parent, { optionalDependencies = {}, dev = false }]) =>
    Object.entries(optionalDependencies)
      .filter(
        ([name]) => !(`node_modules/${name}` in packages || `${parent}/node_modules/${name}` in packages),
      )
      .map(([name, version]) => ({ path: `node_modules/${name}`, name, version, dev })),
  );
}

function platformOf(name: string): { os: string; cpu: string; libc?: { libc: string[] } } | undefined {
  const words = name.split(/[-/]/);
  const os = words.find((word) => PLATFORMS.includes(word));
  const cpu = words.map((word) => CPUS[word]).find((word) => word !== undefined);
  if (os === undefined || cpu === undefined) return undefined;
  return { os, cpu, ...(words.includes("musl") && { libc: { libc: ["musl"] } }) };
}

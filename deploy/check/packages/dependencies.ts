/**
 * What can be checked of a dependency offline: that it is the version we chose, byte for byte, that it
 * runs nothing when it is installed, and that production may use it. Known faults come from the registry
 * (advisories.ts).
 */
interface Package {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface LockedPackages {
  readonly packages: Readonly<Record<string, Package>>;
}

export interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  /** npm's own setting: packages whose install scripts were reviewed, and whether they run. */
  readonly allowScripts?: Readonly<Record<string, boolean>>;
}

/** Permissive ones, which require no more than their own text. */
const LICENCES: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
]);
const EXACT = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;
/** A range, or `npm:` for one under another name; anything else comes from beside the registry. */
const FROM_REGISTRY = /^(npm:[^:]+|[^:/]*)$/;

/** Faults of the dependencies, each a sentence; none when they are good. */
export function findDependencyFaults(manifest: Manifest, { packages }: LockedPackages): string[] {
  return [
    ...findLooseVersions(manifest, packages),
    ...Object.entries(packages).flatMap(([path, entry]) => findPackageFaults(path, { entry, manifest })),
    ...findIdleAllowances(manifest, packages),
  ];
}

function findLooseVersions(manifest: Manifest, packages: LockedPackages["packages"]): string[] {
  const faults: string[] = [];
  for (const kind of ["dependencies", "devDependencies"] as const) {
    const wanted = manifest[kind] ?? {};
    for (const [name, version] of Object.entries(wanted)) {
      const locked = packages[`node_modules/${name}`]?.version;
      if (!EXACT.test(version)) faults.push(`${name} is wanted as ${version}, which is not one version`);
      else if (locked !== version) faults.push(`${name} is locked at ${locked}, and ${version} is wanted`);
    }
    const locked = packages[""]?.[kind] ?? {};
    for (const name of Object.keys(locked))
      if (!Object.hasOwn(wanted, name)) faults.push(`${name} is locked, and package.json does not list it`);
  }
  return faults;
}

function findPackageFaults(path: string, context: { entry: Package; manifest: Manifest }): string[] {
  const { entry, manifest } = context;
  const faults: string[] = [];
  for (const kind of ["dependencies", "optionalDependencies"] as const) {
    for (const [name, range] of Object.entries(entry[kind] ?? {}))
      if (!FROM_REGISTRY.test(range)) faults.push(`${path} takes ${name} from beside the registry: ${range}`);
  }
  if (path === "" || entry.link === true) return faults;
  if (entry.integrity !== undefined && !entry.integrity.startsWith("sha512-"))
    faults.push(`${path} has a weak checksum: ${entry.integrity}`);
  if (entry.hasInstallScript === true && manifest.allowScripts?.[nameOf(path)] === undefined)
    faults.push(`${path} has an install script that is not reviewed (allowScripts)`);
  if (entry.dev !== true && !LICENCES.has(entry.license ?? ""))
    faults.push(`${path} goes to production under ${entry.license ?? "no licence"}`);
  return faults;
}

/** Allowances for nothing, and those by which an install would run code of others. */
function findIdleAllowances({ allowScripts = {} }: Manifest, packages: LockedPackages["packages"]): string[] {
  const scripted = new Set(
    Object.entries(packages).flatMap(([path, entry]) =>
      entry.hasInstallScript === true ? [nameOf(path)] : [],
    ),
  );
  return Object.entries(allowScripts).flatMap(([name, isRun]) => {
    if (isRun) return [`${name} runs its install script (allowScripts)`];
    return scripted.has(name) ? [] : [`${name} has no install script, and allowScripts names it`];
  });
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

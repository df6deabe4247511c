import { join } from "node:path";
import ts from "typescript";
import { ROOT } from "../command.ts";
import type { KubernetesObject } from "./kustomize.ts";
import { findOperatorFaults, isOperatorKind } from "./operator-schema.ts";

interface Model {
  validate(): void;
}

/**
 * Every way in which objects differ from the published Kubernetes API: values of a wrong type, range or format, missing
 * fields, unknown kinds and unknown fields.
 */
export async function findSchemaFaults(objects: readonly KubernetesObject[]): Promise<string[]> {
  const known: KubernetesObject[] = [];
  const faults: string[] = [];
  for (const object of objects) {
    if (isOperatorKind(object)) {
      faults.push(...findOperatorFaults(object).map((fault) => `${nameOf(object)}: ${fault}`));
      continue;
    }
    const Kind = await findModel(object);
    if (Kind === undefined) {
      faults.push(`${nameOf(object)}: there is no kind ${object.kind} in ${object.apiVersion}`);
      continue;
    }
    known.push(object);
    try {
      new Kind(object).validate();
    } catch (error) {
      faults.push(`${nameOf(object)}: ${(error as Error).message}`);
    }
  }
  return [...faults, ...findUnknownFields(known)];
}

/** How messages call an object. */
export function nameOf({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata.name}`;
}

/** The validator generated from the OpenAPI description of the kind; undefined when Kubernetes has no such kind. */
async function findModel({
  apiVersion,
  kind,
}: KubernetesObject): Promise<(new (data: object) => Model) | undefined> {
  try {
    const module = (await import(`kubernetes-models/${apiVersion}`)) as Record<
      string,
      new (
        data: object,
      ) => Model
    >;
    return module[kind];
  } catch {
    return undefined;
  }
}

/**
 * Fields that the API does not have. The published schemas leave objects open, so a misspelt field would pass them;
 * TypeScript refuses fields of a literal that its type lacks, and the API's types are published too.
 */
function findUnknownFields(objects: readonly KubernetesObject[]): string[] {
  if (objects.length === 0) return [];
  const fileName = join(ROOT, "deploy/check/manifests/rendered-objects.ts");
  const text = objects
    .map(
      (object, at) =>
        `import type { I${object.kind} as Kind${at} } from ${JSON.stringify(`kubernetes-models/${object.apiVersion}`)};\n` +
        `export const object${at}: Kind${at} = ${JSON.stringify(object, null, 1)};\n`,
    )
    .join("");
  const program = compile(fileName, text);
  const source = program.getSourceFile(fileName);
  if (source === undefined) throw new Error("Cannot check fields: TypeScript did not read the objects.");
  return program.getSemanticDiagnostics(source).map((diagnostic) => {
    const { line } = source.getLineAndCharacterOfPosition(diagnostic.start ?? 0);
    const before = text.split("\n").slice(0, line + 1);
    const at = before.filter((row) => row.startsWith("export const object")).length - 1;
    const message = ts.flattenDiagnosticMessageText(diagnostic.messageText, " ");
    return `${objects[at] === undefined ? "" : `${nameOf(objects[at])}: `}${before.at(-1)?.trim()}: ${message}`;
  });
}

function compile(fileName: string, text: string): ts.Program {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === fileName || fileExists.call(host, name);
  host.getSourceFile = (name, ...rest) =>
    name === fileName
      ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2023, true)
      : getSourceFile.call(host, name, ...rest);
  return ts.createProgram([fileName], options, host);
}

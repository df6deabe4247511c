import ts from "typescript";
import type { SourceFile } from "./source-files.ts";

/** Names that say nothing where they are used: `of.order` could be the order of anything. */
const EMPTY_NAMES: ReadonlySet<string> = new Set(["of"]);

/** Parameters, variables and members of a type or object that have an empty name, as `path:line: name`. */
export function findEmptyNames(files: readonly SourceFile[]): string[] {
  return files.filter(({ text }) => /\bof\b\s*[?:,)}=]/.test(text)).flatMap(findInFile);
}

function findInFile({ path, text }: SourceFile): string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (declaresName(node) && ts.isIdentifier(node.name) && EMPTY_NAMES.has(node.name.text)) {
      const { line } = source.getLineAndCharacterOfPosition(node.name.getStart(source));
      found.push(`${path}:${line + 1}: ${node.name.text}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

type Declaration =
  | ts.ParameterDeclaration
  | ts.VariableDeclaration
  | ts.BindingElement
  | ts.PropertySignature
  | ts.PropertyDeclaration
  | ts.PropertyAssignment
  | ts.ShorthandPropertyAssignment;

function declaresName(node: ts.Node): node is Declaration {
  return (
    ts.isParameter(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isBindingElement(node) ||
    ts.isPropertySignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isPropertyAssignment(node) ||
    ts.isShorthandPropertyAssignment(node)
  );
}

// The hints of the source, counted without running it.
//
// A hint is what stands behind `hint:` or `mend:` in an object, what a function takes under such a name, and what a
// function gives whose name says so. Its text is a pattern: what is filled in may be anything.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** The TypeScript and Markdown files of a folder. */
export function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(ts|md)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

const filled = '[^\\n]*?';

/** The texts that an expression may be, as patterns; what is made elsewhere has no text here. */
export function patternsOf(node: ts.Node): readonly string[] {
  if (ts.isStringLiteralLike(node)) return [escaped(node.text)];
  if (ts.isParenthesizedExpression(node)) return patternsOf(node.expression);
  if (ts.isArrowFunction(node)) return patternsOf(node.body);
  if (ts.isConditionalExpression(node)) return [...patternsOf(node.whenTrue), ...patternsOf(node.whenFalse)];
  if (!ts.isTemplateExpression(node)) return [];
  const texts = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
  return [texts.map((text) => escaped(text)).join(filled)];
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

export function parsed(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
}

const isHint = (name: string) => /^(hint|mend)$/.test(name);

/** The hints of some files, each a pattern with the file that it stands in. */
export function hintTexts(files: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const file of files) {
    const source = parsed(file);
    const taking = new Map([...shared, ...functionsIn(source)]);
    const add = (node: ts.Node | undefined) => {
      for (const text of node === undefined ? [] : patternsOf(node)) {
        if (/\w/.test(text.replaceAll(filled, ''))) found.set(text, file);
      }
    };
    visit(source, (node) => {
      if (ts.isPropertyAssignment(node) && isHint(node.name.getText())) add(node.initializer);
      if (ts.isCallExpression(node)) add(node.arguments[taking.get(calledIn(node)) ?? -1]);
      if (ts.isFunctionDeclaration(node) && /hint|mend/i.test(node.name?.text ?? '')) {
        visit(node, (inner) => ts.isReturnStatement(inner) && add(inner.expression));
      }
      const isConstant = ts.isVariableDeclaration(node) && /^(hint|mend)/.test(node.name.getText());
      if (isConstant && node.initializer !== undefined) {
        if (ts.isStringLiteralLike(node.initializer)) add(node.initializer);
      }
    });
  }
  return found;
}

function visit(node: ts.Node, each: (node: ts.Node) => unknown): void {
  each(node);
  ts.forEachChild(node, (child) => visit(child, each));
}

/** `f(…)` and `a.f(…)`: `f`. */
function calledIn({ expression }: ts.CallExpression): string {
  return ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText();
}

/** Functions of a file that take a hint, and where. */
function functionsIn(source: ts.SourceFile): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  visit(source, (node) => {
    if (!ts.isFunctionLike(node)) return;
    const at = node.parameters.findIndex(({ name }) => isHint(name.getText()));
    const name = ts.isVariableDeclaration(node.parent) ? node.parent.name : node.name;
    if (at >= 0 && name !== undefined) found.set(name.getText(), at);
  });
  return found;
}

/** Those that other files use. */
const shared: ReadonlyMap<string, number> = new Map(
  [
    'src/diagnostics/problem.ts',
    'src/cli/failure.ts',
    'src/targets/interpreter/fault.ts',
    'src/runtime/capture.ts',
  ].flatMap((file) => [...functionsIn(parsed(file))]),
);

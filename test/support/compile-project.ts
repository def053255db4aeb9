// Compiles modules as they stand in a user's project: strict, against the published types, everything checked.

import { resolve } from 'node:path';
import ts from 'typescript';

export const root = resolve(import.meta.dirname, '../..');

/** Files of the compiler and of Node's types, parsed once. */
const libraries = new Map<string, ts.SourceFile | undefined>();

/** Compiles a module of a strict project that has no types of the DOM or of Node; gives its errors and declarations. */
export function compileProject(text: string, options: ts.CompilerOptions = {}, extension = 'ts') {
  return compile(new Map([[`project.${extension}`, text]]), options);
}

/** Compiles modules that import each other by their names, in a strict project of Node. */
export function compileFiles(files: ReadonlyMap<string, string>) {
  const options = { types: ['node'], noEmit: true, declaration: false, allowImportingTsExtensions: true };
  return compile(files, options);
}

function compile(files: ReadonlyMap<string, string>, options: ts.CompilerOptions) {
  const texts = new Map(Array.from(files, ([name, text]) => [`${root}/test/types/${name}`, text]));
  const all: ts.CompilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    skipDefaultLibCheck: true,
    declaration: true,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts'],
    types: [],
    module: ts.ModuleKind.Node16,
    moduleResolution: ts.ModuleResolutionKind.Node16,
    ...options,
  };
  const host = ts.createCompilerHost(all);
  const { getSourceFile, fileExists, readFile, directoryExists } = host;
  host.getSourceFile = (name, ...rest) => {
    const text = texts.get(name);
    if (text !== undefined) return ts.createSourceFile(name, text, rest[0]);
    if (!name.includes('/node_modules/')) return getSourceFile(name, ...rest);
    const parsed = libraries.get(name) ?? getSourceFile(name, ...rest);
    libraries.set(name, parsed);
    return parsed;
  };
  host.fileExists = (name) => texts.has(name) || fileExists(name);
  const paths = [...texts.keys()];
  host.directoryExists = (name) =>
    paths.some((path) => path.startsWith(`${name}/`)) || (directoryExists?.(name) ?? false);
  host.readFile = (name) => texts.get(name) ?? readFile(name);
  let declarations = '';
  host.writeFile = (name, written) => {
    if (/\.d\.[cm]?ts$/.test(name)) declarations = written;
  };
  const program = ts.createProgram(paths, all, host);
  const { diagnostics } = program.emit();
  // Whether the compiler's own files and Node's types are right takes most of the time, and is no question here.
  const ours = program.getSourceFiles().filter(({ fileName }) => !fileName.includes('/node_modules/'));
  const found = ours.flatMap((file) => ts.getPreEmitDiagnostics(program, file));
  const errors = [...found, ...diagnostics].map(({ file, start = 0, messageText }) => {
    const line = file ? 1 + ts.getLineAndCharacterOfPosition(file, start).line : 0;
    return `${file?.fileName.replace(`${root}/`, '')}:${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
  return { errors: [...new Set(errors)], declarations };
}

// What an editor shows of a user's module: TypeScript's language service over the published types.

import { existsSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { root } from './compile-project.ts';

/** Where `|` stands in a module: what hovering there shows, and what is offered there. */
export interface Shown {
  readonly hover: string;
  readonly offered: readonly string[];
}

const path = `${root}/test/types/edited.ts`;
const options: ts.CompilerOptions = {
  strict: true,
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2022.d.ts'],
  types: [],
  module: ts.ModuleKind.Node16,
  moduleResolution: ts.ModuleResolutionKind.Node16,
};
let text = '';
let version = 0;
const { fileExists, readFile } = ts.sys;

const service = ts.createLanguageService({
  getCompilationSettings: () => options,
  getScriptFileNames: () => [path],
  getScriptVersion: (name) => (name === path ? String(version) : '0'),
  getScriptSnapshot: (name) => {
    if (name === path) return ts.ScriptSnapshot.fromString(text);
    return existsSync(name) ? ts.ScriptSnapshot.fromString(readFileSync(name, 'utf8')) : undefined;
  },
  getCurrentDirectory: () => root,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: (name) => name === path || fileExists(name),
  readFile: (name) => (name === path ? text : readFile(name)),
});

/** What is shown at the `|` of a module. */
export function shownAt(marked: string): Shown {
  const at = marked.indexOf('|');
  text = marked.slice(0, at) + marked.slice(at + 1);
  version += 1;
  return {
    hover: ts.displayPartsToString(service.getQuickInfoAtPosition(path, at)?.displayParts),
    offered: (service.getCompletionsAtPosition(path, at, undefined)?.entries ?? []).map(({ name }) => name),
  };
}

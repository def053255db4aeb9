// Source maps: from a script that a tool made back to the file that it was made of.
//
// A map stands in the script itself (a `data:` URL) or in a file beside it; Node decodes it. Maps
// have an entry for a token or so, not for a character: what lies between two entries is found by
// comparing the texts.

import { hrefOf, pathOf, readText } from './files.ts';
import type { Script } from './inspector.ts';
import { lineAndColumn, offsetAt } from './lines.ts';
import type { Place } from './source.ts';

/** A source map as far as it is read here; `sections` make up an index map. */
interface SourceMapFile {
  readonly sources?: readonly (string | null)[];
  readonly sourcesContent?: readonly (string | null)[];
  readonly sourceRoot?: string;
  readonly sections?: readonly { readonly map: SourceMapFile }[];
}

interface LoadedMap {
  readonly file: SourceMapFile;
  /** What relative paths in it are relative to. */
  readonly base: string;
  /** The entry at or before a position counted from 0. */
  readonly find: (line: number, column: number) => Entry | undefined;
}

interface Entry {
  readonly generatedLine: number;
  readonly generatedColumn: number;
  readonly originalSource: string;
  readonly originalLine: number;
  readonly originalColumn: number;
  readonly name?: string | undefined;
}

/** The place in the original file of an offset into a script's text, if the script has a map that tells. */
export function mappedPlace(script: Script, offset: number): Place | undefined {
  const map = loadMap(script);
  if (!map) return undefined;

  const generated = lineAndColumn(script.text, offset);
  const firstColumn = (line: number) => (line === script.startLine ? script.startColumn : 0);
  const line = generated.line - 1 + script.startLine;
  const entry = map.find(line, generated.column - 1 + firstColumn(line));
  if (!entry) return undefined;

  const { originalSource } = entry;
  const part = [map.file, ...(map.file.sections ?? []).map((section) => section.map)].find((one) =>
    one.sources?.includes(originalSource),
  );
  const file = resolveSource(originalSource, part?.sourceRoot, map.base);
  const position = { line: entry.originalLine + 1, column: entry.originalColumn + 1 };
  const text = part?.sourcesContent?.[part.sources!.indexOf(originalSource)] ?? readText(file);
  const originalStart = text === undefined ? undefined : offsetAt(text, position);
  if (text === undefined || originalStart === undefined) return { file, ...position, text: '' };

  const entryStart = offsetAt(script.text, {
    line: entry.generatedLine - script.startLine + 1,
    column: entry.generatedColumn - firstColumn(entry.generatedLine) + 1,
  })!;
  const between = script.text.slice(entryStart, offset);
  const onward = text.startsWith(between, originalStart) ? between.length : 0;
  const name = between === '' && entry.name ? { name: entry.name } : {};
  return { file, ...lineAndColumn(text, originalStart + onward), text, ...name };
}

const maps = new WeakMap<Script, LoadedMap | null>();

function loadMap(script: Script): LoadedMap | null {
  let map = maps.get(script);
  if (map === undefined) {
    map = readMap(script);
    maps.set(script, map);
  }
  return map;
}

function readMap(script: Script): LoadedMap | null {
  const url = script.sourceMapUrl;
  const { SourceMap } = globalThis.process.getBuiltinModule('node:module');
  if (url === '') return null;
  let base = hrefOf(script.url);
  let text: string | undefined;
  const inline = /^data:[^,]*?(;base64)?,(.*)$/s.exec(url);
  if (inline) {
    text = inline[1] ? Buffer.from(inline[2]!, 'base64').toString() : decodeURIComponent(inline[2]!);
  } else {
    base = new URL(url, base).href;
    const path = pathOf(base);
    text = path === undefined ? undefined : readText(path);
  }
  if (text === undefined) return null;
  const file = JSON.parse(text);
  const decoded = new SourceMap(file);
  const find = (line: number, column: number) => {
    const entry = decoded.findEntry(line, column);
    return 'originalSource' in entry && entry.originalSource !== undefined ? entry : undefined;
  };
  return { file, base, find };
}

function resolveSource(source: string, root: string | undefined, base: string): string {
  const rooted = root ? `${root.replace(/\/$/, '')}/${source}` : source;
  const href = URL.canParse(rooted, base) ? new URL(rooted, base).href : source;
  return pathOf(href) ?? decodeURI(href);
}

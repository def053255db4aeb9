// Scripts as tools make them, loaded by node:vm under the name of a file that is on the disk.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import { type TransformOptions, transformSync } from 'esbuild';
import { afterAll, expect, test } from 'vitest';
import { createKernelSource } from '#warpstage/diagnostics/source.js';

const folder = mkdtempSync(join(tmpdir(), 'warpstage-original-'));
afterAll(() => rmSync(folder, { recursive: true }));

const written = `import type { Scale } from './scale';

export const body = ({ y }: Data, gain: number) => {
  const twice = (x: number): number => x * 2;
  y[0] = (twice(gain) as number) + (y[0] as number) * 12345;
};
`;
const expected = { line: 5, column: 55 };

let count = 0;
function onDisk(text: string, extension = 'ts'): string {
  const file = join(folder, `body${count++}.${extension}`);
  writeFileSync(file, text);
  return file;
}

type Body = () => unknown;

/** Where `12345` is, in a script that ends with a function as its value. */
function locate(script: string, options: vm.RunningScriptOptions, context?: vm.Context) {
  const fn: Body = context ? vm.runInContext(script, context, options) : vm.runInThisContext(script, options);
  const source = createKernelSource(fn, 'body');
  return source.locate(source.text.indexOf('12345'));
}

const scriptOf = (code: string) => code.replace('export const body = ', '(').replace(/;\n*$/, ')\n');

/** The fixture, transpiled to a script whose value is the function, and the map of it. */
function transpiled(file: string, options: TransformOptions = {}) {
  const { code, map } = transformSync(written.replace('export const body =', 'body ='), {
    loader: 'ts',
    sourcemap: 'external',
    sourcefile: file,
    ...options,
  });
  return { code, map: JSON.parse(map) };
}

const inline = (map: object) =>
  `//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}\n`;

test('types that were blanked out keep their columns, and the frame shows them', () => {
  const blanked = written
    .replace("import type { Scale } from './scale';", (words) => ' '.repeat(words.length))
    .replace('export const body = (', '                   ((')
    .replace('};\n', '});\n')
    .replaceAll(/: Data|: number| as number/g, (words) => ' '.repeat(words.length));
  expect(blanked).toContain('* 12345');
  const file = onDisk(written);
  expect(locate(blanked, { filename: file })).toEqual({ file, ...expected, text: written });
});

test('types that were taken out line by line are found again', () => {
  const taken = scriptOf(written.replace(/^import.*/, '').replaceAll(/: Data|: number| as number/g, ''));
  const file = onDisk(written);
  expect(locate(taken, { filename: file })).toEqual({ file, ...expected, text: written });
});

test('a file that changed since it was loaded is not shown in place of what runs', () => {
  const script = scriptOf(written.replace(/^import.*/, '').replaceAll(/: Data|: number| as number/g, ''));
  const file = onDisk(written.replaceAll('twice', 'thrice'));
  const place = locate(script, { filename: file });
  expect(place).toMatchObject({ file, line: 5, text: script });
  expect(script.split('\n')[4]!.slice(place.column - 1)).toMatch(/^12345/);
});

test('a byte order mark does not move anything', () => {
  const script = scriptOf('export const body = () => 12345;\n');
  const file = onDisk(`\ufeff${script}`, 'js');
  expect(locate(script, { filename: file })).toEqual({ file, line: 1, column: 8, text: script });
});

test('an inline source map leads to the original and its text', () => {
  const { code, map } = transpiled('body.ts');
  const filename = join(folder, 'gone.js');
  expect(locate(code + inline(map), { filename })).toEqual({
    file: join(folder, 'body.ts'),
    ...expected,
    text: written.replace('export const body =', 'body ='),
  });
});

test('a source map beside the script does too', () => {
  const { code, map } = transpiled('body.ts');
  const filename = onDisk('', 'js');
  writeFileSync(`${filename}.map`, JSON.stringify(map));
  const url = `//# sourceMappingURL=${pathToFileURL(filename).href.split('/').at(-1)}.map\n`;
  expect(locate(code + url, { filename })).toMatchObject({ file: join(folder, 'body.ts'), ...expected });
});

test('without the text in the map, the file is read; without the file, the place stands alone', () => {
  const file = onDisk(written.replace('export const body =', 'body ='));
  const { code, map } = transpiled(file);
  const { sourcesContent, ...bare } = map;
  expect(sourcesContent).toHaveLength(1);
  const filename = join(folder, 'a.js');
  expect(locate(code + inline(bare), { filename })).toMatchObject({ file, ...expected });
  expect(locate(code + inline({ ...bare, sources: ['lost.ts'] }), { filename })).toMatchObject({
    file: join(folder, 'lost.ts'),
    line: 5,
    text: '',
  });
});

test('a source root and an index map are followed', () => {
  const { code, map } = transpiled('body.ts');
  const rooted = { ...map, sourceRoot: join(folder, 'src') };
  const index = { version: 3, sections: [{ offset: { line: 0, column: 0 }, map: rooted }] };
  const filename = join(folder, 'a.js');
  expect(locate(code + inline(index), { filename })).toMatchObject({
    file: join(folder, 'src', 'body.ts'),
    ...expected,
  });
});

test("a bundler's own URLs stay as they are", () => {
  const { code, map } = transpiled('body.ts');
  const sources = ['webpack://app/./src/body.ts'];
  expect(locate(code + inline({ ...map, sources }), { filename: join(folder, 'a.js') })).toMatchObject({
    file: 'webpack://app/src/body.ts',
    ...expected,
  });
});

test.each([
  ['is missing', '//# sourceMappingURL=missing.js.map\n'],
  ['is no JSON', '//# sourceMappingURL=data:application/json,{\n'],
  ['is no source map', '//# sourceMappingURL=data:application/json,[1]\n'],
  ['is elsewhere', '//# sourceMappingURL=https://example.com/a.js.map\n'],
])('a source map that %s costs no more than the original: the script is shown', (_, comment) => {
  const script = `${scriptOf('export const body = () => 12345;\n')}${comment}`;
  const file = onDisk(script, 'js');
  expect(locate(script, { filename: file })).toEqual({ file, line: 1, column: 8, text: script });
});

test('a wrapper on the first line, as test runners put it, is not counted', () => {
  const { code, map } = transpiled('body.ts');
  const wrapper = '(() => { let body; return ';
  const file = join(folder, 'a.js');
  const script = `${wrapper}${code.trimEnd().replace(/;$/, '')}})()\n${inline(map)}`;
  expect(locate(script, { filename: file, columnOffset: -wrapper.length })).toMatchObject({
    file: join(folder, 'body.ts'),
    ...expected,
  });
});

test('nor is it where all of the script stands on that line', () => {
  const { code, map } = transpiled('body.ts', { minifyWhitespace: true });
  const wrapper = '(() => { let body; return ';
  const script = `${wrapper}${code.trimEnd().replace(/;$/, '')}})()\n${inline(map)}`;
  expect(script.split('\n')[0]).toContain('12345');
  expect(locate(script, { filename: join(folder, 'a.js'), columnOffset: -wrapper.length })).toMatchObject({
    file: join(folder, 'body.ts'),
    ...expected,
  });
});

test('what stands behind an entry of a map is found by its text', () => {
  const text = '(() => 1 + 12345)\n';
  const map = { version: 3, sources: ['body.ts'], sourcesContent: [text], names: [], mappings: 'AAAA' };
  expect(locate(text + inline(map), { filename: join(folder, 'a.js') })).toMatchObject({
    file: join(folder, 'body.ts'),
    line: 1,
    column: 12,
  });
});

test('a script that begins in the middle of a file is placed there by its map', () => {
  const { code, map } = transpiled('body.ts');
  const shifted = { ...map, mappings: `;;;${map.mappings}` };
  expect(locate(code + inline(shifted), { filename: join(folder, 'a.js'), lineOffset: 3 })).toMatchObject({
    file: join(folder, 'body.ts'),
    ...expected,
  });
});

test('a function of another context is found', () => {
  const script = scriptOf('export const body = () => 12345;\n');
  const file = onDisk(script, 'js');
  const place = locate(script, { filename: file }, vm.createContext({}));
  expect(place).toMatchObject({ file, line: 1, column: 8 });
});

test('a script without a file is shown as the function alone', () => {
  const script = '\n\n(() =>\n  12345)';
  expect(locate(script, {})).toEqual({ line: 2, column: 3, text: '() =>\n  12345' });
});

// `#line`: what compilers, debuggers and profilers say of the generated C++ names the user's file and line.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WarpstageError } from '#warpstage/diagnostics/error.js';
import { compileCuda, cudaText } from '#warpstage/targets/cuda/compile.js';
import { guidePrograms } from '../support/example-programs.ts';
import { hasNvcc } from '../support/nvcc.ts';

const file = resolve('examples/guide/staging-unified.ts');
const lines = readFileSync(file, 'utf8').split('\n');
const { program, sources } = guidePrograms['staging-unified']!;

/** The line of the user's file that holds a text. */
const lineOf = (text: string) => lines.findIndex((line) => line.includes(text)) + 1;

/** The directive before the first generated line that holds a text. */
function directiveOf(text: string, wanted: string): string {
  const generated = text.slice(text.indexOf('extern "C"')).split('\n');
  return generated[generated.findIndex((line) => line.includes(wanted)) - 1]!;
}

test('each statement stands under the line it comes from', () => {
  const text = cudaText(program, 90, sources);
  expect(directiveOf(text, 'ws_wait_converged(')).toBe(
    `#line ${lineOf('pipeline.consumerWait()')} "${file}"`,
  );
  expect(directiveOf(text, 'ws_bulk_copy(')).toBe(`#line ${lineOf('cuda.memcpyAsync(')} "${file}"`);
  expect(directiveOf(text, 'g_globalOut_0[')).toMatch(/^#line \d+ ".*examples\/guide\/compute\.ts"$/);
});

test('without being asked for they are left out', () => {
  expect(cudaText(program, 90)).not.toContain('#line');
});

test('what NVRTC refuses is compiled again with them, so that its message names the file', () => {
  const texts: string[] = [];
  const compile = (text: string) => {
    texts.push(text);
    throw new WarpstageError({ code: 'WS1014', message: 'NVRTC could not compile it' });
  };
  const aligned = program.parameters.map(() => 16);
  expect(() => compileCuda({ program, sources }, aligned, { architecture: 90, compile })).toThrow('WS1014');
  expect(texts.map((text) => text.includes(`"${file}"`))).toEqual([false, true]);
});

test('profilers get them by an option', () => {
  const given: (readonly string[])[] = [];
  const compile = (_text: string, _name: string, options: readonly string[]) => {
    given.push(options);
    return new Uint8Array(1);
  };
  const aligned = program.parameters.map(() => 16);
  compileCuda({ program, sources }, aligned, { architecture: 90, compile, lineInfo: true });
  compileCuda({ program, sources }, aligned, { architecture: 90, compile });
  expect(given.map((options) => options.includes('--generate-line-info'))).toEqual([true, false]);
});

describe.skipIf(!hasNvcc)('nvcc', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'warpstage-lines-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('says where in the TypeScript a mistake is, and keeps the lines for profilers', () => {
    const text = cudaText(program, 90, sources);
    const good = join(folder, 'good.cu');
    writeFileSync(good, text);
    execFileSync('nvcc', ['-arch=sm_90a', '-lineinfo', '-ptx', '-o', join(folder, 'good.ptx'), good]);
    const ptx = readFileSync(join(folder, 'good.ptx'), 'utf8');
    const number = /\.file\s+(\d+) ".*staging-unified\.ts"/.exec(ptx)![1];
    expect(ptx).toMatch(new RegExp(`\\.loc\\s+${number} ${lineOf('pipeline.consumerWait()')} `));

    const bad = join(folder, 'bad.cu');
    writeFileSync(bad, text.replace('ws_wait_converged(&m', 'ws_wait_converged(&no_such'));
    const { stderr } = spawnSync('nvcc', ['-arch=sm_90a', '-ptx', '-o', join(folder, 'bad.ptx'), bad], {
      encoding: 'utf8',
    });
    expect(stderr).toContain(`${file}(${lineOf('pipeline.consumerWait()')}): error: identifier "no_such`);
  });
});

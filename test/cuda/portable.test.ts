// PTX of generated code is for its architecture and all later ones: ptxas makes machine code of it. Needs
// nvcc and ptxas; where they are absent the tests say that they skip.

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cudaText, nvrtcOptions, ptxOptions } from '#warpstage/targets/cuda/compile.js';
import { guidePrograms, jobPrograms } from '../support/example-programs.ts';
import { hasNvcc, inOneFile, ptxOf } from '../support/nvcc.ts';
import { hasTool } from '../support/tools.ts';

const programs = Object.values({ ...guidePrograms, ...jobPrograms }).map(({ program }) => program);

test.each([75, 80, 90, 100, 120])('nothing of sm_%i alone is asked of NVRTC', (architecture) => {
  expect(nvrtcOptions(architecture, {})).toContain(`--gpu-architecture=sm_${architecture}`);
  expect(ptxOptions(architecture, {})).toContain(`--gpu-architecture=compute_${architecture}`);
});

test.each([
  [75, [80, 86, 89]],
  [90, [100, 103, 120]],
])(
  'what is written for %i is the same for %j, so that one finds what another compiled',
  (architecture, later) => {
    for (const program of programs) {
      for (const one of later) expect(cudaText(program, one)).toBe(cudaText(program, architecture));
    }
  },
);

describe.skipIf(!hasNvcc || !hasTool('ptxas'))('ptxas', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'warpstage-ptxas-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test.each([
    [75, ['sm_75', 'sm_80', 'sm_90', 'sm_120']],
    [80, ['sm_80', 'sm_89', 'sm_90', 'sm_120']],
    [90, ['sm_90', 'sm_90a', 'sm_100', 'sm_120']],
  ])('takes PTX for %i on %j', async (architecture, later) => {
    const ptx = await ptxOf(
      inOneFile(programs.map((program) => cudaText(program, architecture))),
      `${architecture}`,
    );
    expect(ptx).toMatch(new RegExp(`^\\.target sm_${architecture}$`, 'm'));
    const file = join(folder, `${architecture}.ptx`);
    await writeFile(file, ptx);
    for (const one of later) {
      const { stderr } = await promisify(execFile)('ptxas', [
        `-arch=${one}`,
        '-o',
        join(folder, 'out'),
        file,
      ]);
      expect(stderr).toBe('');
    }
  });
});

// The blocks of code of the guides, made whole: what they use of a reader's program and do not show is put before them,
// and behind them what shows that they did what the page says.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sections } from '../../packages/site/sections.mjs';
import { root } from '../support/compile-project.ts';
import { shown } from './guide-results.ts';

/** Blocks that are no module, and lines that are no command of the package: each with why. */
export const fragments: Readonly<Record<string, string>> = {
  'export const axpb = kernel(/* … */);': 'shows comments around a kernel',
  'WARPSTAGE_CACHE=shipped WARPSTAGE_PTX=75,80 node app.mjs': "a user's program, on a GPU",
  'WARPSTAGE_CACHE=~/.cache/warpstage:shipped node app.mjs': "a user's program, on a GPU",
  'sbatch ': 'submits to Slurm; test/cluster does',
  'aws batch ': 'submits to AWS Batch',
  './parallel.sh 10 ': 'a script, which test/cluster runs',
  'nats://host:4222': 'asks a server, which test/queue starts',
};
export const isFragment = (text: string) => Object.keys(fragments).some((each) => text.includes(each));

/** What blocks use of a reader's program, and do not show: by its name, how it would be there. */
const surroundings: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['job', 'kernel', 'open', 'registerFormat', 'run', 'tracePage'].map((name) => [
      name,
      `import { ${name} } from 'warpstage';`,
    ]),
  ),
  Span: "import type { Span } from 'warpstage';",
  writeFile: "import { writeFile } from 'node:fs/promises';",
  device: "const device = await (await import('warpstage')).open('cpu');",
  stream: 'const stream = device.createStream();',
  spans: "const spans: import('warpstage').Span[] = [];",
  source: "const source = 'template <typename T> __global__ void scale(T* y, const T* x, T a, size_t n) {}';",
  grid: 'const grid = 1;',
  block: 'const block = 32;',
  n: 'const n = 32;',
  x: "const x = device.alloc('f32', 32);",
  y: "const y = device.alloc('f32', 32);",
  withStaging: "import { withStaging } from '../../examples/guide/staging.ts';",
  withStagingUnified: "import { withStagingUnified } from '../../examples/guide/staging-unified.ts';",
};

/** The same for one page, before those of all. */
const ownSurroundings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  checker: {
    kernel: "import { withStaging as kernel } from '../../examples/guide/staging.ts';",
    launch:
      'const launch = { grid: 1, block: 32, arguments: { globalOut: { length: 64 }, globalIn: { length: 64 }, batchCount: 2 } };',
    histogram: `import { kernel as newKernel } from 'warpstage';
      const histogram = newKernel({ bins: 'u32[]', x: 'readonly u8[]' }, ({ bins, x }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        if (i < x.length) cuda.atomicAdd(bins, cuda.index(x[i]!), 1);
      });`,
    x: 'const x = Uint8Array.from({ length: 90 }, (_, i) => i % 16);',
  },
  timelines: {
    scale: `import { kernel } from 'warpstage';
      const scale = kernel({ y: 'f32[]', a: 'f32' }, ({ y, a }, cuda) => {
        const block = cuda.thisThreadBlock();
        const staged = cuda.sharedArray('f32', 128);
        const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
        pipeline.producerAcquire();
        cuda.memcpyAsync(block, staged, y, 128, pipeline);
        pipeline.producerCommit();
        pipeline.consumerWait();
        y[cuda.threadIdx.x] = a * staged[cuda.threadIdx.x]!;
        pipeline.consumerRelease();
      });`,
  },
  // A file of strips has its columns' bytes, an index of them as JSON, and how long that is.
  formats: {
    readIndex: `async function readIndex(file: import('warpstage').OpenBytes) {
      const size = file.size!;
      const ends = new Uint8Array(4);
      await file.readAt!(ends, size - 4);
      const text = new Uint8Array(new DataView(ends.buffer).getUint32(0, true));
      await file.readAt!(text, size - 4 - text.length);
      return JSON.parse(new TextDecoder().decode(text)) as { columns: { name: string; lengths: number[] }[] };
    }`,
    unpack: `async function unpack(file: import('warpstage').OpenBytes, name: string, unit: number) {
      const { columns } = await readIndex(file);
      const at = columns.findIndex((column) => column.name === name);
      const before = columns.slice(0, at).flatMap(({ lengths }) => lengths);
      const { lengths } = columns[at]!;
      const bytes = new Uint8Array(4 * lengths[unit]!);
      await file.readAt!(bytes, 4 * sum([...before, ...lengths.slice(0, unit)]));
      return new Int32Array(bytes.buffer);
    }`,
    sum: 'const sum = (lengths: readonly number[]) => lengths.reduce((all, length) => all + length, 0);',
  },
};

export interface Block {
  readonly language: string;
  readonly text: string;
}

export const { pages } = sections.find(({ title }) => title === 'Guides')!;
export const blocksOf = (path: string): Block[] =>
  Array.from(
    readFileSync(join(root, `docs/${path}.md`), 'utf8').matchAll(/^```(\w*).*\n([\s\S]*?)^```$/gm),
    ([, language, text]) => ({ language: language!, text: text! }),
  );

/** Whether a text uses a name that it does not declare. */
function asksFor(name: string, text: string): boolean {
  const code = text.replace(/\/\/.*|'[^'\n]*'/g, '');
  const isDeclared = new RegExp(
    `(?:const|let|using|function|class|import type|import) (?:[[{][^\\]}]*\\b)?${name}\\b`,
  ).test(code);
  return !isDeclared && new RegExp(`(?<![.\\w])${name}\\b(?!\\s*:)`).test(code);
}

/** The modules that the blocks of all guides are, by their names: what they use of a program stands before them. */
export function modulesOfGuides(): Map<string, string> {
  const files = new Map<string, string>();
  for (const { path } of pages) {
    const exported: Record<string, string> = {};
    const blocks = blocksOf(path).filter(({ language, text }) => language === 'ts' && !isFragment(text));
    for (const [position, { text }] of blocks.entries()) {
      const file = `${path}-${position + 1}.ts`;
      const around = { ...surroundings, ...ownSurroundings[path], ...exported };
      const before: string[] = [];
      let whole = text;
      for (const [name, line] of Object.entries(around).reverse()) {
        if (!asksFor(name, whole)) continue;
        before.push(line);
        whole = `${line}\n${whole}`;
      }
      files.set(file, `${whole}\n${shown[file] ?? ''}\nexport {};\n`);
      for (const [, name] of text.matchAll(/^export const (\w+)/gm))
        exported[name!] = `import { ${name} } from './${file}';`;
    }
  }
  return files;
}

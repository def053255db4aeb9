// The folder in which the blocks of the guides are run: the files that they name, as a reader would have them.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../support/compile-project.ts';

/** Kernels with the mistakes that pages show: one lacks a sync, one takes a name from outside, one writes too far. */
const mirrored = `import { kernel } from 'warpstage';
import { checkCase } from 'warpstage/check';
export const mirrored = kernel({ out: 'i32[]', x: 'readonly i32[]' }, ({ out, x }, cuda) => { const t = cuda.threadIdx.x;
  const shared = cuda.sharedArray('i32', 32);
  shared[t] = x[t]!;
  out[t] = shared[31 - t]!;
});
export const checks = [checkCase(mirrored, { grid: 1, block: 32, arguments: { out: { length: 32 }, x: { length: 32 } } })];
`;

/** What the page has beside a kernel of the examples. */
const launch = `
import { checkCase } from 'warpstage/check';
export const checks = [
  checkCase(withStaging, {
    grid: 2,
    block: 64,
    arguments: { globalOut: { length: 512 }, globalIn: { length: 512 }, batchCount: 4 },
  }),
];
`;

const captures = `import { kernel } from 'warpstage';
const z = 2;
export const scale = kernel({ y: 'f32[]' }, ({ y }, cuda) => {
      y[0] = z;
});
`;

const tooFar = `import { kernel, open } from 'warpstage';
await using device = await open('cpu');
const scale = kernel({ y: 'f32[]' }, ({ y }, cuda) => {
    y[cuda.thisGrid().threadRank()]! *= 2;
});
device.defaultStream.launch(scale, { grid: 4, block: 256 }, { y: device.alloc('f32', 1000) });
await device.synchronize();
`;

/** A `.npy` file of numbers. */
function npy(values: Float32Array | Float64Array): Buffer {
  const dtype = values instanceof Float32Array ? '<f4' : '<f8';
  const text = `{'descr': '${dtype}', 'fortran_order': False, 'shape': (${values.length},), }`;
  const header = `${text.padEnd(117)}\n`;
  const length = Buffer.from([header.length, 0]);
  return Buffer.concat([
    Buffer.from('\x93NUMPY\x01\x00', 'latin1'),
    length,
    Buffer.from(header),
    Buffer.from(values.buffer),
  ]);
}

/** Two columns of 32-bit integers, of which the second is cut otherwise than the first. */
function strips(): Buffer {
  const columns = [
    { name: 'a', lengths: [2, 3] },
    { name: 'b', lengths: [5] },
  ];
  const index = Buffer.from(JSON.stringify({ columns }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(index.length);
  return Buffer.concat([Buffer.from(Int32Array.of(1, 2, 3, 4, 5, 10, 20, 30, 40, 50).buffer), index, length]);
}

export class GuideFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'warpstage-guides-'));

  constructor(modules: ReadonlyMap<string, string>) {
    mkdirSync(join(this.path, 'node_modules'));
    symlinkSync(root, join(this.path, 'node_modules/warpstage'));
    this.file('package.json', '{ "type": "module" }');
    for (const [name, text] of modules) this.file(name, asRun(text));
    // Programs that the command lines name: those of the pages, and examples.
    for (const [name, module] of Object.entries({ affine: 'jobs-1', mean: 'jobs-2', mixed: 'jobs-2' }))
      this.file(`${name}.ts`, `export { ${name} } from './${module}.ts';\n`);
    cpSync(join(root, 'examples/guide'), this.path, { recursive: true });
    cpSync(join(root, 'examples/guide'), join(this.path, 'src'), { recursive: true });
    this.file('src/kernels.ts', "export { staging } from './checks.ts';\n");
    this.file('staging.ts', `${readFileSync(join(root, 'examples/guide/staging.ts'), 'utf8')}${launch}`);
    this.file('mirrored.ts', mirrored);
    this.file('scale.ts', tooFar);
    this.file('src/scale.ts', captures);
    // Data.
    this.file('x.npy', npy(Float32Array.of(1, 2, 3, 4, 5)));
    this.file('float64.npy', npy(Float64Array.of(0.1, 0.2)));
    this.file('a.npy', npy(Float32Array.of(1, 2, 3)));
    this.file('b.npy', npy(Float32Array.of(10, 20, 30)));
    this.file('bytes.raw', Uint8Array.of(1, 2, 3));
    this.file('two.strips', strips());
    symlinkSync(
      join(root, 'node_modules/vega-datasets/data/flights-3m.parquet'),
      join(this.path, 'flights.parquet'),
    );
  }

  /** Writes a file; gives its path. */
  file(name: string, content: string | Uint8Array): string {
    const path = join(this.path, name);
    writeFileSync(path, content);
    return path;
  }

  /** Command lines that a reader would have run before one. */
  before(words: readonly string[]): readonly (readonly string[])[] {
    if (words[0] !== 'merge') return [];
    return Array.from({ length: 10 }, (_, i) => [
      'run',
      'affine.ts',
      'x.npy',
      'y.npy',
      '--shard',
      `${i + 1}/10`,
    ]);
  }

  /** Whether a command line is there to show mistakes. */
  findsMistakes(line: string): boolean {
    return line.includes('--static');
  }
}

/** A module as it is run here: where the examples lie, on devices that there are, and not as a test of this run. */
function asRun(text: string): string {
  return text
    .replaceAll("'../../examples", `'${root}/examples`)
    .replace("['cuda:0', 'cuda:1']", "['cpu', 'model:h200']")
    .replace("import { test } from 'vitest';", 'const test = (_: string, check: () => void) => check();');
}

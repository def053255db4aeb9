// Random kernels whose producers and consumers hand on batches, and what a target leaves of them.

import { type Kernel, kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import type { Tape } from '../differential/tape.ts';
import { runKernel } from '../support/run-kernel.ts';
import type { Target } from '../support/run-program.ts';

const [block, grid] = [32, 3];
/** Batches of a launch. */
export const mostBatches = 5;
const schema = {
  out: 'i32[]',
  notes: 'i32[]',
  seen: 'i32[]',
  x: 'readonly i32[]',
  batches: 'index',
} as const;

interface Shape {
  /** Who produces, how many do, and how many consume; the place of a thread among those of its role. */
  readonly produces: string;
  readonly producers: number;
  readonly consumers: number;
  readonly place: readonly [producer: string, consumer: string];
}

const shapes: readonly Shape[] = [
  {
    produces: 't % 2 === 0',
    producers: 16,
    consumers: 16,
    place: ['Math.trunc(t / 2)', 'Math.trunc(t / 2)'],
  },
  { produces: 't < 16', producers: 16, consumers: 16, place: ['t', 't - 16'] },
  { produces: 't >= 16', producers: 16, consumers: 16, place: ['t - 16', 't'] },
  { produces: 't < 8', producers: 8, consumers: 24, place: ['t', 't - 8'] },
  { produces: 't >= 8', producers: 24, consumers: 8, place: ['t - 8', 't'] },
];

export interface Roles {
  readonly text: string;
  /** How many elements of `x` and of `seen` so many batches of all blocks take. */
  readonly read: (batches: number) => number;
  readonly written: (batches: number) => number;
}

/** A kernel whose roles hand on batches; `unlike`: by what no loop can be made of both. */
export function roles(tape: Tape, unlike = ''): Roles {
  const { produces, producers, consumers, place } = tape.pick(shapes);
  const stages = 1 + tape.below(3);
  const width = Math.max(producers, consumers);
  const [from, n] = [4 * tape.below(4), tape.pick(['batches', 'Math.min(batches, 2 + (x[3] & 3))'])];
  const byRole = tape.chance(1, 2) && unlike !== 'many';
  const stage = (batch: string) => `(${batch} % ${stages}) * ${width}`;
  // Where threads keep nothing from round to round, nor do blocks.
  const keeps = !tape.chance(1, 3);
  const notes = keeps && tape.chance(1, 2);
  const first = (batch: string) => `(${batch} * cuda.gridDim.x + cuda.blockIdx.x) * ${width}`;
  const other = tape.pick(['r', `${width - 1} - r`, `(r + 3) % ${width}`]);
  const fill = [
    keeps ? tape.pick(['', 'v = v * 3 + f;']) : '',
    'pipe.producerAcquire();',
    // As many elements as the consumers read, however many fill them.
    producers < width ? `for (let k = r; k < ${width}; k += ${producers}) {` : '{ const k = r;',
    tape.pick([
      `cuda.memcpyAsync(staged.subarray(${stage('f')} + k), x.subarray(${from} + ${first('f')} + k), 1, pipe);`,
      `staged[${stage('f')} + k] = x[${from} + ${first('f')} + k] * 3 + f;`,
    ]),
    '}',
    notes ? `notes[${first('f')} + r] = v + f;` : '',
    'pipe.producerCommit();',
    keeps ? tape.pick(['', 'v = v + 1;']) : '',
  ];
  const use = [
    'pipe.consumerWait();',
    `${keeps ? 'v = v * 5' : 'let v = b'} + staged[${stage('b')} + ${other}];`,
    notes ? `v = v + notes[${first('b')} + (r % ${producers})];` : '',
    tape.pick(['', 'if ((v & 3) === 1) v = v - b;', 'for (let k = 0; k < (v & 3); k++) v = v + k;']),
    `seen[${first('b')} + r] = v;`,
    'pipe.consumerRelease();',
  ];
  if (unlike === 'twice') use.push('pipe.consumerWait();', 'pipe.consumerRelease();');
  if (unlike === 'print') use.push('console.log(v);');
  if (unlike === 'leaves') use.push('if (b === 3) break;');
  if (unlike === 'many') use.push('cuda.atomicAdd(out, 0, 1);');
  const limit = unlike === 'limit' ? 'n - 1' : 'n';
  const begin = unlike === 'begin' ? '1' : '0';
  const apart = `if (produces) {
      const r = ${place[0]};
      for (let f = 0; f < n; f++) { ${fill.join('\n')} }
    } else {
      const r = ${place[1]};
      for (let b = ${begin}; b < ${limit}; b++) { ${use.join('\n')} }
    }`;
  const ahead = `const r = produces ? ${place[0]} : ${place[1]};
    for (let b = ${begin}, f = 0; b < ${limit}; b++) {
      for (; f < n && f < b + ${1 + tape.below(3)}; f++) { if (produces) { ${fill.join('\n')} } }
      if (!produces) { ${use.join('\n')} }
    }`;
  const between = unlike === 'meets' ? 'if (n > 2) block.sync();' : '';
  const text = `({ out, notes, seen, x, batches }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const produces = ${produces};
    ${keeps ? 'let v = x[t] + t;' : ''}
    const [staged, mixed] = [cuda.sharedArray('i32', ${width * stages}), cuda.sharedArray('i32', ${block})];
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', ${stages}), ${
      byRole ? "produces ? 'producer' : 'consumer'" : producers
    });
    const n = ${n};
    ${between}
    ${!keeps ? '' : tape.pick(['', `mixed[t] = v;\nblock.sync();\nv = v + mixed[(t + 5) % ${block}];\nblock.sync();`])}
    ${tape.chance(1, 2) ? apart : ahead}
    ${tape.pick(['', 'pipe.quit();'])}
    ${keeps ? tape.pick(['', 'block.sync();\nv = v - t;', 'if ((t & 3) === 2) v = -v;']) : ''}
    out[cuda.blockIdx.x * ${block} + t] = ${keeps ? 'v' : 't'};
  }`.replaceAll(/^\s*\n/gm, '');
  return {
    text,
    read: (batches) => from + batches * grid * width,
    written: (batches) => (batches * grid - 1) * width + consumers,
  };
}

function compiled(text: string) {
  return kernel(schema, new Function(`return ${text}`)());
}

/** A kernel and its program. */
export function programOf(text: string) {
  const what = { block: [block, 1, 1], indexType: 'i32', constants: {}, functions: {} } as const;
  return { text, program: specialise(compiled(text) as unknown as Kernel, what).program };
}

/** What a target leaves of a launch. Where an array is short, one thread finds no element. */
export function outcome(
  target: Target,
  { text, read, written }: Roles,
  batches: number,
  short: 'x' | 'seen' | null,
) {
  const all = (mostBatches + 1) * grid * 32;
  const [out, notes] = [new Int32Array(block * grid), new Int32Array(all)];
  const seen = new Int32Array(short === 'seen' ? Math.max(0, written(batches) - 1) : all);
  const x = Int32Array.from(
    { length: short === 'x' ? Math.max(block, read(batches) - 1) : all },
    (_, i) => Math.imul(i, 40_503) >> 7,
  );
  const { fault, executable } = runKernel(target, compiled(text), {
    grid,
    block,
    arguments: { out, notes, seen, x, batches },
  });
  const mode = 'mode' in executable ? executable.mode : null;
  if (fault !== null) return { mode, fault, results: null };
  return { mode, fault, results: [out, notes, seen].map((each) => each.join(' ')) };
}

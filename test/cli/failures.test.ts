// Whatever is wrong with a module, its data or its settings: a clear error, the exit code that
// says whose fault it was, and nothing left behind.

import { mkdirSync, truncateSync } from 'node:fs';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { Folder, npy, numbers, outcomeOf, runHere, start } from './support.ts';

const data = new Folder();
let out: Folder;
beforeEach(() => {
  out?.remove();
  out = new Folder();
});
afterAll(() => {
  out.remove();
  data.remove();
});

const affine = 'examples/affine.ts';
const x = numbers(40_000);
const good = data.file('x.npy', npy(x));

/** An .npy header with a description of one's own. */
function npyWith(description: string, bytes: number): Uint8Array {
  const header = Buffer.from(`\x93NUMPY\x01\x00\x76\x00${description.padEnd(117)}\n`, 'latin1');
  return Buffer.concat([header, Buffer.alloc(bytes)]);
}

async function fails(argv: readonly string[], code: number, message: RegExp): Promise<string> {
  const outcome = await runHere(...argv);
  expect(outcome.stderr).toMatch(message);
  expect({ code: outcome.code, text: outcome.text, left: out.list() }).toEqual({ code, text: '', left: [] });
  return outcome.stderr;
}

describe('input', () => {
  mkdirSync(data.file('folder'));
  test.each([
    ['a missing file', data.file('missing.npy'), /^WS5003: /],
    ['a directory', data.file('folder'), /^WS5003: /],
    ['an empty file', data.file('empty.npy', ''), /^WS500[34]: /],
    ['a truncated .npy', data.file('short.npy', npy(x).subarray(0, 5000)), /^WS5003: /],
    ['no .npy at all', data.file('text.npy', 'just a text that is long enough to be one'), /^WS5004: /],
    [
      'fortran order',
      data.file('fortran.npy', npyWith("{'descr': '<f4', 'fortran_order': True, 'shape': (4, 4), }", 64)),
      /^WS5004: .*[Ff]ortran/,
    ],
    [
      'big-endian data',
      data.file('big.npy', npyWith("{'descr': '>f4', 'fortran_order': False, 'shape': (16,), }", 64)),
      /^WS5004: .*big-endian/,
    ],
    [
      'another element type',
      data.file('f64.npy', npyWith("{'descr': '<f8', 'fortran_order': False, 'shape': (8,), }", 64)),
      /^WS5005: .*f64/,
    ],
  ])('%s', async (_, file, message) => {
    await fails(['run', affine, file, out.file('y.npy')], 3, message);
  });

  test('an absent column', async () => {
    const file = 'node_modules/vega-datasets/data/flights-3m.parquet';
    const stderr = await fails(
      ['run', 'examples/flights.ts', file, '--column', 'delay=lateness'],
      3,
      /^WS500[45]: .*lateness/,
    );
    expect(stderr).toContain('distance');
  });
});

describe('output', () => {
  test('a folder that is not there', async () => {
    await fails(['run', affine, good, out.file('none/y.npy')], 74, /^WS5006: .*none/);
  });

  test('a trace file that cannot be written is reported before the job runs', async () => {
    const argv = ['run', affine, good, out.file('y.npy'), '--trace', out.file('none/t.json')];
    await fails(argv, 74, /^WS5006: .*none\/t\.json cannot be written/);
  });
});

describe('settings', () => {
  test.each([
    [['--set', 'c=1'], 2, /^WS5008: .*`?c`?/],
    [['--set', 'a=NaN'], 2, /^WS5008: .*NaN/],
    [['--set', 'a=true'], 2, /^WS5008: .*true/],
    [['--chunk', '0'], 2, /^WS5008: .*chunk/],
    [['--chunk', 'much'], 2, /^WS5008: .*chunk/],
    [['--device', 'toaster'], 2, /^WS4003: .*toaster/],
  ])('%j', async (options, code, message) => {
    await fails(['run', affine, good, out.file('y.npy'), ...options], code, message);
  });
});

test('chunks of more than the device has memory', async () => {
  const sparse = data.file('sparse.raw', '');
  truncateSync(sparse, 2 ** 34);
  await fails(['run', affine, sparse, out.file('y.raw'), '--chunk', '8G'], 75, /^WS4001: .*are free/);
});

describe('a kernel', () => {
  const moduleOf = (name: string, body: string) =>
    data.file(
      name,
      `import { job, kernel } from 'warpstage';
export const faulty = job({
  kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    ${body}
  }),
  inputs: { x: {} },
  outputs: { y: {} },
});
`,
    );

  test('that captures a name is shown at its own line', async () => {
    const module = moduleOf('captures.ts', 'if (i < y.length) y[i] = factor * x[i]!;');
    const stderr = await fails(['run', module, good, out.file('y.npy')], 1, /^WS1002: .*factor/);
    expect(stderr).toMatch(/captures\.ts:5:\d+\n/);
    expect(stderr).toContain('> 5 |     if (i < y.length) y[i] = factor * x[i]!;');
  });

  test('that reads out of range is shown at its own line', async () => {
    const module = moduleOf('range.ts', 'if (i < y.length) y[i] = x[i + 1]!;');
    const stderr = await fails(['run', module, good, out.file('y.npy')], 1, /^WS3001: .*`?x`?/);
    expect(stderr).toMatch(/range\.ts:5:\d+\n/);
    expect(stderr).toMatch(/thread \(\d+, 0, 0\) of block \(\d+, 0, 0\)/);
  });

  test('that deadlocks says who waits where', async () => {
    const module = moduleOf(
      'deadlock.ts',
      `const block = cuda.thisThreadBlock();
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
    if (block.threadRank() < 7) block.sync();
    else pipeline.consumerWait();
    if (i < y.length) y[i] = x[i]!;`,
    );
    const stderr = await fails(['run', module, good, out.file('y.npy')], 1, /^WS3002: /);
    expect(stderr).toMatch(/deadlock\.ts:[78]:\d+/);
  });
});

describe('Ctrl-C', () => {
  const forever = data.file(
    'forever.ts',
    `import { job, kernel } from 'warpstage';
export const forever = job({
  kernel: kernel({ y: 'i32[]', x: 'readonly i32[]' }, ({ y, x }) => {
    while (x[0] === x[0]) y[0] = y[0]! + 1;
  }),
  inputs: { x: {} },
  outputs: { y: {} },
});
`,
  );

  test('while the module keeps the main thread busy: the process ends as by any signal', async () => {
    const busy = data.file('busy.ts', "process.stdout.write('busy');\nfor (;;);\n");
    const child = start(['run', busy, 'a', 'b']);
    child.stdout!.once('data', () => child.kill('SIGINT'));
    const signal = await new Promise((done) => child.on('exit', (_, name) => done(name)));
    expect(signal).toBe('SIGINT');
  });

  test('while waiting for input: exit code 130, nothing left', async () => {
    const child = start(['run', affine, '-', out.file('y.npy'), '--chunk', '4K']);
    const ended = outcomeOf(child);
    child.stdin!.write(new Uint8Array(64 * 1024));
    while (out.list().length === 0) await new Promise((done) => setTimeout(done, 20));
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    expect({ code, left: out.list() }).toEqual({ code: 130, left: [] });
    expect(stderr).toMatch(/^WS5009: stopped before the end by Ctrl-C; nothing of the output is left$/m);
  });

  test('in the middle of a kernel that runs away: exit code 130, nothing left', async () => {
    const child = start(['run', forever, '-', out.file('y.raw')]);
    const ended = outcomeOf(child);
    child.stdin!.end(new Uint8Array(4096));
    while (out.list().length === 0) await new Promise((done) => setTimeout(done, 20));
    await new Promise((done) => setTimeout(done, 300));
    child.kill('SIGINT');
    expect({ code: (await ended).code, left: out.list() }).toEqual({ code: 130, left: [] });
  });
});

test('a reader of standard output that goes away ends the job without a word', async () => {
  const child = start([
    'run',
    affine,
    data.file('long.npy', npy(new Float32Array(4_000_000))),
    '-',
    '--chunk',
    '64K',
  ]);
  const ended = outcomeOf(child);
  child.stdout!.once('data', () => child.stdout!.destroy());
  const { code, stderr } = await ended;
  expect({ code, stderr }).toEqual({ code: 141, stderr: '' });
});

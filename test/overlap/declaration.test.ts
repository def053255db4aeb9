import { describe, expect, test } from 'vitest';
import { job, kernel, plan, run, sequence, WarpstageError } from 'warpstage';
import { affine } from './jobs.ts';

const schema = {
  y: 'f32[]',
  x: 'readonly f32[]',
  sums: 'f64[]',
  n: 'index',
  a: 'f32',
  size: 'constant index = 4',
} as const;
const whole = {
  kernel: kernel(schema, () => {}),
  inputs: { x: {} },
  outputs: { y: {} },
  accumulators: { sums: {} },
  settings: { a: 1 },
  rows: 'n',
};

const issuesOf = (make: () => unknown) => {
  try {
    make();
  } catch (error) {
    if (error instanceof WarpstageError) return error.issues;
    throw error;
  }
  return expect.fail('it was accepted');
};

test('a whole declaration is accepted', () => {
  expect(job(whole as never)).toMatchObject({ kind: 'job', name: 'kernel' });
  expect(job({ ...whole, name: 'mine' } as never).name).toBe('mine');
});

test('an array of several dimensions is refused, with what to declare and to write in the kernel', () => {
  const image = kernel({ y: 'f32[]', image: 'readonly f32[][]' }, () => {});
  expect(
    issuesOf(() => job({ kernel: image, inputs: { image: {} }, outputs: { y: {} } } as never)),
  ).toMatchObject([
    {
      message: expect.stringContaining('has 2 dimensions, and jobs stream rows one after the other'),
      hint: "declare it as 'readonly f32[]', and shape it in the kernel: image.shaped([rows, width])",
    },
  ]);
});

describe('the wrong field is named', () => {
  test.each([
    [{ kernel: 3 }, 'kernel of the job must be a kernel, and is 3', 'make it with kernel({ … }, …)'],
    [{ colour: 'red' }, 'colour of the job is no field of a job', 'the fields are name, description, kernel'],
    [
      { inputs: { z: {} } },
      'inputs.z of the job is no parameter of the kernel',
      'those that can stand here: y, x, sums',
    ],
    [{ inputs: { a: {} } }, 'inputs.a of the job is a scalar of the kernel', 'y, x, sums'],
    [
      { inputs: [] },
      'inputs of the job must be an object of parameter names, and is []',
      'write inputs: { y: {} }',
    ],
    [
      { inputs: ['x'] },
      "inputs of the job must be an object of parameter names, and is ['x']",
      'write inputs: { x: {} }',
    ],
    [
      { settings: 'a' },
      "settings of the job must be an object of parameter names, and is 'a'",
      'write settings: { a: 1 }',
    ],
    [{ output: { y: {} } }, 'output of the job is no field of a job', 'did you mean outputs? the fields are'],
    [
      { inputs: { x: { halo: 3 } } },
      'inputs.x.halo of the job must be two counts of rows, [before, after], and is 3',
      undefined,
    ],
    [{ inputs: { x: { halo: [1, -1] } } }, 'and is [1, -1]', undefined],
    [
      { inputs: { x: { edge: 'wrap' } } },
      "inputs.x.edge of the job must be one of 'zero', 'clamp', and is 'wrap'",
      undefined,
    ],
    [{ inputs: { x: { width: 0 } } }, 'inputs.x.width of the job must be a positive count', undefined],
    [
      { inputs: { x: { width: 'columns' } } },
      "inputs.x.width of the job must name a scalar of the kernel, and is 'columns'",
      'the scalars are n, a, size',
    ],
    [
      { inputs: { x: { stride: 2 } } },
      'inputs.x.stride of the job is unknown',
      'the fields are column, width, halo',
    ],
    [
      { inputs: { x: { convert: 'round' } } },
      "inputs.x.convert of the job must be one of 'exact', 'nearest'",
      undefined,
    ],
    [
      { outputs: { x: {} } },
      'outputs.x of the job is an array that the kernel only reads',
      'those that can stand here: y, sums',
    ],
    [
      { outputs: { y: { ratio: [1, 0] } } },
      'outputs.y.ratio of the job must be two positive counts of rows',
      'one row for each four of input is [1, 4]',
    ],
    [{ outputs: { y: 'all' } }, "outputs.y of the job must be an object, and is 'all'", undefined],
    [
      { outputs: { y: {}, sums: {} } },
      'accumulators.sums of the job is named in outputs already; a parameter has one role',
      undefined,
    ],
    [
      { accumulators: { sums: { length: -1 } } },
      'accumulators.sums.length of the job must be a positive count',
      undefined,
    ],
    [
      { accumulators: { sums: { per: 'thread' } } },
      "accumulators.sums.per of the job must be one of 'job', 'block'",
      undefined,
    ],
    [
      { accumulators: { sums: { combine: 'product' } } },
      "or a function (a, b) => number, and is 'product'",
      undefined,
    ],
    [
      { settings: { b: 1 } },
      'settings.b of the job is no parameter of the kernel',
      'those that can stand here: n, a, size',
    ],
    [
      { settings: { a: 'one' } },
      "settings.a of the job must be a number of type f32, and is the string 'one'",
      undefined,
    ],
    [
      { settings: { a: 1, size: { default: 1.5 } } },
      'settings.size.default of the job must be an integer from',
      undefined,
    ],
    [
      { settings: {} },
      "the job leaves out the kernel's parameter 'a'",
      'add a to settings, or name it as offset or rows',
    ],
    [
      { outputs: {} },
      "the job leaves out the kernel's parameter 'y'",
      'add y to inputs, outputs, accumulators or arrays',
    ],
    [
      { offset: 'size' },
      "offset of the job names 'size', which must be a number that changes",
      "declare it as 'index'",
    ],
    [{ offset: 'n' }, 'rows.n of the job is named in offset already', undefined],
    [
      { remainder: 'ignore' },
      "remainder of the job must be one of 'error', 'drop', 'partial', and is 'ignore'",
      undefined,
    ],
    [
      { launch: { block: 0 } },
      'launch.block of the job must be one to three positive counts, and is 0',
      undefined,
    ],
    [{ launch: { threads: 8 } }, 'launch.threads of the job is unknown', 'block, rowsPerThread, grid'],
    [{ finish: 1 }, 'finish of the job must be a function, and is 1', undefined],
    [
      { arrays: { y: new Int32Array(1) }, outputs: {} },
      "arrays.y of the job must be a Float32Array (the kernel's f32[]), and is Int32Array",
      undefined,
    ],
    [
      { arrays: { y: { operand: false } }, outputs: {} },
      'arrays.y of the job must be a typed array, a function that gives one, or { operand: true }',
      undefined,
    ],
  ])('%j', (changes, message, hint) => {
    const issues = issuesOf(() => job({ ...whole, ...changes } as never));
    expect(issues[0]!.code).toBe('WS5007');
    expect(issues.map((issue) => issue.message).join('\n')).toContain(message);
    if (hint !== undefined) expect(issues[0]!.hint).toContain(hint);
  });

  test('and all of them at once', () => {
    const issues = issuesOf(() =>
      job({ ...whole, remainder: 'x', offset: 'y', outputs: { q: {} } } as never),
    );
    expect(issues.map((issue) => issue.message)).toEqual([
      'outputs.q of the job is no parameter of the kernel',
      "offset of the job must name a scalar of the kernel, and is 'y'",
      "remainder of the job must be one of 'error', 'drop', 'partial', and is 'x'",
    ]);
  });

  test('what is no object at all', () => {
    expect(issuesOf(() => job(null as never))[0]!.message).toBe('the job must be an object, and is null');
  });

  test('a job that reads nothing, or gives nothing', () => {
    const one = kernel({ y: 'f32[]' }, () => {});
    expect(issuesOf(() => job({ kernel: one, inputs: {}, outputs: { y: {} } }))[0]!.message).toBe(
      'inputs of the job must name at least one array of the kernel',
    );
    expect(issuesOf(() => job({ kernel: one, inputs: { y: {} } }))[0]!.message).toMatch(
      'the job would give nothing',
    );
  });
});

describe('a sequence', () => {
  test('has jobs, of which only the last has outputs', () => {
    expect(issuesOf(() => sequence([affine, { job: affine, settings: () => ({}) }]))[0]).toMatchObject({
      code: 'WS5007',
      message: "pass 1 of the sequence, 'affine', has outputs; only the last pass may",
    });
    expect(issuesOf(() => sequence([affine, {}] as never))[0]!.message).toBe(
      'pass 2 of the sequence is no job',
    );
  });
});

test('only jobs run', async () => {
  await expect(run({} as never, { input: 'x' })).rejects.toThrow(
    'WS5007: run takes a job, and was given an object',
  );
});

test('of a kernel the job is shown that it could be, and a promise is to be awaited', async () => {
  const failing = (given: unknown) =>
    run(given as never, { input: 'x' }).catch((error: WarpstageError) => error);
  const axpb = affine.definition.kernel;
  expect(await failing(axpb)).toMatchObject({
    message: expect.stringContaining('WS5007: run takes a job, and was given a kernel'),
    hint: expect.stringMatching(
      /run\(job\({ kernel.*, inputs: { x: {} }, outputs: { y: {} }, settings: { a: {}/,
    ),
  });
  expect(await failing(Promise.resolve(affine))).toMatchObject({
    message: expect.stringContaining('was given a promise'),
    hint: 'wait for it: run(await job, { … })',
  });
});

test('only jobs are planned', async () => {
  await expect(plan({} as never, { input: 'x' })).rejects.toThrow(
    'WS5007: plan takes a job, and was given an object',
  );
});

test.each([
  ['no options', undefined, 'run takes a job and an object of options, and was given undefined'],
  [
    'a file in their place',
    'x.npy',
    "run takes a job and an object of options, and was given the string 'x.npy'",
  ],
  [
    'data in their place',
    new Float32Array(3),
    'run takes a job and an object of options, and was given a typed array of the host (Float32Array)',
  ],
  ['an option that there is not', { input: 'x', outptu: 'y' }, "run has no option 'outptu'"],
])('%s', async (_, options, message) => {
  await expect(run(affine, options as never)).rejects.toThrow(`WS4007: ${message}`);
});

test('a plan has options of its own', async () => {
  await expect(plan(affine, { input: 'x', rows: 3 } as never)).rejects.toThrow(
    "WS4007: plan has no option 'rows'",
  );
});

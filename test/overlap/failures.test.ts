// What cannot be run: wrong inputs, outputs and options. The error says which and why, and nothing is left
// behind, neither files nor memory on the device, which stays usable.

import { execFileSync } from 'node:child_process';
import { linkSync, symlinkSync } from 'node:fs';
import { parquetWriteFile } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { job, map, run } from 'warpstage';
import { affine, centred, groups, lookUp, statistics } from './jobs.ts';
import { expectFailure, npyFile } from './support.ts';
import { Untouched, x } from './untouched.ts';

const untouched = new Untouched();
const { at, attempt, given, keep } = untouched;

describe('inputs', () => {
  test.each([
    ['a file that is not there', () => at('z.npy'), 'WS5003', 'z.npy cannot be read: it does not exist'],
    ['a directory', () => untouched.directory, 'WS5003', 'cannot be read: it is a directory'],
    ['an empty .npy file', () => given('z.npy', ''), 'WS5003', 'z.npy is empty'],
    [
      'a truncated one',
      () => given('z.npy', npyFile({ shape: [4001], data: x })),
      'WS5003',
      'announces 16,004 bytes of data (shape (4001), f32), and 16,000',
    ],
    [
      'fortran order',
      () => given('z.npy', npyFile({ shape: [40, 100], fortran: true, data: x })),
      'WS5004',
      'column by column',
    ],
    [
      'big-endian',
      () => given('z.npy', npyFile({ descr: '>f4', shape: [4000], data: x })),
      'WS5004',
      'big-endian',
    ],
    [
      'another type',
      () => given('z.npy', npyFile({ descr: '<f8', shape: [2000], data: x })),
      'WS5005',
      'holds f64, and parameter',
    ],
    ['half an element', () => given('z.bin', new Uint8Array(4001)), 'WS5003', 'has 4,001 bytes'],
    ['no data', () => null as never, 'WS5005', 'an input cannot be read from null'],
    ['a number', () => 5 as never, 'WS5005', 'an input cannot be read from 5'],
    ['nothing', () => undefined as never, 'WS5005', 'no input is given, and the job reads x'],
    ['numbers', () => [1] as never, 'WS5005', 'an input cannot be read from 1'],
    ['another name', () => ({ z: at('x.bin') }), 'WS5005', 'input x is missing; the job reads x'],
    [
      'one too many by name',
      () => ({ x: at('x.bin'), z: at('x.bin') }),
      'WS5005',
      'there is no input z; the job reads x',
    ],
  ] as const)('%s', async (_, input, code, message) => {
    await expectFailure(attempt({ input: input() as never }), code, message);
  });

  test('numbers in a list belong into a typed array', async () => {
    const hint = 'put numbers into a typed array: Float32Array.of(1, 2, 3), or Float32Array.from(list)';
    const input = [1, 2, 3] as never;
    await expectFailure(attempt({ input }), 'WS5005', 'an input cannot be read from 1', hint);
  });

  test('a value in the middle that does not fit', async () => {
    const long = BigInt64Array.from({ length: 2000 }, (_, i) => (i === 1234 ? 2n ** 24n + 1n : BigInt(i)));
    const input = given('z.npy', npyFile({ descr: '<i8', shape: [2000], data: long }));
    await expectFailure(attempt({ input }), 'WS5005', 'element 1,234 is 16777217, which is no value of f32');
  });

  test('a stream that ends in an error, or within an element', async () => {
    const failing = async function* () {
      yield new Uint8Array(2000);
      throw new Error('the line is dead');
    };
    await expectFailure(attempt({ input: failing() }), 'WS5003', 'the line is dead');
    await expectFailure(
      attempt({ input: { stream: [new Uint8Array(2001)] } }),
      'WS5003',
      'no whole number of f32',
    );
  });

  test('columns that are absent, of text, or with nulls', async () => {
    const filename = at('t.parquet');
    parquetWriteFile({
      filename,
      columnData: [
        { name: 'a', data: [1, 2, null], type: 'INT32' },
        { name: 'b', data: ['p', 'q', 'r'], type: 'STRING' },
      ],
    });
    keep();
    const options = { input: filename, device: untouched.device };
    await expectFailure(
      run(statistics, options),
      'WS5005',
      /column 'a' of .*t.parquet has nulls/,
      'nulls: 0',
    );
    await expectFailure(attempt({ input: filename }), 'WS5005', "has no column 'x'", 'its columns are a, b');
  });

  test('inputs of different lengths, known before or found out', async () => {
    const input = [new Int32Array(10), new Float64Array(9)];
    await expectFailure(
      run(statistics, { input, device: untouched.device }),
      'WS5005',
      "the array given for 'a' has 10 rows, and the array given for 'b' has 9",
    );
    const streams = input.map((array) => ({ stream: [array] }));
    await expectFailure(
      run(statistics, { input: streams, device: untouched.device, chunk: 4 }),
      'WS5005',
      "the stream given for 'b' ends after 9 rows, and the stream given for 'a' has more",
    );
    await expectFailure(
      run(statistics, { input: at('x.bin'), device: untouched.device }),
      'WS5005',
      'the job reads 2 inputs (a, b), and 1 was given',
      'Parquet',
    );
  });

  test('rows that are not whole, or too many for a ratio', async () => {
    const pairs = groups(2, 1, 'error');
    const input = new Int32Array(9);
    await expectFailure(
      run(pairs, { input, device: untouched.device }),
      'WS5008',
      "setting 'width', the elements of a row, must be given",
    );
    await expectFailure(
      run(pairs, { input, device: untouched.device, settings: { width: 2 } }),
      'WS5005',
      'has 9 elements, which make no whole rows of 2',
    );
    await expectFailure(
      run(pairs, { input, device: untouched.device, settings: { width: 3 } }),
      'WS5005',
      "output 'sums' takes 2 rows of input at a time, and the input has 3 rows",
      "remainder: 'drop' or 'partial'",
    );
    const stream = { stream: [input] };
    await expectFailure(
      run(pairs, { input: stream, device: untouched.device, settings: { width: 3 } }),
      'WS5005',
      'the input has 3 rows',
    );
    await expectFailure(
      run(pairs, { input: stream, device: untouched.device, settings: { width: 2 } }),
      'WS5005',
      'its last row has 1 of 2 elements',
    );
  });

  test('rows of different widths', async () => {
    const table = given('table.npy', npyFile({ shape: [4, 2], data: new Float32Array(8) }));
    const input = [new Uint8Array(3), table];
    const wrong = run(lookUp, { input, device: untouched.device, settings: { columns: 4 } });
    await expectFailure(
      wrong,
      'WS5005',
      'has rows of 2 elements (shape (4, 2)), and the job takes rows of 4',
      'leave setting',
    );
  });

  test('a stream for a job of several passes', async () => {
    const input = { stream: [new Float64Array(4)] };
    const message = "input 'x' is a stream, which can be read once, and the job reads it 2 times";
    await expectFailure(
      run(centred, { input, device: untouched.device }),
      'WS5005',
      message,
      'save it to a file first',
    );
    execFileSync('mkfifo', [at('in')]);
    keep();
    await expectFailure(run(centred, { input: at('in'), device: untouched.device }), 'WS5005', message);
  });
});

describe('outputs', () => {
  const impossible: readonly (readonly [what: string, output: () => unknown, message: string])[] = [
    ['in no directory', () => at('no/y.npy'), 'cannot be written: its directory does not exist'],
    ['that is a directory', () => untouched.directory, 'it is a directory'],
    [
      'that is the input',
      () => at('x.npy'),
      'x.npy is an input of the job, and cannot be its output as well',
    ],
    ['on a full device', () => '/dev/full', '/dev/full cannot be written: no space is left'],
    ['of which there is one', () => [at('a.npy'), at('b.npy')], 'the job writes 1 (y), and 2 were given'],
    ['by another name', () => ({ z: at('z.npy') }), 'the job has no output z; its outputs are y'],
    [
      'in an array that is too short',
      () => new Float32Array(3999),
      "the array given for 'y' has 3,999 elements, and the output has more",
    ],
    [
      'in an array of another type',
      () => new Int32Array(4000),
      "the array given for 'y' is a Int32Array, and the kernel writes f32",
    ],
  ];
  test.each(impossible)('%s', async (_, output, message) => {
    await expectFailure(attempt({ output: output() as never }), 'WS5006', message);
  });

  test('that are the input by another path', async () => {
    symlinkSync(at('x.npy'), at('soft.npy'));
    linkSync(at('x.npy'), at('hard.npy'));
    keep();
    for (const name of ['soft.npy', 'hard.npy']) {
      await expectFailure(attempt({ output: at(name) }), 'WS5006', `${name} is an input of the job`);
    }
  });

  test('that are one file', async () => {
    const input = new Int32Array(4);
    const output = [at('z.bin'), at('z.bin')];
    const both = run(groups(2, 1, 'error'), {
      input,
      output,
      device: untouched.device,
      settings: { width: 1 },
    });
    await expectFailure(both, 'WS5006', 'z.bin is given for two outputs');
  });

  test('of which one cannot be written: none appears', async () => {
    const input = new Int32Array(400);
    const output = [at('z.bin'), '/dev/full'];
    const both = run(groups(2, 1, 'error'), {
      input,
      output,
      device: untouched.device,
      settings: { width: 1 },
      chunk: 10,
    });
    await expectFailure(both, 'WS5006', '/dev/full cannot be written');
  });

  test('of a job that has none', async () => {
    const output = at('z.npy');
    const none = run(statistics, {
      input: [new Int32Array(), new Float64Array()],
      output,
      device: untouched.device,
    });
    await expectFailure(none, 'WS5006', 'the job writes no output, and one was given');
  });
});

describe('options', () => {
  test.each([
    [{ chunk: 0 }, 'WS5008', 'a chunk must have at least one row, and is 0'],
    [{ chunk: '3 apples' }, 'WS5008', "is '3 apples'"],
    [{ depth: 0 }, 'WS5008', 'the depth must be a whole number from 1 to 64, and is 0'],
    [{ settings: { a: Number.NaN } }, 'WS5008', "setting 'a' is NaN, and must be a number"],
    [
      { settings: { a: true } },
      'WS5008',
      "setting 'a' must be a number of type f32, and is the boolean true",
    ],
    [{ settings: { b: 101 } }, 'WS5008', "setting 'b' is 101, and must be at most 100"],
    [{ settings: { b: -101 } }, 'WS5008', "setting 'b' is -101, and must be at least -100"],
    [{ settings: { c: 1 } }, 'WS5008', "the job has no setting 'c'"],
    [{ device: 'abacus' }, 'WS4003', "there is no device 'abacus'"],
  ])('%j', async (options, code, message) => {
    await expectFailure(attempt(options), code, message);
  });

  test('a setting that is an input, as its type says', async () => {
    const scaled = map({ y: 'f32', x: 'f32', gain: 'i32' }, ({ x, gain }) => x * gain);
    await expectFailure(
      run(scaled as never, { input: at('x.npy'), settings: { gain: 2 }, device: untouched.device }),
      'WS5008',
      "the job has no setting 'gain'",
      "gain is an input, with an element for each row; for one value of all rows declare gain: 'constant i32'",
    );
    await expectFailure(
      attempt({ settings: { x: 2 } }),
      'WS5008',
      "the job has no setting 'x'",
      "x is an input, with an element for each row; for one value of all rows declare x: 'constant f32'; its settings are a, b",
    );
    const settable = map({ y: 'f32', x: 'f32', gain: 'constant i32' }, ({ x, gain }) => x * gain);
    const { outputs } = await run(settable, {
      input: new Float32Array([1, 2]),
      settings: { gain: 2 },
      device: untouched.device,
    });
    expect([...outputs.y!]).toEqual([2, 4]);
  });

  test('a chunk of more than the memory of the device', async () => {
    const large = given('large.bin', new Uint8Array(12 << 20));
    await expectFailure(
      attempt({ input: large, chunk: '16MiB' }),
      'WS4001',
      /a chunk of 3,145,728 rows takes 25,165,824 bytes/,
    );
  });

  test('a setting that must be given', async () => {
    const wanting = job({ ...affine.definition, settings: { a: {}, b: 0 } } as never);
    await expectFailure(
      run(wanting, { input: at('x.npy'), device: untouched.device }),
      'WS5008',
      'setting a must be given',
      'pass it, for example settings: { a: 1 }, or give it a default in the job',
    );
  });
});

// Parquet on the command line: which column an input takes, and what nulls stand for.

import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, expect, test } from 'vitest';
import { Folder, readNpy, runHere } from './support.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const table = folder.file(
  'table.parquet',
  new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'speed', data: [1.5, 2.5, -3], type: 'FLOAT' },
        { name: 'height', data: [4, null, 6], type: 'FLOAT', nullable: true },
      ],
    }),
  ),
);

test('--column chooses the column of an input', async () => {
  const y = folder.file('y.npy');
  const { code, stderr } = await runHere(
    'run',
    'examples/affine.ts',
    table,
    y,
    '--column',
    'speed',
    '--set',
    'a=2',
    '-q',
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect([...readNpy(y)]).toEqual([3, 5, -6]);
});

test('a column that is not there is an error that lists those that are', async () => {
  const { code, stderr } = await runHere('run', 'examples/affine.ts', table, folder.file('none.npy'));
  expect(code).toBe(3);
  expect(stderr).toMatch(/^WS500\d: .*x/);
  expect(stderr).toMatch(/speed.*height/);
});

test('nulls are an error, unless --nulls says what they stand for', async () => {
  const refused = await runHere(
    'run',
    'examples/affine.ts',
    table,
    folder.file('none.npy'),
    '--column',
    'x=height',
  );
  expect(refused.code).toBe(3);
  expect(refused.stderr).toMatch(/^WS5005: .*null/);

  const y = folder.file('filled.npy');
  const argv = ['run', 'examples/affine.ts', table, y, '--column', 'x=height', '--nulls', '-1'];
  const { code, text, stderr } = await runHere(...argv, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect([...readNpy(y)]).toEqual([4, -1, 6]);
  expect(JSON.parse(text)).toMatchObject({ outputs: [y], report: { rows: 3, bytesOut: 12 } });
  expect(folder.list()).toEqual(['filled.npy', 'table.parquet', 'y.npy']);
});

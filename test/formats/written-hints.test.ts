// What the hints of files that are not read say to write in Python, written where Python has the packages: what it leaves
// is read.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { WarpstageError } from 'warpstage';
import { pythonText } from '#warpstage/formats/python-text.js';
import { readAll } from '../overlap/reading.ts';
import { npyFile, temporaryDirectory } from '../overlap/support.ts';

const python = process.env.WARPSTAGE_PYTHON ?? 'python3';

function ran(folder: string, text: string): string {
  const { status, stdout, stderr } = spawnSync(python, ['-c', text], { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

const hasPackages = (packages: string) =>
  spawnSync(python, ['-c', `import ${packages}`], { encoding: 'utf8' }).status === 0;

async function hintOf(path: string): Promise<string> {
  const error: WarpstageError = await readAll(path).then(
    () => expect.fail('it was read'),
    (reason) => reason,
  );
  return error.hint!;
}

const two = new Float32Array(2);
const fields = "{'descr': [('time', '<f8'), ('x', '<f4')], 'fortran_order': False, 'shape': (2,), }";
const titled =
  "{'descr': [(('seconds', 'time'), '<f8'), ('x', '<f4')], 'fortran_order': False, 'shape': (2,), }";

/** The file, what it holds, the code of its hint, the file that it leaves and of which type. */
const arrays: readonly [string, Buffer, string, 'f32' | 'f64'][] = [
  [
    'x.npy',
    npyFile({ descr: '<c8', shape: [1], data: two }),
    "convert it first: numpy.save(NAME, x.astype('<f4'))",
    'f32',
  ],
  [
    'x.npy',
    npyFile({ descr: '>f4', shape: [2], data: two }),
    "save it little-endian: numpy.save(NAME, x.astype('<f4'))",
    'f32',
  ],
  [
    "it's x.npy",
    npyFile({ shape: [2, 2], fortran: true, data: new Float32Array(4) }),
    'save it row by row: numpy.save(NAME, numpy.ascontiguousarray(x))',
    'f32',
  ],
  [
    'x.npy',
    npyFile({ header: fields, shape: [2], data: new Uint8Array(24) }),
    "save one field: numpy.save(NAME, x['time'])",
    'f64',
  ],
  [
    'x.npy',
    npyFile({ header: titled, shape: [2], data: new Uint8Array(24) }),
    "save one field: numpy.save(NAME, x['time'])",
    'f64',
  ],
];

describe.each(arrays)('%s of NumPy', (name, contents, expected, type) => {
  const given = () => {
    const path = join(temporaryDirectory(), name);
    writeFileSync(path, contents);
    return path;
  };

  test('has a hint', async () => {
    const path = given();
    expect(await hintOf(path)).toBe(expected.replace('NAME', () => pythonText(path)));
  });

  test.runIf(hasPackages('numpy'))('which mends it', async () => {
    const path = given();
    const [, code] = /: (.*)/.exec(await hintOf(path))!;
    ran(join(path, '..'), `import numpy; x = numpy.load(${pythonText(path)}); ${code}`);
    expect((await readAll(path, type)).values.length).toBeGreaterThan(0);
  });
});

/** The packages, what writes the file, the code of its hint, and the file that it leaves. */
const tables: readonly [string, string, string, string, string][] = [
  [
    'pandas, openpyxl',
    "it's.xlsx",
    'import pandas; pandas.DataFrame({"x": [1.5, 2.5]}).to_excel(NAME, index=False)',
    String.raw`save it as Parquet: pandas.read_excel(NAME).to_parquet('it\'s.parquet')`,
    "it's.parquet",
  ],
  [
    'pandas, pyarrow',
    'x.orc',
    'import pandas; pandas.DataFrame({"x": [1.5, 2.5]}).to_orc(NAME)',
    "save it as Parquet: pandas.read_orc(NAME).to_parquet('x.parquet')",
    'x.parquet',
  ],
  [
    'polars',
    'x.avro',
    'import polars; polars.DataFrame({"x": [1.5, 2.5]}).write_avro(NAME)',
    "save it as Parquet: polars.read_avro(NAME).write_parquet('x.parquet')",
    'x.parquet',
  ],
  [
    'pyarrow.feather',
    'x.dat',
    'import pyarrow.feather; pyarrow.feather.write_feather(pyarrow.table({"x": [1.5, 2.5]}), NAME, version=1)',
    "write it anew: pyarrow.feather.write_feather(pyarrow.feather.read_table(NAME), 'x.arrow')",
    'x.arrow',
  ],
];

describe.each(tables)('a file of %s', (packages, name, write, expected, left) => {
  const beginnings = { 'x.avro': 'Obj\x01', 'x.dat': 'FEA1' } as Readonly<Record<string, string>>;

  test('has a hint', async () => {
    const path = join(temporaryDirectory(), name);
    writeFileSync(path, `${beginnings[name] ?? ''}${' '.repeat(40)}`);
    const hint = await hintOf(path);
    expect(hint).toContain(`${expected.replace('NAME', () => pythonText(path))}; if it holds bare numbers`);
  });

  test.runIf(hasPackages(packages))('which makes one that is read', async () => {
    const path = join(temporaryDirectory(), name);
    ran(
      join(path, '..'),
      write.replace('NAME', () => pythonText(path)),
    );
    const [, code] = /: (.*); if it holds bare numbers/.exec(await hintOf(path))!;
    ran(join(path, '..'), `import ${packages}; ${code}`);
    expect((await readAll(join(path, '..', left), 'f64')).values).toEqual([1.5, 2.5]);
  });
});

test('what is no array is saved as one', async () => {
  const path = join(temporaryDirectory(), 'x.gguf');
  writeFileSync(path, 'GGUF');
  const hint = await hintOf(path);
  expect(hint).toContain("save what is to be read of it as .npy: numpy.save('x.npy', array)");
  if (!hasPackages('numpy')) return;
  ran(join(path, '..'), "import numpy; array = numpy.ones(3, 'f4'); numpy.save('x.npy', array)");
  expect((await readAll(join(path, '..', 'x.npy'))).values).toEqual([1, 1, 1]);
});

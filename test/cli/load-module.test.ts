// Loading the user's module: TypeScript and JavaScript, wherever the file lies, and what is said when it fails.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import ts from 'typescript';
import { afterAll, describe, expect, test } from 'vitest';
import * as warpstage from 'warpstage';
import { exportedKernels } from '#warpstage/cli/find-exports.js';
import { loadModule } from '#warpstage/cli/load-module.js';
import { runEverywhere } from '../support/everywhere.ts';

const folder = mkdtempSync(join(tmpdir(), 'warpstage-load-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

async function failure(path: string): Promise<warpstage.WarpstageError> {
  const error: unknown = await loadModule(path).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(warpstage.WarpstageError);
  return error as warpstage.WarpstageError;
}

const kernelText = `
  import { kernel } from 'warpstage';
  import { offset } from './offset';
  export const scale = kernel({ y: 'f32[]', a: 'f32' }, ({ y, a }) => { y[0] = a * y[0]! + 1; });
  export const shift: unknown = offset;
  export default scale;
  export const set = kernel({ y: 'i32[]' }, ({ y }) => { y[0] = 1; }, { name: 'one' });
`;

test('a TypeScript module outside any package uses this very warpstage, and imports without extensions', async () => {
  write('offset.ts', 'export const offset: number = 3;');
  const module = await loadModule(write('kernels.ts', kernelText));
  expect(module.exports.shift).toBe(3);
  const kernels = exportedKernels(module);
  expect([...kernels].map(([name, kernel]) => [name, kernel.name]).sort()).toEqual([
    ['scale', 'scale'],
    ['set', 'one'],
  ]);
});

test('a JavaScript module loads alike', async () => {
  const path = write(
    'plain.mjs',
    "import { WarpstageError } from 'warpstage';\nexport const Same = WarpstageError;\n",
  );
  expect((await loadModule(path)).exports.Same).toBe(warpstage.WarpstageError);
});

test('a module that is missing, or that is a folder, is named', async () => {
  write('scale.ts', '');
  const missing = await failure(join(folder, 'scale'));
  expect(missing.message).toContain('there is no module');
  expect(missing.hint).toMatch(/^did you mean .*scale\.ts\?$/);
  expect((await failure(folder)).message).toContain('is not a file');
});

test('a module that throws is shown at its own line', async () => {
  const path = write(
    'throws.ts',
    'const limit: number = 3;\n\nfunction check(n: number): void {\n' +
      "  if (n > limit) throw new RangeError(n + ' is too much');\n}\ncheck(4);\n",
  );
  const error = await failure(path);
  expect(error.code).toBe('WS5002');
  expect(error.issues[0]!.message).toBe(`${path} threw while it was loaded: RangeError: 4 is too much`);
  expect(error.issues[0]!.location).toMatchObject({ file: path, line: 4 });
  expect(error.message).toContain('> 4 |   if (n > limit) throw');
});

test('a module that does not parse is shown at its own line', async () => {
  const path = write('syntax.ts', 'export const a = 1;\nexport const b: number = = 3;\n');
  const error = await failure(path);
  expect(error.issues[0]!.message).toContain('could not be parsed: ');
  expect(error.issues[0]!.location).toMatchObject({ file: path, line: 2 });
});

test('an import that is not there is named, with what to do', async () => {
  const path = write('imports.ts', "import { x } from 'no-such-package';\nexport const y = x;\n");
  const error = await failure(path);
  expect(error.issues[0]!.message).toBe(`${path} imports no-such-package, which was not found`);
  expect(error.hint).toBe('install it: `npm install no-such-package`');
});

test('an error that warpstage raises while the module loads is passed on whole', async () => {
  const path = write(
    'schema.ts',
    "import { kernel } from 'warpstage';\nexport const k = kernel({ y: 'f33[]' as 'f32[]' }, () => {});\n",
  );
  expect((await failure(path)).code).toBe('WS1010');
});

test('a default export without another name is called after its module', async () => {
  const path = write(
    'lone.ts',
    "import { kernel } from 'warpstage';\nexport default kernel({ y: 'f32[]' }, () => {});\n",
  );
  expect([...exportedKernels(await loadModule(path)).values()].map((kernel) => kernel.name)).toEqual([
    'lone',
  ]);
});

describe('enums', () => {
  test('of the module are values in a kernel, others in what runs while it loads', async () => {
    write(
      'enums/modes.ts',
      'export enum Mode { Up = 2, Down }\nexport const enum Step { Small = 5, Large = 7 }\n',
    );
    const path = write(
      'enums/kernels.ts',
      `import { kernel } from 'warpstage';
import { Mode, Step } from './modes.ts';
export enum Width { Narrow = 3, Wide = Narrow * 2 }
const enum Mask { Low = (1 << 4) - 1, High, 'all bits' = ~0 }
export const sum: number = Mode.Down + Step.Large;
export const names = [Mode[2], Width[6]];
export const fill = kernel({ y: 'i32[]' }, ({ y }) => {
  y[0] = Width.Wide; y[1] = Mask.Low; y[2] = Mask['all bits'];
});
`,
    );
    const { exports } = await loadModule(path);
    expect(exports).toMatchObject({ sum: 10, names: ['Up', 'Wide'] });
    const fill = exports.fill as warpstage.Kernel;
    const result = runEverywhere(fill, { grid: 1, block: 1, arguments: { y: new Int32Array(3) } });
    expect(result.arguments.y).toEqual(new Int32Array([6, 15, -1]));
  });

  test('of another file stay on the host, as with tsx, and the error names the member to declare', async () => {
    write('enums/other.ts', 'export enum Mode { Up = 2, Down }\n');
    const path = write(
      'enums/imported.ts',
      `import { kernel } from 'warpstage';
import { Mode } from './other.ts';
export const fill = kernel({ y: 'i32[]' }, ({ y }) => { y[0] = Mode.Down; });
enum Here { forces = 'the loader' }
`,
    );
    const fill = (await loadModule(path)).exports.fill as warpstage.Kernel;
    const found = (() => {
      try {
        return runEverywhere(fill, { grid: 1, block: 1, arguments: { y: new Int32Array(1) } });
      } catch (error) {
        return error as warpstage.WarpstageError;
      }
    })();
    expect(found).toMatchObject({
      code: 'WS1002',
      hint: expect.stringMatching(/^objects stay on the host: add Down: /),
    });
    expect((found as warpstage.WarpstageError).issues[0]!.location).toMatchObject({
      file: path,
      line: 3,
      column: 64,
    });
  });

  test('are not taken for what hides them', async () => {
    const path = write(
      'enums/hidden.ts',
      `enum Mode { Up = 2 }
enum Made { Known = 1, Late = 'abc'.length, After = Known + 1 }
const read = (Mode: { Up: number }) => Mode.Up;
const object = { Mode: { Up: 9 } };
export const values = [read({ Up: 7 }), object.Mode.Up, Mode.Up, Made.Late, Made.After];
function inner() { enum Local { A = 4 } return Local.A; }
{ enum Mode { Up = 5 } values.push(Mode.Up, inner()); }
`,
    );
    expect((await loadModule(path)).exports.values).toEqual([7, 9, 2, 3, 2, 5, 4]);
  });

  test('have the values that TypeScript gives them, and none is left in a function', async () => {
    const operator = fc.constantFrom('+', '-', '*', '|', '&', '^', '<<', '>>', '>>>', '%');
    /** A member: counted, a number, or made of one before it. */
    const member = fc.oneof(
      fc.constant((at: number, before: string) => (at === 0 ? ' = 1' : before)),
      fc.integer({ min: -99, max: 99 }).map((value) => () => ` = ${value}`),
      fc
        .tuple(operator, fc.nat(9), fc.boolean(), fc.nat(40))
        .map(([sign, which, named, value]) => (at: number, _: string, name: string) => {
          if (at === 0) return ` = -(${value} ${sign} 3)`;
          const earlier = `m${which % at}`;
          return ` = ${named ? `${name}.${earlier}` : earlier} ${sign} ~${value}`;
        }),
    );
    const drawn = fc.sample(fc.array(member, { minLength: 1, maxLength: 6 }), { numRuns: 80, seed: 11 });
    const text = drawn.map((members, e) => {
      const list = members.map((write, at) => `m${at}${write(at, '', `E${e}`)}`);
      return `${e % 2 === 0 ? '' : 'const '}enum E${e} { ${list.join(', ')} }`;
    });
    const reads = drawn.flatMap((members, e) => members.map((_, at) => `() => E${e}.m${at}`));
    const source = `${text.join('\n')}\nexport const reads: (() => number)[] = [${reads.join(', ')}];\n`;
    const exports: { reads?: (() => number)[] } = {};
    new Function('exports', ts.transpile(source, { module: ts.ModuleKind.CommonJS }))(exports);
    const expected = exports.reads!.map((read) => read());

    const loaded = (await loadModule(write('enums/random.ts', source))).exports.reads as (() => number)[];
    expect(loaded.map((read) => read())).toEqual(expected);
    // A value that is no finite number (of a remainder by zero) stays a member.
    const left = loaded.filter((read, at) => Number.isFinite(expected[at]) && /E\d/.test(String(read)));
    expect(left.map(String)).toEqual([]);
  });
});

describe('the paths of the tsconfig.json above the module', () => {
  const importing = (name: string) =>
    `import { kernel } from 'warpstage';\nimport { offset } from '${name}';\n` +
    `export const found = offset;\nexport const k = kernel({ y: 'f32[]' }, ({ y }) => { y[0] = 1; });\n`;

  test.each([
    ['relative to it', { paths: { '@lib/*': ['./src/lib/*'] } }, '@lib/offset'],
    ['of one name', { paths: { '#offset': ['./src/lib/offset.ts'] } }, '#offset'],
    ['with a colon', { paths: { 'lib:*': ['./src/lib/*'] } }, 'lib:offset'],
    ['under @', { paths: { '@/*': ['./src/*'] } }, '@/lib/offset'],
    ['relative to baseUrl', { baseUrl: './src', paths: { '~/*': ['lib/*'] } }, '~/offset'],
    ['the second of which is there', { paths: { '$lib/*': ['./none/*', './src/lib/*'] } }, '$lib/offset'],
    ['or its baseUrl alone', { baseUrl: './src' }, 'lib/offset'],
    ['that take everything', { paths: { '*': ['./src/lib/*'] } }, 'offset'],
  ])('are followed: %s', async (what, compilerOptions, name) => {
    const project = `paths/${what.replaceAll(' ', '-')}`;
    write(
      `${project}/src/lib/offset.ts`,
      "import { kernel } from 'warpstage';\nexport const offset = [3, kernel];",
    );
    write(`${project}/base.json`, JSON.stringify({ compilerOptions }));
    write(`${project}/tsconfig.json`, '{ /* may hold comments */ "extends": "./base.json", }');
    const { exports } = await loadModule(write(`${project}/kernels/k.ts`, importing(name)));
    expect(exports.found).toEqual([3, warpstage.kernel]);
    expect(exports.k).toMatchObject({ kind: 'kernel' });
  });

  test('are said to be unreadable only where an import is not found', async () => {
    write('broken/tsconfig.json', '{ "extends": "no-such-config/tsconfig.json" }');
    write('broken/offset.ts', 'export enum Offset { Three = 3 }\nexport const offset = Offset.Three;');
    expect((await loadModule(write('broken/good.ts', importing('./offset.ts')))).exports.found).toBe(3);
    const error = await failure(write('broken/bad.ts', importing('@lib/offset')));
    expect(error.issues[0]!.message).toMatch(/tsconfig\.json could not be read, .*no-such-config/);
  });
});

test('a type may be imported without saying so, and what is missing and no type is named', async () => {
  write('types/shapes.ts', 'export interface Shape { n: number }\nexport const n = 4;');
  const path = write(
    'types/k.ts',
    "import { n, Shape } from './shapes.ts';\nimport { RunOptions } from 'warpstage';\n" +
      'export const shape: Shape = { n };\nexport const options: RunOptions = {};\n',
  );
  expect((await loadModule(path)).exports.shape).toEqual({ n: 4 });
  const wrong = write(
    'types/wrong.ts',
    "import { kernell } from 'warpstage';\nexport const k = kernell({}, () => {});\n",
  );
  expect((await failure(wrong)).issues[0]!.message).toContain('kernell');
  const schema = write(
    'types/schema.ts',
    "import { kernel, RunOptions } from 'warpstage';\nexport const o: RunOptions = {};\n" +
      "export const k = kernel({ y: 'f33[]' as 'f32[]' }, () => {});\n",
  );
  expect((await failure(schema)).code).toBe('WS1010');
});

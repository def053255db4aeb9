// The projects: what they consist of, how they are built and run, and what they must print.

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Runs a job and a launch, and shows where a mistake lies. */
const program = `import { job, kernel, open, run } from 'warpstage';

const axpb = kernel({ y: 'f32[]', x: 'readonly f32[]', a: 'f32', b: 'f32' }, ({ y, x, a, b }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length) y[i] = a * x[i]! + b;
});

const affine = job({ kernel: axpb, inputs: { x: {} }, outputs: { y: {} }, settings: { a: 1, b: 0 } });

async function main(): Promise<void> {
  const { outputs } = await run(affine, { input: Float32Array.from([0, 1, 2]), settings: { a: 2, b: 1 } });
  const device = await open('cpu');
  const data = device.alloc('f32', 2);
  const host = device.allocPinned('f32', 2);
  device.defaultStream.launch(axpb, { grid: 1, block: 32 }, { y: data, x: data, a: 0, b: 3 });
  device.defaultStream.memcpyAsync(host, data);
  await device.defaultStream.synchronize();
  await device.close();
  console.log('job ' + Array.from(outputs.y!).join() + ' launch ' + Array.from(host.array).join());
}

main();
`;
const expected = ['job 1,3,5 launch 3,3'];

/** The same program without its types. */
const javascript = program
  .replace(': Promise<void>', '')
  .replaceAll(']!', ']')
  .replace('outputs.y!', 'outputs.y');

const testFile = (runner) => `${runner}
import { run, WarpstageError } from 'warpstage';
import { expectClean } from 'warpstage/check';
import { affine, axpb, wild } from './affine';

test('runs', async () => {
  const { outputs } = await run(affine, { input: Float32Array.from([0, 1, 2]), settings: { a: 2, b: 1 } });
  expect(Array.from(outputs.y!)).toEqual([1, 3, 5]);
});

test('is clean', async () => {
  const shapes = { y: { length: 64 }, x: { length: 64 }, a: 1, b: 2 };
  await expectClean(axpb, { grid: 2, block: 32, arguments: shapes });
});

test('errors are of the package, and have a place', async () => {
  const failure: any = await run(wild, { input: Float32Array.from([0, 1, 2]) }).catch((error: unknown) => error);
  expect(failure instanceof WarpstageError).toBe(true);
  expect(failure.code).toBe('WS3001');
  expect(failure.issues[0].location.file).toMatch(/affine\\.ts$/);
  expect(failure.issues[0].location.line).toBe(12);
});
`;
const tested = `import { job, kernel } from 'warpstage';

export const axpb = kernel({ y: 'f32[]', x: 'readonly f32[]', a: 'f32', b: 'f32' }, ({ y, x, a, b }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < y.length) y[i] = a * x[i]! + b;
});

export const affine = job({ kernel: axpb, inputs: { x: {} }, outputs: { y: {} }, settings: { a: 1, b: 0 } });

export const wild = job({
  kernel: kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }) => {
    y[y.length] = x[0]!;
  }),
  inputs: { x: {} },
  outputs: { y: {} },
});
`;

const esm = { name: 'project', private: true, type: 'module' };
const commonJs = { name: 'project', private: true, type: 'commonjs' };
const compiler = (more) => ({
  compilerOptions: { strict: true, skipLibCheck: true, outDir: 'out', ...more },
});

/** An import that stays an import where a tool's own loader cannot find the tool. */
const tool = (name) => import(name);

const single = (format, extension) => (folder, away) =>
  cpSync(join(folder, `out/bundle.${extension}`), join(away, `bundle.${extension}`)) ?? format;

/** A bundle in both formats, run where there is no package beside it. */
function bundler(name, bundle) {
  return ['esm', 'cjs'].map((format) => {
    const extension = format === 'esm' ? 'mjs' : 'cjs';
    return {
      name: `${name}, one file, ${format}`,
      files: { 'package.json': esm, 'program.ts': program, 'program.js': javascript },
      steps: [
        (folder) => bundle(folder, format, join(folder, `out/bundle.${extension}`)),
        single(format, extension),
        ['node', '--away', `bundle.${extension}`],
      ],
      expected,
    };
  });
}

const esbuildWith = (more) => async (folder, format, outfile) => {
  const { build } = await tool('esbuild');
  const entryPoints = [join(folder, 'program.ts')];
  await build({ entryPoints, bundle: true, platform: 'node', format, outfile, logLevel: 'error', ...more });
};

async function rollupBundle(folder, format, file) {
  const { rollup } = await tool('rollup');
  const [{ default: resolve }, { default: commonjs }] = await Promise.all([
    tool('@rollup/plugin-node-resolve'),
    tool('@rollup/plugin-commonjs'),
  ]);
  const bundle = await rollup({
    input: join(folder, 'program.js'),
    plugins: [resolve({ preferBuiltins: true, exportConditions: ['node'] }), commonjs()],
    onwarn() {},
  });
  await bundle.write({ file, format, inlineDynamicImports: true });
}

async function viteBundle(folder, format, file) {
  const { build } = await tool('vite');
  const name = file.split('/').at(-1);
  await build({
    root: folder,
    logLevel: 'error',
    configFile: false,
    ssr: { noExternal: true },
    build: {
      ssr: 'program.ts',
      outDir: 'out',
      rollupOptions: { output: { format, entryFileNames: name, codeSplitting: false } },
    },
  });
}

async function webpackBundle(folder, format, file) {
  const { default: webpack } = await tool('webpack');
  const module = format === 'esm';
  const compiler = webpack({
    mode: 'production',
    target: 'node20',
    context: folder,
    entry: './program.js',
    experiments: { outputModule: module },
    output: { path: join(folder, 'out'), filename: file.split('/').at(-1), module },
    // Terser takes a minute for each, and does the same for both.
    optimization: { minimize: module },
    plugins: [new webpack.optimize.LimitChunkCountPlugin({ maxChunks: 1 })],
  });
  const stats = await new Promise((done, fail) =>
    compiler.run((error, made) => (error ? fail(error) : done(made))),
  );
  if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }));
}

/** README's first example, as it stands in the package. */
const readme = readFileSync(join(import.meta.dirname, 'work/node_modules/warpstage/README.md'), 'utf8');
const example = /^```ts\n(\/\/ affine\.ts\n[\s\S]*?)^```$/m.exec(readme)[1];
const printed = 'Float32Array(3) [ 2, 4, 6 ]';

/**
 * What a project says beside what `tsc --init` chose: everything checked, declarations that others can build upon, no
 * library of the DOM.
 */
const thorough = { declaration: true, composite: true, skipLibCheck: false, types: ['node'], outDir: 'out' };
const projectsOf = (version) => ({
  // From 5.9 on TypeScript chooses modules.
  'as it is': [version < 5.9 ? commonJs : esm, { outDir: 'out' }],
  node16: [esm, { ...thorough, module: 'node16', target: 'es2022', lib: ['es2022'] }],
  bundler: [esm, { ...thorough, module: 'esnext', target: 'es2022', lib: ['es2022'] }],
  ...(version < 6 && {
    // A program of ES5 needs the library of what it uses itself.
    node10: [commonJs, { ...thorough, module: 'commonjs', target: 'es5', lib: ['es2017'] }],
  }),
});

/** These read packages in every way that they know; of those between, what `tsc --init` alone chooses says enough. */
const wholly = ['5.4', '5.9', '6.0', '7.0'];

/** Projects made by `tsc --init` of each version. */
const compiled = ['5.4', '5.5', '5.6', '5.7', '5.8', '5.9', '6.0', '7.0'].flatMap((version) => {
  const tsc = ['node', join(import.meta.dirname, `node_modules/typescript-${version}/bin/tsc`)];
  const projects = Object.entries(projectsOf(Number(version)));
  return (wholly.includes(version) ? projects : projects.slice(0, 1)).map(
    ([resolution, [packageJson, options]]) => ({
      name: `tsc ${version} --init, ${resolution}`,
      files: {
        'package.json': packageJson,
        'affine.ts': example,
        'program.ts': program,
        'tsconfig.project.json': {
          extends: './tsconfig.json',
          compilerOptions: {
            ...options,
            ...(resolution !== 'as it is' && { moduleResolution: resolution }),
            ...(packageJson === commonJs && { verbatimModuleSyntax: false }),
          },
          files: ['affine.ts', 'program.ts'],
        },
      },
      steps: [
        [...tsc, '--init'],
        [...tsc, '-p', 'tsconfig.project.json'],
        ['node', 'out/affine.js'],
        ['node', 'out/program.js'],
      ],
      expected: [printed, ...expected],
    }),
  );
});

/** How fast this machine is does not matter here. */
const patience = ['--testTimeout=60000'];

const jest = (name, config, packageJson = commonJs) => ({
  name: `jest, ${name}`,
  files: {
    'package.json': { ...packageJson, jest: config },
    'babel.config.js': `module.exports = { presets: [['@babel/preset-env', { targets: { node: 'current' } }], '@babel/preset-typescript'] };`,
    'tsconfig.json': compiler({
      target: 'es2022',
      module: 'commonjs',
      moduleResolution: 'node10',
      types: ['node'],
    }),
    'affine.ts': tested,
    'affine.test.ts': testFile(`import { expect, test } from '@jest/globals';`),
  },
  steps: [['jest', '--runInBand', ...patience]],
  expected: ['Tests:       3 passed'],
});

const vitest = (pool) => ({
  name: `vitest, ${pool}`,
  files: {
    'package.json': esm,
    'vitest.config.mjs': `export default { test: { pool: '${pool}' } };`,
    'affine.ts': tested,
    'affine.test.ts': testFile(`import { expect, test } from 'vitest';`),
  },
  steps: [['vitest', 'run', ...patience]],
  expected: ['3 passed'],
});

/** As docs/tools.md recommends: kernels left out of the count. */
const covered = {
  name: 'vitest, coverage',
  files: {
    'package.json': esm,
    'vitest.config.mjs': `export default {
  test: { coverage: { enabled: true, provider: 'v8', include: ['affine.ts'], reporter: 'text' } },
};`,
    'affine.ts': tested
      .replace('export const axpb', '/* v8 ignore start -- @preserve */\n$&')
      .replace('export const affine', '/* v8 ignore stop -- @preserve */\n$&')
      .replace(
        'export const wild',
        'export const answer = () => 42;\n/* v8 ignore start -- @preserve */\n$&',
      ),
    'affine.test.ts': `import { expect, test } from 'vitest';
import { run } from 'warpstage';
import { affine, answer } from './affine';

test('runs', async () => {
  const { outputs } = await run(affine, { input: Float32Array.from([0, 1, 2]), settings: { a: 2, b: 1 } });
  expect([...outputs.y!, answer()]).toEqual([1, 3, 5, 42]);
});
`,
  },
  steps: [['vitest', 'run', ...patience]],
  expected: ['1 passed', 'affine.ts |     100 |      100 |     100 |     100'],
};

export const cases = [
  {
    name: 'create-warpstage, npm',
    files: { 'package.json': esm },
    steps: [
      ['create-warpstage', 'made', '--package', join(import.meta.dirname, 'warpstage.tgz')],
      ['npm', '--prefix', 'made', 'install', '--no-audit', '--no-fund'],
      ['npm', '--prefix', 'made', 'start'],
      ['npm', '--prefix', 'made', 'test'],
    ],
    expected: ['2 passed'],
  },
  ...['22', '24'].map((major) => ({
    name: `Node ${major}, types stripped`,
    files: { 'package.json': esm, 'program.ts': program },
    steps: [[`node-${major}/bin/node`, 'program.ts']],
    expected,
  })),
  ...[
    ['tsx, modules', esm],
    ['tsx, CommonJS', commonJs],
  ].map(([name, packageJson]) => ({
    name,
    files: { 'package.json': packageJson, 'program.ts': program },
    steps: [['tsx', 'program.ts']],
    expected,
  })),
  {
    name: 'Node, require()',
    files: {
      'package.json': commonJs,
      'program.js': javascript.replace(/^import (.*) from 'warpstage';/, "const $1 = require('warpstage');"),
    },
    steps: [['node', 'program.js']],
    expected,
  },
  ...compiled,
  ...bundler('esbuild', esbuildWith({})),
  ...bundler('esbuild minified', esbuildWith({ minify: true })),
  ...bundler('rollup', rollupBundle),
  ...bundler('vite', viteBundle),
  ...bundler('webpack', webpackBundle),
  {
    name: 'swc, CommonJS',
    files: { 'package.json': commonJs, 'program.ts': program },
    steps: [
      async (folder) => {
        const { default: swc } = await tool('@swc/core');
        const options = {
          module: { type: 'commonjs' },
          jsc: { parser: { syntax: 'typescript' }, target: 'es2017' },
        };
        const { code } = await swc.transform(readFileSync(join(folder, 'program.ts'), 'utf8'), options);
        writeFileSync(join(folder, 'program.js'), code);
      },
      ['node', 'program.js'],
    ],
    expected,
  },
  {
    name: 'babel, CommonJS',
    files: { 'package.json': commonJs, 'program.ts': program },
    steps: [
      async (folder) => {
        const { default: babel } = await tool('@babel/core');
        const presets = [['@babel/preset-env', { targets: { node: 'current' } }], '@babel/preset-typescript'];
        const { code } = await babel.transformFileAsync(join(folder, 'program.ts'), { cwd: folder, presets });
        writeFileSync(join(folder, 'program.js'), code);
      },
      ['node', 'program.js'],
    ],
    expected,
  },
  jest('babel', {}),
  jest('swc', {
    transform: { '\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }] },
  }),
  jest('ts-jest', { preset: 'ts-jest' }),
  vitest('forks'),
  vitest('threads'),
  vitest('vmThreads'),
  covered,
  {
    name: 'c8',
    files: { 'package.json': esm, 'program.js': javascript },
    steps: [['c8', '--reporter=text', 'node', 'program.js']],
    expected,
  },
  ...['bun', 'deno'].map((name) => ({
    name,
    files: { 'package.json': esm, 'program.ts': program },
    steps: [name === 'bun' ? ['bun', 'run', 'program.ts'] : ['deno', 'run', '-A', 'program.ts']],
    expected,
  })),
  {
    name: 'pnpm',
    files: { 'package.json': esm, 'program.ts': program, 'pnpm-workspace.yaml': 'packages: []\n' },
    steps: [
      ['pnpm', 'add', '--ignore-workspace', join(import.meta.dirname, 'warpstage.tgz')],
      ['node-24/bin/node', 'program.ts'],
    ],
    expected,
  },
  {
    name: 'yarn',
    files: { 'package.json': esm, 'program.ts': program },
    steps: [
      ['yarn', 'add', '--ignore-engines', `file:${join(import.meta.dirname, 'warpstage.tgz')}`],
      ['node-24/bin/node', 'program.ts'],
    ],
    expected,
  },
];

// The build: what the compiler makes of src/, and what is made of that.
//
//   build/**/*.js         a module for each source, as the compiler leaves it
//   build/**/*.text.js    programs as text: of the threads, and of the timeline's page, so that a bundle has them too
//   dist/**/*.js          the modules in a few files, without comments (chunks.mjs)
//   dist/cjs/             the package for require(), in one file: for Jest and for bundles; Node takes the modules
//   dist/types/           the public types in a few files, for import (.d.ts) and for require() (.d.cts)
//   dist/native/          the library of the thread that issues calls of NVIDIA's driver (native-libraries.mjs)
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { writeChunks } from './chunks.mjs';
import { writeNativeLibraries } from './native-libraries.mjs';
import { programTexts, readable, textConstant } from './program-texts.mjs';

const entries = { index: 'index', check: 'checker/index', host: 'host/index' };
/** What only modules take: its parser of TypeScript is one, which require() of Jest and bundles cannot load. */
const modulesOnly = { browser: 'browser', editor: 'checker/static/index' };
const typed = { ...entries, ...modulesOnly };
/** What the types need beside a project's own `lib`: any target's, and no DOM. */
const libraries = ['es2020', 'esnext.disposable'].map((lib) => `/// <reference lib="${lib}" />\n`).join('');

execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
});
removeLeftovers();
await Promise.all([writeTexts(), rollTypes()]);
await Promise.all([writeChunks('build', 'dist'), writeCommonJs()]);
writeNativeLibraries('dist/native', 'build');

/** Files under a folder with a certain ending, as paths without it. */
function stems(folder, ending) {
  return readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith(ending))
    .map((file) => file.slice(0, -ending.length));
}

/** Removes modules whose sources are no more. */
function removeLeftovers() {
  const sources = new Set(stems('src', '.ts'));
  for (const ending of ['.js', '.d.ts'])
    for (const stem of stems('build', ending))
      if (!sources.has(stem) && !sources.has(`${stem}.d`)) rmSync(join('build', `${stem}${ending}`));
}

async function writeTexts() {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  writeFileSync('build/diagnostics/version.text.js', textConstant('version', version));
  for (const { module, text } of await programTexts()) writeFileSync(`build/${module}.text.js`, text);
  writeFileSync('build/runtime/cpu/code-digest.text.js', textConstant('digest', digestOfCode()));
}

/** What all modules hash to: what one build has compiled is not another's. */
function digestOfCode() {
  const hash = createHash('sha256');
  for (const stem of stems('build', '.js').sort()) {
    if (stem.endsWith('.text')) continue;
    const code = readFileSync(join('build', `${stem}.js`));
    hash.update(`${stem}:${code.length}:`).update(code);
  }
  return hash.digest('hex').slice(0, 32);
}

/** One file for all entries, which share their state; each entry is a part of it. */
async function writeCommonJs() {
  const contents = Object.entries(entries)
    .map(([name, module]) => `export * as ${name} from './build/${module}.js';`)
    .join('\n');
  await build({
    ...readable,
    stdin: { contents, resolveDir: '.' },
    packages: 'external',
    format: 'cjs',
    outfile: 'dist/cjs/warpstage.cjs',
    define: { 'import.meta.url': 'moduleUrl' },
    banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
  });
  for (const name of Object.keys(entries))
    writeFileSync(`dist/cjs/${name}.cjs`, `module.exports = require('./warpstage.cjs').${name};\n`);
}

async function rollTypes() {
  const bundle = await rollup({
    input: Object.fromEntries(Object.entries(typed).map(([name, module]) => [name, `build/${module}.d.ts`])),
    external: /^node:/,
    plugins: [dts()],
  });
  const { output } = await bundle.generate({
    entryFileNames: '[name].d.ts',
    chunkFileNames: 'shared.d.ts',
    minifyInternalExports: false,
  });
  rmSync('dist/types', { recursive: true, force: true });
  mkdirSync('dist/types', { recursive: true });
  for (const { fileName, code } of output) {
    // Private names are of ES2015; who uses the types never sees them.
    const text = libraries + code.replaceAll(/^ +#private;\n/gm, '');
    writeFileSync(`dist/types/${fileName}`, text);
    const common = text.replaceAll(/(from '\.\/[^']+)\.js'/g, "$1.cjs'");
    writeFileSync(`dist/types/${fileName.replace('.d.ts', '.d.cts')}`, common);
  }
}

// The modules of the package in a few files, as they are published: a process opens ten files and not four hundred.
//
// A chunk has what its roots load with their first line, without what chunks before it have; some have only what their
// roots share with others. So no chunk imports from a later one. What is imported by a call later and belongs to no
// chunk of this list has one of its own.
//
//   dist/chunks/NAME.js       the code; NAME-portable.js the part of it that a browser loads too, where it is a part
//   dist/PATH.js              what the outside names: the entries of package.json, and files that threads start with
//   dist/internals/PATH.js    every module by its path, for tests alone; they run the code of the chunks
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build, transform } from 'esbuild';
import { rollup } from 'rollup';

/** Modules that act when they are loaded: no chunk may have them. */
const programs = ['cli/main', 'formats/decoding-thread'];
/** What has a file of its name in dist/. */
export const named = [
  'index',
  'browser',
  'checker/index',
  'host/index',
  'checker/static/index',
  'formats/arrow',
  'formats/csv',
  'formats/ndjson',
  'formats/parquet',
  'formats/tiff',
  'formats/zarr',
  ...programs,
];
/** What a browser loads: its chunks hold nothing of Node. */
const forBrowsers = ['browser', 'checker/index', 'diagnostics/problem'];

const command = ['cli/command-line'];
const compiler = ['compiler/specialise'];
const cpu = ['runtime/cpu/device', 'runtime/cpu/targets', 'runtime/cpu/threads'];
const late = ['runtime/cpu/late-compiler', 'runtime/cpu/kept-kernels'];
const wasm = ['targets/wasm/compile'];
const runners = ['targets/wasm/runner', 'runtime/cpu/calling-thread'];
const run = ['overlap/run', 'overlap/devices', 'overlap/journal/places', 'cli/write-whole', ...late];
const few = [
  'overlap/sinks/s3',
  'overlap/shards/cut-run',
  'overlap/shards/sink',
  'overlap/shards/object-sink',
  'overlap/journal/resume-run',
];
const checker = ['checker/index', 'checker/trace-stages'];
const cuda = ['runtime/cuda/device', 'runtime/cuda/warm-up', 'runtime/cuda/compiler', 'runtime/cuda/nvrtc'];
const model = ['runtime/model/device', 'runtime/model/find-model', 'runtime/model/calibrate'];

/** The chunks: a name, roots, and roots with which these must share what the chunk has. */
const chunks = [
  // Before Node is asked to keep what it compiles.
  ['start', ['cli/main']],
  // Runs in a browser, too.
  ['diagnostics', ['diagnostics/disposal', 'diagnostics/error', 'diagnostics/problem', 'diagnostics/source']],
  // A thread that decodes loads no more.
  ['formats', ['formats/registry', 'formats/open-file']],
  // What opens libraries is here for runs that need no driver.
  ['warpstage', ['index', 'runtime/cuda/library']],
  // A GPU's driver starts before anything else is loaded.
  ['driver', ['runtime/cuda/aside']],
  ['common', command, [...compiler, ...cpu, ...wasm, ...run, ...checker, ...cuda, ...model]],
  // A program, and the bundle that it is in, has nothing of the command.
  ['common-to-few', command, few],
  ['command', command],
  // A job whose kernel is kept needs no compiler.
  ['common', [...cpu, ...run], [...compiler, ...wasm]],
  ['compiler', compiler],
  // A GPU needs nothing of the CPU's device, nor of the interpreter.
  ['runtime', [...cuda, 'runtime/model/virtual'], [...cpu, ...run]],
  ['analysis', cuda, [...wasm, ...checker, ...runners]],
  ['cpu', cpu],
  ['run', run],
  // What few runs need.
  ['few-runs', few],
  ['wasm', wasm],
  ['interpreter', ['targets/interpreter/runner']],
  ['checker', checker],
  ['cuda', cuda],
  ['model', model],
  ['timeline', ['timeline/read-trace', 'cli/write-trace']],
  ['host', ['host/index']],
  ['queue', ['cli/run-queue', 'queue/worker', 'overlap/shards/reductions']],
  ['editor', ['checker/static/index']],
];

/** Writes the modules of the folder `from` into the folder `to`. */
export async function writeChunks(from, to) {
  const imports = await readImports(from);
  const published = reachable(imports, named, ['import-statement', 'dynamic-import']);
  const chunkOf = assignChunks(imports, published);
  const outputs = await bundle(from, published, chunkOf);
  for (const path of modulesIn(from)) {
    const file = `internals/${path}.js`;
    if (!published.has(path))
      outputs.set(file, await printed(readFileSync(join(from, `${path}.js`), 'utf8')));
    else if (!outputs.has(file)) {
      const own = outputs.has(`${path}.js`) ? path : `chunks/${chunkOf.get(path)}`;
      outputs.set(file, `export * from '${relative(dirname(file), `${own}.js`)}';\n`);
    }
  }
  for (const file of filesIn(to))
    if (!/^(cjs|types)\//.test(file) && !outputs.has(file)) rmSync(join(to, file));
  for (const [file, code] of outputs) writeIfChanged(join(to, file), code);
}

/** The files under a folder. */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
}

/** The modules under a folder, as paths without their ending. */
function modulesIn(folder) {
  return filesIn(folder)
    .filter((file) => file.endsWith('.js'))
    .map((file) => file.slice(0, -'.js'.length));
}

/** What each module imports of the others, and whether at once or by a call. */
async function readImports(folder) {
  const { metafile } = await build({
    entryPoints: modulesIn(folder).map((path) => join(folder, `${path}.js`)),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    outdir: folder,
    write: false,
    metafile: true,
    ignoreAnnotations: true,
    logLevel: 'warning',
  });
  const pathOf = (file) => relative(folder, file).slice(0, -'.js'.length);
  return new Map(
    Object.entries(metafile.inputs).map(([file, { imports }]) => [
      pathOf(file),
      imports.filter(({ external }) => !external).map(({ path, kind }) => ({ path: pathOf(path), kind })),
    ]),
  );
}

/** The modules that roots import, by certain kinds of imports; themselves among them. */
function reachable(imports, roots, kinds) {
  const found = new Set(roots);
  for (const path of found) {
    if (!imports.has(path)) throw new Error(`scripts/chunks.mjs names ${path}, and there is no such module`);
    for (const { path: next, kind } of imports.get(path)) if (kinds.includes(kind)) found.add(next);
  }
  return found;
}

/** The chunk of each module; none of a module that is a program. */
function assignChunks(imports, published) {
  const chunkOf = new Map();
  const loadedWith = (roots) => reachable(imports, roots, ['import-statement']);
  const inBrowsers = reachable(imports, forBrowsers, ['import-statement', 'dynamic-import']);
  const take = (name, roots, others) => {
    const shared = others && loadedWith(others);
    for (const path of loadedWith(roots))
      if (!chunkOf.has(path) && !programs.includes(path) && (!shared || shared.has(path)))
        chunkOf.set(path, inBrowsers.has(path) ? `${name}-portable` : name);
  };
  for (const chunk of chunks) take(...chunk);
  for (const path of published) if (!chunkOf.has(path)) take(path.replaceAll('/', '-'), [path]);
  // What is portable as a whole has the plain name.
  const used = new Set(chunkOf.values());
  for (const [path, name] of chunkOf) {
    const plain = name.replace(/-portable$/, '');
    if (!used.has(plain)) chunkOf.set(path, plain);
  }
  return chunkOf;
}

/** What Rollup makes: files of a few chunks, and one for each module, which exports what it exports. */
async function bundle(folder, published, chunkOf) {
  const pathOf = (id) => relative(folder, id).slice(0, -'.js'.length);
  const made = await rollup({
    input: Object.fromEntries([...published].map((path) => [path, join(folder, `${path}.js`)])),
    external: (id) => !/^[./]/.test(id),
    treeshake: false,
    onLog(_, { code, message }) {
      // Modules of types alone; and what TypeScript adds to import(variable).
      if (code !== 'EMPTY_BUNDLE' && code !== 'THIS_IS_UNDEFINED') throw new Error(message);
    },
  });
  const { output } = await made.generate({
    format: 'es',
    hoistTransitiveImports: false,
    minifyInternalExports: false,
    manualChunks: (id) => chunkOf.get(pathOf(id)),
    chunkFileNames: 'chunks/[name].js',
    entryFileNames({ name, moduleIds }) {
      if (named.includes(name)) return '[name].js';
      // Rollup takes a chunk itself for one of its modules, where that one exports all that is asked of the chunk.
      const chunk = moduleIds.length > 0 && chunkOf.get(pathOf(moduleIds[0]));
      return chunk ? `chunks/${chunk}.js` : 'internals/[name].js';
    },
  });
  const codes = new Map(output.map(({ fileName, code }) => [fileName, code]));
  const print = async ([file, code]) => [file, await printed(withoutInternals(file, code, codes))];
  return new Map(await Promise.all([...codes].map(print)));
}

/** What a file has to write for another. */
function pathBetween(file, other) {
  const path = relative(dirname(file), other);
  return path.startsWith('.') ? path : `./${path}`;
}

/** Code without its comments and indentation, which are a tenth of the package. Names and expressions stay as they are. */
async function printed(code) {
  const { code: text } = await transform(code, {
    format: 'esm',
    target: 'esnext',
    legalComments: 'none',
    minifyWhitespace: true,
  });
  return text;
}

/**
 * Code that imports from chunks alone. Rollup has a call of `import()` load the module's own file, for the names that it
 * exports; the chunk may call them otherwise.
 */
function withoutInternals(file, code, codes) {
  if (file.startsWith('internals/')) return code;
  return code.replaceAll(/import\('[./]+(internals\/[^']+)'\)/g, (_, path) => {
    const exported = [...codes.get(path).matchAll(/^export \{([^}]*)\} from '[./]+(chunks\/[^']+)';/gm)];
    const names = exported.map(([, list]) => list.split(',').map((name) => name.trim().split(' as ')));
    const imported = exported.map(([, , chunk]) => `import('${pathBetween(file, chunk)}')`);
    const taken = names.map((some) => `{ ${some.map(([name, as = name]) => `${name}: ${as}`)} }`);
    const given = names.flat().map((name) => name.at(-1));
    return `Promise.all([${imported}]).then(([${taken}]) => ({ ${given} }))`;
  });
}

/** So that what watches the files, and what has compiled them, sees what has changed. */
function writeIfChanged(file, text) {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

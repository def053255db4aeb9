// Makes the playground of playground/src and the built package: static files, which any server serves.
//
// usage: node playground/build.mjs [folder]
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { cudaForms } from '../build/kernel/forms-cuda.js';
import { memberForms } from '../build/kernel/forms-members.js';
import { leanSucrase } from './lean-sucrase.mjs';

const source = import.meta.dirname;

/** The names that the editor offers, as text of a module. */
function intrinsicsText() {
  const intrinsics = Object.entries({ ...cudaForms, ...memberForms }).map(([path, overloads]) => {
    const [object, name] = path.split('.');
    const operands = overloads === null ? '' : `(${Object.keys(overloads[0]).join(', ')})`;
    return { object, name, operands };
  });
  return `export const intrinsics = ${JSON.stringify(intrinsics)};`;
}

/** A module of the package, as the build leaves it; `warpstage` is what src/warpstage.ts takes of it. */
function moduleOf(name) {
  if (name === 'warpstage') return join(source, 'src/warpstage.ts');
  const path = name === 'warpstage/check' ? 'checker/index.js' : name.slice('#warpstage/'.length);
  return resolve(source, '../build', path);
}

/** The files, by their names. */
export async function buildPlayground() {
  const { outputFiles } = await build({
    entryPoints: {
      page: join(source, 'src/page.ts'),
      worker: join(source, 'src/worker.ts'),
      warpstage: join(source, 'src/warpstage.ts'),
      whole: 'build/browser.js',
      check: 'build/checker/index.js',
    },
    absWorkingDir: resolve(source, '..'),
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    platform: 'browser',
    format: 'esm',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    outdir: join(source, 'dist'),
    chunkNames: 'chunk-[hash]',
    tsconfigRaw: {},
    legalComments: 'none',
    // package.json says of the published files which have side effects, not of these.
    ignoreAnnotations: true,
    logLevel: 'warning',
    plugins: [
      leanSucrase,
      {
        name: 'intrinsics',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /intrinsics\.text\.js$/ }, () => ({ path: 'intrinsics', namespace: 'made' }));
          onLoad({ filter: /.*/, namespace: 'made' }, () => ({ contents: intrinsicsText(), loader: 'js' }));
          // The modules one by one, so that what is loaded later is no more than that.
          onResolve({ filter: /^#?warpstage(\/|$)/ }, ({ path }) => ({ path: moduleOf(path) }));
          // wabt is written for Node, too, and asks for it where it is.
          onResolve({ filter: /^(fs|path|crypto)$/ }, ({ path }) => ({ path, namespace: 'absent' }));
          onLoad({ filter: /.*/, namespace: 'absent' }, () => ({ contents: '', loader: 'js' }));
        },
      },
    ],
  });
  const files = new Map(
    outputFiles.map(({ path, text }) => [path.slice(source.length + '/dist/'.length), text]),
  );
  for (const name of ['index.html', 'page.css', 'service-worker.js'])
    files.set(name, readFileSync(join(source, 'src', name), 'utf8'));
  files.set('files.json', JSON.stringify([...files.keys()].filter((name) => name !== 'service-worker.js')));
  return files;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = process.argv[2] ?? join(source, 'dist');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of await buildPlayground()) writeFileSync(join(folder, name), text);
}

// The programs that the package holds as text: of the device's threads, of CUPTI's thread, and of the timeline's page.
//
// Each is one bundle, written as constants of a module. `replaced` puts other text in the place of modules
// by their absolute path: so a mutation of one module reaches the programs that contain it.

import { resolve } from 'node:path';
import { build } from 'esbuild';

/** `ignoreAnnotations`: package.json says of the published files which have side effects, not of the modules. */
export const silent = { logLevel: 'warning', legalComments: 'none', ignoreAnnotations: true };
export const readable = {
  ...silent,
  bundle: true,
  platform: 'node',
  minifySyntax: true,
  minifyWhitespace: true,
};

const thread = (module) => ({
  text: { ...readable, entryPoints: [`build/${module}.js`], format: 'cjs' },
});
const page = { bundle: true, minify: true };

/** What each module's constants are made of. */
const programs = {
  'runtime/cpu/worker': thread('runtime/cpu/worker'),
  'runtime/cpu/interpreting-worker': thread('runtime/cpu/interpreting-worker'),
  'runtime/cpu/web/worker': {
    text: {
      ...silent,
      ...page,
      platform: 'browser',
      entryPoints: ['build/runtime/cpu/web/worker.js'],
      format: 'iife',
    },
  },
  'runtime/cuda/cupti/thread': thread('runtime/cuda/cupti/thread'),
  'timeline/viewer': {
    script: {
      ...page,
      entryPoints: ['src/timeline/viewer/main.ts'],
      format: 'iife',
      target: 'es2022',
      tsconfigRaw: {},
    },
    style: {
      ...page,
      entryPoints: ['src/timeline/viewer/style.css'],
      target: ['chrome123', 'firefox120', 'safari17.5'],
    },
  },
};

function replacing(replaced) {
  return {
    name: 'replace modules',
    setup({ onLoad }) {
      onLoad({ filter: /\.[jt]s$/ }, ({ path }) => {
        const contents = replaced.get(path);
        return contents === undefined ? undefined : { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
      });
    },
  };
}

/** The modules with their constants as source text, and the absolute paths of what each contains. */
export async function programTexts(replaced = new Map(), only = Object.keys(programs)) {
  const texts = [];
  for (const module of only) {
    const lines = [];
    const inputs = new Set();
    for (const [name, options] of Object.entries(programs[module])) {
      const { outputFiles, metafile } = await build({
        ...silent,
        write: false,
        metafile: true,
        plugins: [replacing(replaced)],
        ...options,
      });
      lines.push(textConstant(name, outputFiles[0].text));
      for (const input of Object.keys(metafile.inputs)) inputs.add(resolve(input));
    }
    texts.push({ module, text: lines.join(''), inputs });
  }
  return texts;
}

/** A constant of such a module. */
export function textConstant(name, text) {
  return `export const ${name} = ${JSON.stringify(text)};\n`;
}

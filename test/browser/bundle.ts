// Programs bundled for a browser, as people's tools do it: by the condition `browser`, and with nothing left out.

import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The files of a program by their names, from `main.js`; what it loads later are others. Throws where something of Node is asked for. */
export async function bundleForBrowser(
  contents: string,
  options: BuildOptions = {},
): Promise<Map<string, string>> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: `${root}test/browser`, sourcefile: 'main.ts', loader: 'ts' },
    bundle: true,
    splitting: true,
    write: false,
    platform: 'browser',
    format: 'esm',
    outdir: `${root}out`,
    entryNames: 'main',
    chunkNames: '[name]-[hash]',
    tsconfigRaw: {},
    logLevel: 'silent',
    ...options,
  });
  return new Map(outputFiles!.map(({ path, text }) => [path.slice(`${root}out/`.length), text]));
}

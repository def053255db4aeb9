// Makes the script and the style of the timeline's page, each one file, beside the module that writes the page.
import { build } from 'esbuild';

const common = { bundle: true, minify: true, logLevel: 'warning' };
await build({
  ...common,
  entryPoints: ['src/timeline/viewer/main.ts'],
  outfile: 'dist/timeline/viewer.js',
  format: 'iife',
  target: 'es2022',
  tsconfigRaw: {},
});
await build({
  ...common,
  entryPoints: ['src/timeline/viewer/style.css'],
  outfile: 'dist/timeline/viewer.css',
  target: ['chrome123', 'firefox120', 'safari17.5'],
});

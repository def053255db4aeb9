// Errors in a browser: bundled for one, and run where there is nothing of Node.

import vm from 'node:vm';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

test('errors are made and rendered where nothing can be known of files', async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: `
        import { WarpstageError } from '#warpstage/diagnostics/error.js';
        import { createKernelSource, locationOf } from '#warpstage/diagnostics/source.js';
        const body = ({ y }) => {\n  y[0] = factor;\n};
        const source = createKernelSource(body, 'body');
        const start = source.text.indexOf('factor');
        const location = locationOf([source], { source: 0, start, end: start + 6 });
        globalThis.message = new WarpstageError({ code: 'WS1002', message: 'captured', location }).message;
      `,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    tsconfigRaw: {},
    logLevel: 'silent',
  });
  const context = vm.createContext({}) as { message?: string };
  vm.runInContext(outputFiles[0]!.text, context);
  expect(context.message?.split('\n').slice(0, 3)).toEqual([
    'WS1002: captured',
    '  line 2, column 12 of the function',
    '    1 | ({ y }) => {',
  ]);
});

// What throws inside warpstage while a kernel is compiled is reported like any other error, with its place.

import { afterEach, expect, test, vi } from 'vitest';
import { kernel, open, WarpstageError } from 'warpstage';
import { asDefect } from '#warpstage/compiler/defect.js';
import { Lowering } from '#warpstage/compiler/lowering.js';

afterEach(() => vi.restoreAllMocks());

const store = kernel(
  { out: 'i32[]' },
  ({ out }, cuda) => {
    const t = cuda.threadIdx.x;
    out[t] = 1;
  },
  { name: 'store' },
);

async function errorOfLaunch(): Promise<WarpstageError> {
  await using device = await open('cpu', { threads: 1 });
  const out = device.alloc('i32', 8);
  try {
    device.defaultStream.launch(store, { grid: 1, block: 8 }, { out });
  } catch (error) {
    if (error instanceof WarpstageError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

test('in the front end: at the statement', async () => {
  vi.spyOn(Lowering.prototype, 'effect').mockImplementation(() => {
    throw new TypeError('it has no kind');
  });
  const { issues, cause } = await errorOfLaunch();
  expect(issues).toMatchObject([{ code: 'WS1015' }]);
  const [{ message, location }] = issues as [(typeof issues)[number]];
  expect(message).toContain('TypeError: it has no kind');
  expect(location!.text.split('\n')[location!.line - 1]).toContain('out[t] = 1;');
  expect(cause).toBeInstanceOf(TypeError);
});

test('in what comes behind it: at the kernel', async () => {
  vi.spyOn(WebAssembly, 'Module').mockImplementation(function compile() {
    throw new WebAssembly.CompileError('type mismatch');
  });
  const { issues } = await errorOfLaunch();
  expect(issues).toMatchObject([{ code: 'WS1015' }]);
  const [{ message, location }] = issues as [(typeof issues)[number]];
  expect(message).toContain('`store`: CompileError: type mismatch');
  expect(location!.file).toMatch(/defect\.test/);
});

test('an error that is one of the kernel stays what it is', () => {
  const error = new WarpstageError({ code: 'WS1004', message: 'types' });
  expect(asDefect(error, { what: 'it', sources: [] })).toBe(error);
});

// docs/errors.md, run: the first example of each code gives that error, the second does not, and
// the error that the page begins with looks as it is shown.

import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import { transformSync } from 'esbuild';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ElementType } from 'warpstage';
import { type Device, deviceFunction, job, kernel, open, WarpstageError } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import type { Code } from '#warpstage/diagnostics/codes.js';
import type { Kernel } from '#warpstage/kernel/kernel.js';
import { parseSchema } from '#warpstage/kernel/parameters.js';

const page = readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8');
const sections = [...page.matchAll(/^### (WS\d+): .*\n([\s\S]*?)(?=^##)/gm)].map(([, code, body]) => ({
  code: code as Code,
  // An example of a command is not run, nor what mends it.
  examples: /^```(ts|sh)\n/m.exec(body!)?.[1] === 'ts' ? examplesIn(body!) : [],
}));

function examplesIn(body: string): string[] {
  return [...body.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, example]) => example!);
}

/** An example that takes long to fail, and one that needs a worker of its own to die. */
const untried: readonly Code[] = ['WS3007', 'WS3008'];
const tried = sections.filter(
  ({ code, examples }) => examples.length > 0 && !untried.includes(code) && !code.startsWith('WS7'),
);

const opened: Device[] = [];
async function openTracked(...[name, options]: Parameters<typeof open>): Promise<Device> {
  const device = await open(name, { threads: 1, ...options });
  opened.push(device);
  return device;
}

let names: Record<string, unknown>;
beforeEach(async () => {
  const options = { memory: 2 ** 22, target: 'interpreter' } as const;
  const [device, otherDevice] = [await openTracked('cpu', options), await openTracked('cpu', options)];
  const scale = kernel({ y: 'f32[]', a: 'f32' }, ({ y, a }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i]! *= a;
  });
  names = {
    ...{ kernel, deviceFunction, job, open: openTracked, device, otherDevice, scale },
    stream: device.createStream(),
    data: device.alloc('f32', 1024),
    host: new Float32Array(1024),
    start: device.createEvent(),
    stop: device.createEvent(),
  };
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((device) => device.close()));
});

/** Runs an example; launches the kernel that it declares last, if it launches none. */
async function run(example: string): Promise<void> {
  const { code } = transformSync(example.replaceAll(/^export /gm, ''), { loader: 'ts' });
  const last = [...example.matchAll(/^const (\w+) = kernel\(/gm)].at(-1)?.[1];
  const isWhole = last === undefined || /\b(stream\.|job\()/.test(code);
  const text = `async (${Object.keys(names).join(', ')}, launch) => {{
    ${code}
    ${isWhole ? '' : `launch(${last});`}
  }}`;
  const body = vm.runInThisContext(text) as (...values: unknown[]) => Promise<void>;
  const { device } = names as { device: Device };
  const launch = (one: Kernel) => {
    const given = parseSchema(one.schema).map((parameter): [string, unknown] => {
      if (parameter.kind === 'array')
        return [parameter.name, device.alloc(parameter.element as ElementType, 1024)];
      return [parameter.name, parameter.kind === 'scalar' ? 0 : undefined];
    });
    const args = Object.fromEntries(given.filter(([, value]) => value !== undefined));
    device.defaultStream.launch(one, { grid: 1, block: 64 }, args as never);
  };
  await body(...Object.values(names), launch);
  const synchronised = await Promise.allSettled(opened.map((one) => one.synchronize()));
  for (const one of synchronised) {
    // An example may have closed its device.
    if (one.status === 'rejected' && one.reason.code !== 'WS4006') throw one.reason;
  }
}

test.each(tried)('$code is what its example gives', async ({ code, examples: [wrong] }) => {
  const thrown = await run(wrong!).then(
    () => null,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(WarpstageError);
  expect(thrown).toMatchObject({ code, issues: [{ code }] });
});

const mended = tried.filter(({ examples }) => examples.length > 1);
test.each(mended)('$code is mended as the page says', async ({ examples: [, right] }) => {
  await run(right!);
});

test('the page begins with an error as it is', () => {
  const shown = /^```text\n([\s\S]*?)\n```/m.exec(page)![1];
  const script = `const scale = kernel({ y: 'f32[]' }, ({ y }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  y[i] = factor * y[i];
});
scale;
`;
  const context = vm.createContext({ kernel });
  const scale = vm.runInContext(script, context, { filename: '/home/me/scale.js' }) as Kernel;
  let message = '';
  try {
    specialise(scale, { block: [32, 1, 1], indexType: 'i32', constants: {}, functions: {} });
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).toBe(shown);
});

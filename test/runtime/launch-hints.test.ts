// What the hints of launches, copies and events say to write, written.

import { afterAll, beforeAll, test } from 'vitest';
import { type Device, deviceFunction, kernel, open, struct, tracePage } from 'warpstage';
import { check } from 'warpstage/check';
import { expectMended, hintsOf } from '../support/written-hints.ts';

const scale = kernel({ y: 'f32[]', a: 'f32' }, ({ y, a }, cuda) => {
  const t = cuda.thisGrid().threadRank();
  if (t < y.length) y[t]! *= a;
});

const fill = kernel({ image: 'f32[][]' }, ({ image }, cuda) => {
  image[0]![cuda.threadIdx.x] = 1;
});

const read = kernel({ x: 'readonly f32[]', move: 'f32x2' }, ({ x, move }, cuda) => {
  cuda.assert(x[0] !== move.x || x[0] === move.y);
});

const bounded = kernel(
  { y: 'f32[]' },
  ({ y }) => {
    y[0] = 1;
  },
  { launchBounds: { maxThreads: 32 } },
);

let device: Device;
beforeAll(async () => {
  device = await open('cpu', { target: 'interpreter' });
});
afterAll(() => device.close());

async function run(text: string): Promise<string | undefined> {
  const names = {
    device,
    stream: device.createStream(),
    data: new Float32Array(8),
    doubles: device.alloc('f64', 8),
    floats: device.alloc('f32', 8),
    image: device.alloc('f32', 8).shaped([2, 4]),
    scale,
    fill,
    read,
    bounded,
    kernel,
    struct,
    deviceFunction,
    open,
    tracePage,
    spans: [],
    check,
  };
  try {
    return await hintsOf(`${text}; await stream.synchronize();`, names);
  } finally {
    names.stream.destroy();
  }
}

const shape = '{ grid: 1, block: 4 }';

test.each([
  [
    `stream.launch(scale, ${shape}, { y: data, a: 2 })`,
    "copy the data to the device first: `const y = device.alloc('f32', 8)` and `stream.memcpyAsync(y, data)`",
    `«const y = device.alloc('f32', 8)»; «stream.memcpyAsync(y, data)»; stream.launch(scale, ${shape}, { y, a: 2 })`,
  ],
  [
    `stream.launch(scale, ${shape}, { y: doubles, a: 2 })`,
    "allocate it with device.alloc('f32', 8), or declare the parameter as 'f64[]'",
    `stream.launch(scale, ${shape}, { y: «device.alloc('f32', 8)», a: 2 })`,
  ],
  [
    `stream.launch(read, ${shape}, { x: doubles, move: { x: 1, y: 2 } })`,
    "allocate it with device.alloc('f32', 8), or declare the parameter as 'readonly f64[]'",
    `stream.launch(read, ${shape}, { x: «device.alloc('f32', 8)», move: { x: 1, y: 2 } })`,
  ],
  [
    `stream.launch(read, ${shape}, { x: floats, move: 3 })`,
    'pass { x: 0, y: 0 }',
    `stream.launch(read, ${shape}, { x: floats, move: «{ x: 0, y: 0 }» })`,
  ],
  [
    `const image = floats; stream.launch(fill, ${shape}, { image })`,
    'say how it is seen: `image.shaped([rows, columns])`',
    `const image = floats; const [rows, columns] = [2, 4]; stream.launch(fill, ${shape}, { image: «image.shaped([rows, columns])» })`,
  ],
  [
    `const y = image; stream.launch(scale, ${shape}, { y, a: 2 })`,
    'pass the array itself: `y.array`',
    `const y = image; stream.launch(scale, ${shape}, { y: «y.array», a: 2 })`,
  ],
  [
    `stream.launch(scale, ${shape}, { y: floats, b: 2 })`,
    'pass a value of type f32 as `a` in the third argument of launch\nits parameters are `y`, `a`',
    `stream.launch(scale, ${shape}, { y: floats, a: 2 })`,
  ],
  [
    'stream.launch(scale, { grid: 0.5, block: 4 }, { y: floats, a: 2 })',
    'write for example grid: Math.ceil(n / 256), or [x, y, z]',
    'const n = 8; stream.launch(scale, { «grid: Math.ceil(n / 256)», block: 4 }, { y: floats, a: 2 })',
  ],
  [
    'stream.launch(bounded, { grid: 1, block: 64 }, { y: floats })',
    'use smaller blocks and a larger grid, or give it launchBounds: { maxThreads: 64 }',
    'stream.launch({ ...bounded, «launchBounds: { maxThreads: 64 }» }, { grid: 1, block: 64 }, { y: floats })',
  ],
  [
    'stream.launch(scale, 4, { y: floats, a: 2 })',
    'write launch(kernel, { grid: Math.ceil(n / 256), block: 256 }, { … })',
    'const n = 8; stream.launch(scale, «{ grid: Math.ceil(n / 256), block: 256 }», { y: floats, a: 2 })',
  ],
  ['stream.record({})', 'make one with device.createEvent()', 'stream.record(«device.createEvent()»)'],
  [
    'const event = device.createEvent({ timing: false }); stream.record(event); await event.synchronize(); event.elapsedTime(event)',
    'create it with createEvent(), without { timing: false }',
    'const event = device.«createEvent()»; stream.record(event); await event.synchronize(); event.elapsedTime(event)',
  ],
  [
    'const event = device.createEvent(); stream.launchHostFunction(() => {}); stream.record(event); event.elapsedTime(event)',
    'wait for it first: await event.synchronize()',
    'const event = device.createEvent(); stream.launchHostFunction(() => {}); stream.record(event); «await event.synchronize()»; event.elapsedTime(event)',
  ],
  [
    'const event = device.createEvent(); event.elapsedTime(event)',
    'record both events in a stream: stream.record(event)',
    'const event = device.createEvent(); «stream.record(event)»; await event.synchronize(); event.elapsedTime(event)',
  ],
  [
    'stream.launchHostFunction(3)',
    'write for example stream.launchHostFunction(() => { … })',
    'stream.launchHostFunction(() => {})',
  ],
  [
    'stream.capture()',
    'write for example stream.capture(() => { stream.launch(…); })',
    `stream.capture(() => { stream.launch(scale, ${shape}, { y: floats, a: 2 }); })`,
  ],
  [
    'stream.launch(3, {}, {})',
    'make one with kernel({ … }, ({ … }, cuda) => { … })',
    `stream.launch(kernel({}, ({}, cuda) => {}), ${shape}, {})`,
  ],
  [
    `stream.launch(scale, { grid: 1, block: 4, signal: 3 }, { y: floats, a: 2 })`,
    'pass the `signal` of an AbortController, or AbortSignal.timeout(milliseconds)',
    `const milliseconds = 60_000; stream.launch(scale, { grid: 1, block: 4, signal: «AbortSignal.timeout(milliseconds)» }, { y: floats, a: 2 })`,
  ],
  [
    'kernel({}, 3)',
    "write kernel({ y: 'f32[]' }, ({ y }, cuda) => { … })",
    "kernel(«{ y: 'f32[]' }, ({ y }, cuda) => {» })",
  ],
  [
    'kernel({}, () => {}, { launchBounds: { minBlocks: -4 } })',
    'write for example launchBounds: { maxThreads: 256, minBlocks: 4 }',
    'kernel({}, () => {}, { «launchBounds: { maxThreads: 256, minBlocks: 4 }» })',
  ],
  [
    "kernel(['y'], () => {})",
    "write for example { y: 'f32[]', a: 'f32' }",
    "kernel(«{ y: 'f32[]', a: 'f32' }», () => {})",
  ],
  ['struct({})', "name one: struct({ start: 'i32' })", "«struct({ start: 'i32' })»"],
  [
    'floats.shaped(3)',
    'write array.shaped([rows, columns])',
    'const [array, rows, columns] = [floats, 2, 4]; «array.shaped([rows, columns])»',
  ],
  [
    "await open('gpu')",
    "the devices of this version are: 'cpu', 'cpu-native', and 'cuda' or 'cuda:0', 'cuda:1', … for an NVIDIA GPU, and 'model:h200' or 'model:my-device.json' for a virtual device",
    "await (await open(«'model:h200'»)).close()",
  ],
  [
    'stream.memsetAsync(data, 0)',
    "Use the typed array's own fill() for memory of the host.",
    'data.«fill(»0)',
  ],
  [
    'device.defaultStream.capture(() => {})',
    "capture a stream of your own, or open the device with { defaultStream: 'perThread' }",
    "const own = await open('cpu', { target: 'interpreter', ...«{ defaultStream: 'perThread' }» }); own.defaultStream.capture(() => {}); await own.close()",
  ],
  [
    'const event = device.createEvent(); const graph = stream.capture(() => { stream.record(event); }); graph.launch(stream); await event.synchronize()',
    'record an event after graph.launch(stream), and ask that one',
    'const event = device.createEvent(); const graph = stream.capture(() => {}); «graph.launch(stream)»; stream.record(event); await event.synchronize()',
  ],
  [
    "kernel({ y: 'f32[]', step: deviceFunction({ x: 'f32[1..2]' }, ({ x }) => x[0]) }, () => {})",
    "0 is the element itself: 'f32[-1..1]' has one neighbour on either side",
    "kernel({ y: 'f32[]', step: deviceFunction({ x: «'f32[-1..1]'» }, ({ x }) => x[0]) }, () => {})",
  ],
  [
    "struct({ start: 'number', count: 'i32' })",
    /^a field is .* f64, .*, or made by struct\(\)$/,
    "struct({ start: '«f64»', count: 'i32' }); struct({ start: «struct(»{ x: 'i32' }), count: 'i32' })",
  ],
  [
    "const nodes = struct({ start: 'i32' }); nodes.unpack(new Uint8Array(3))",
    'give the bytes of whole records: those of pack(), or of a copy from the device',
    "const nodes = struct({ start: 'i32' }); nodes.unpack(nodes.«pack(»[{ start: 3 }]))",
  ],
  [
    "device.compile('__global__ void scale(float *y) {}', { name: 'scale', schema: { y: 'f32[]' } })",
    "open('cuda'), or write the kernel in TypeScript: kernel(schema, ({ … }, cuda) => { … }) runs everywhere",
    "const schema = { y: 'f32[]' }; stream.launch(«kernel(schema, ({» y }, «cuda) => {» y[0] = 1; }), { grid: 1, block: 4 }, { y: floats })",
  ],
  [
    'const event = device.createEvent(); const graph = stream.capture(() => { stream.record(event); }); device.createStream().waitEvent(event)',
    'record an event after graph.launch(stream), and wait for that one',
    'const event = device.createEvent(); const graph = stream.capture(() => {}); «graph.launch(stream)»; stream.record(event); device.createStream().waitEvent(event)',
  ],
  [
    'stream.capture(() => { stream.query(); })',
    'synchronise after graph.launch(stream)',
    'const graph = stream.capture(() => {}); «graph.launch(stream)»; await stream.synchronize()',
  ],
  [
    'stream.capture(() => { device.defaultStream.memsetAsync(floats, 0); })',
    'use another stream, or capture a stream made with { nonBlocking: true }',
    'const own = device.createStream(«{ nonBlocking: true }»); own.capture(() => { device.defaultStream.memsetAsync(floats, 0); })',
  ],
  [
    "await open('model:h2000')",
    /^the virtual devices are (\w+, )+\w+, and any JSON file: 'model:my-device\.json'$/,
    "for (const name of ['h200', 'h100']) await (await open('model:' + name)).close()",
  ],
  [
    "tracePage({ title: 'my schedule', spans })",
    "write tracePage([{ title: 'my schedule', facts: {}, spans }])",
    "«tracePage([{ title: 'my schedule', facts: {}, spans }])»",
  ],
  [
    'check(scale)',
    'write check(scale, { grid: 2, block: 64, arguments: { y: { length: 100 } } })',
    "const scale = kernel({ y: 'f32[]' }, ({ y }, cuda) => { const t = cuda.thisGrid().threadRank(); if (t < y.length) y[t] = 1; }); «check(scale, { grid: 2, block: 64, arguments: { y: { length: 100 } } })»",
  ],
])('%s', (wrong, hint, mended) => expectMended(wrong, hint, mended, run));

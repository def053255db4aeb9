// Puzzles about the order of commands: what overlaps on which device.

import type { Puzzle } from './puzzle.ts';

const chunk = 1 << 15;

const program = (body: string) => `import { type Device, kernel } from 'warpstage';

const work = kernel({ x: 'f32[]' }, ({ x }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= x.length) return;
  let value = x[i]!;
  for (let round = 0; round < 16; ++round) value = value * 0.5 + 1;
  x[i] = value;
});

const chunk = ${chunk};
const launch = { grid: chunk / 256, block: 256 };

export async function schedule(device: Device, host = device.allocPinned('f32', 4 * chunk)) {
  const x = device.alloc('f32', 4 * chunk);
  const part = (array: typeof host, i: number) => array.subarray(i * chunk, (i + 1) * chunk);
  const of = (i: number) => x.subarray(i * chunk, (i + 1) * chunk);
${body}  await device.synchronize();
}
`;

const chunkByChunk = `  const streams = Array.from({ length: 4 }, () => device.createStream());
  for (const [i, stream] of streams.entries()) {
    stream.memcpyAsync(of(i), part(host, i));
    stream.launch(work, launch, { x: of(i) });
    stream.memcpyAsync(part(host, i), of(i));
  }
`;

const kindByKind = `  const streams = Array.from({ length: 4 }, () => device.createStream());
  for (const [i, stream] of streams.entries()) stream.memcpyAsync(of(i), part(host, i));
  for (const [i, stream] of streams.entries()) stream.launch(work, launch, { x: of(i) });
  for (const [i, stream] of streams.entries()) stream.memcpyAsync(part(host, i), of(i));
`;

const pageable = `  const list = Array.from({ length: 4 }, () => new Float32Array(chunk));
  const streams = Array.from({ length: 4 }, () => device.createStream());
  for (const [i, stream] of streams.entries()) {
    list[i]!.set(part(host, i).array);
    stream.memcpyAsync(of(i), list[i]!);
    stream.launch(work, launch, { x: of(i) });
    stream.memcpyAsync(part(host, i), of(i));
  }
`;

const oneStream = `  const stream = device.createStream();
  for (let i = 0; i < 4; ++i) {
    stream.memcpyAsync(of(i), part(host, i));
    stream.launch(work, launch, { x: of(i) });
    stream.memcpyAsync(part(host, i), of(i));
  }
`;

/** As the kernel rounds: to f32, after each operation. */
function becomes(value: number): number {
  for (let round = 0; round < 16; ++round) value = Math.fround(Math.fround(value * 0.5) + 1);
  return value;
}

export const schedulePuzzles: readonly Puzzle[] = [
  {
    name: 'streams',
    title: 'Streams overlap',
    task: 'Four chunks go in, through a kernel, and out. Let copies and kernels of different chunks run at the same time on a virtual H200, which has an engine for each direction.',
    hint: 'Commands of one stream run one after the other. Give each chunk a stream.',
    solution: program(chunkByChunk),
    gaps: [[chunkByChunk, oneStream]],
    mistakes: [
      { what: 'one stream for all', edits: [[chunkByChunk, oneStream]], says: 'ms' },
      {
        what: 'each chunk is waited for',
        edits: [
          [
            '    stream.memcpyAsync(part(host, i), of(i));\n',
            '    stream.memcpyAsync(part(host, i), of(i));\n    await stream.synchronize();\n',
          ],
        ],
        says: 'ms',
      },
      {
        what: 'the results stay on the device',
        edits: [['    stream.memcpyAsync(part(host, i), of(i));\n', '']],
        says: 'host[0] is',
      },
    ],
    goal: { kind: 'schedule', device: 'model:h200', milliseconds: 0.06, length: 4 * chunk, becomes },
  },
  {
    name: 'one-engine',
    title: 'One copy engine',
    task: 'A C1060 has one engine for copies of both directions, and it takes them in the order of issue. Overlap all the same.',
    hint: 'A copy out waits for its kernel, and what is issued behind it waits as well. Issue all copies in first, then all kernels, then all copies out.',
    solution: program(kindByKind),
    gaps: [[kindByKind, chunkByChunk]],
    mistakes: [
      { what: 'chunk after chunk', edits: [[kindByKind, chunkByChunk]], says: 'ms' },
      { what: 'one stream for all', edits: [[kindByKind, oneStream]], says: 'ms' },
    ],
    goal: { kind: 'schedule', device: 'model:c1060', milliseconds: 0.3, length: 4 * chunk, becomes },
  },
  {
    name: 'two-engines',
    title: 'Two copy engines, one queue',
    task: 'A C2050 has an engine for each direction, but hands kernels and copies out by one queue: a stream that waits there holds up those behind it. Which order of issue suits it?',
    hint: 'What suits the C1060 makes all copies out wait here. Issue chunk after chunk.',
    solution: program(chunkByChunk),
    gaps: [[chunkByChunk, kindByKind]],
    mistakes: [
      { what: 'kind after kind', edits: [[chunkByChunk, kindByKind]], says: 'ms' },
      { what: 'one stream for all', edits: [[chunkByChunk, oneStream]], says: 'ms' },
    ],
    goal: { kind: 'schedule', device: 'model:c2050', milliseconds: 0.18, length: 4 * chunk, becomes },
  },
  {
    name: 'pinned',
    title: 'Page-locked memory',
    task: 'The same on a virtual H200, from an ordinary array: such a copy goes through a buffer of the driver, and the host waits for it. Copy from where the copy engine can read by itself.',
    hint: 'host is page-locked (allocPinned). Its parts can be copied as they are.',
    solution: program(chunkByChunk),
    gaps: [[chunkByChunk, pageable]],
    mistakes: [
      { what: 'an ordinary array', edits: [[chunkByChunk, pageable]], says: 'ms' },
      { what: 'one stream for all', edits: [[chunkByChunk, oneStream]], says: 'ms' },
    ],
    goal: { kind: 'schedule', device: 'model:h200', milliseconds: 0.06, length: 4 * chunk, becomes },
  },
];

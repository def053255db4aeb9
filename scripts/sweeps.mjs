// Graphs of work of one kind each, behind a kernel that keeps the device busy while they are issued.

import { roundsOf } from './random-graphs.mjs';

const stream = { nonBlocking: true, priority: 0 };
const streamsOf = (count) => Array.from({ length: count }, () => stream);
const kernel = (name, blocks, threads, rounds = 1, more = {}) => ({
  do: 'kernel',
  kernel: name,
  blocks,
  threads,
  rounds,
  length: blocks * threads,
  stream: 0,
  ...more,
});

/** Keeps the device busy for about `microseconds`. */
const blocker = (microseconds) => kernel('chain', 132, 256, Math.round(microseconds * 200));

/** What one stream does, between two times. */
const between = (name, commands, busy = 100, streams = streamsOf(1)) => ({
  name,
  streams,
  commands: [blocker(busy), { do: 'start', stream: 0 }, ...commands, { do: 'stop', stream: 0 }],
});

/** What several streams do at once, from when the first begins to when the last has ended. */
function together(name, parts, busy = 100) {
  const streams = streamsOf(parts.length);
  const commands = [blocker(busy), { do: 'start', stream: 0 }, { do: 'record', stream: 0, event: 0 }];
  for (const [s] of parts.entries()) if (s > 0) commands.push({ do: 'wait', stream: s, event: 0 });
  const most = Math.max(...parts.map((part) => part.length));
  for (let i = 0; i < most; ++i)
    for (const [s, part] of parts.entries())
      if (part[i] !== undefined) commands.push({ ...part[i], stream: s });
  for (const [s] of parts.entries()) {
    if (s === 0) continue;
    commands.push({ do: 'record', stream: s, event: s }, { do: 'wait', stream: 0, event: s });
  }
  commands.push({ do: 'stop', stream: 0 });
  return { name, streams, commands };
}

const times = (count, command) => Array.from({ length: count }, () => command);

/** Single kernels, from one block to many waves. */
export function singleKernels() {
  const graphs = [];
  for (const name of Object.keys(roundsOf)) {
    const [least, most] = roundsOf[name];
    for (const threads of [32, 64, 256, 512, 1024]) {
      for (const blocks of [1, 4, 16, 66, 132, 133, 200, 264, 528, 1056, 1057, 1584, 2112, 4096, 8192]) {
        if (blocks * threads > 16 * 2 ** 20) continue;
        const busy = Math.max(1, (blocks * threads) / 2 ** 17);
        const several = [0, 0.35, 0.7, 1].map((part) => Math.round(least * (most / least) ** part));
        const rounds = new Set(
          several.map((count) => Math.max(least, Math.min(count, Math.round(most / busy)))),
        );
        for (const count of rounds) {
          const strides = name === 'strided' ? [1, 8, 64, 256] : [1];
          for (const stride of strides) {
            const length = blocks * threads * stride;
            if (length > 16 * 2 ** 20) continue;
            graphs.push(
              between(
                `${name} ${blocks}x${threads} rounds ${count}${stride > 1 ? ` stride ${stride}` : ''}`,
                [kernel(name, blocks, threads, count, { length })],
              ),
            );
          }
        }
      }
    }
  }
  return graphs;
}

const sizes = [4, 16, 64, 256, 1024, 4096, 16384, 65536].map((kib) => kib * 1024);

/** Copies and sets, one and several, alone and in both directions. */
export function copies() {
  const graphs = [];
  const kinds = {
    in: (bytes) => ({ do: 'in', bytes, stream: 0 }),
    out: (bytes) => ({ do: 'out', bytes, stream: 0 }),
    'pageable in': (bytes) => ({ do: 'in', bytes, stream: 0, pageable: true }),
    'pageable out': (bytes) => ({ do: 'out', bytes, stream: 0, pageable: true }),
    within: (bytes) => ({ do: 'within', bytes, stream: 0 }),
    set: (bytes) => ({ do: 'set', bytes, stream: 0 }),
  };
  for (const [name, make] of Object.entries(kinds))
    for (const bytes of sizes)
      for (const count of [1, 8])
        graphs.push(between(`${name} ${bytes / 1024} KiB, ${count}`, times(count, make(bytes)), 150));
  for (const bytes of sizes) {
    const [into, out] = [times(8, kinds.in(bytes)), times(8, kinds.out(bytes))];
    graphs.push(together(`in and out ${bytes / 1024} KiB`, [into, out], 150));
    graphs.push(together(`out and in ${bytes / 1024} KiB`, [out, into], 150));
    graphs.push(
      between(
        `in, out in turn ${bytes / 1024} KiB`,
        into.flatMap((one, i) => [one, out[i]]),
        150,
      ),
    );
    graphs.push(
      together(
        `in in 8 streams ${bytes / 1024} KiB`,
        Array.from({ length: 8 }, () => [into[0]]),
        150,
      ),
    );
    const busy = kernel('strided', 1056, 256, 1, { length: 16 * 2 ** 20 });
    const computing = kernel('parallel', 1056, 256, 20_000);
    graphs.push(together(`in beside memory ${bytes / 1024} KiB`, [into, times(4, busy)], 150));
    graphs.push(together(`in beside arithmetic ${bytes / 1024} KiB`, [into, [computing]], 150));
    graphs.push(together(`both beside memory ${bytes / 1024} KiB`, [into, out, times(4, busy)], 200));
    graphs.push(together(`both beside arithmetic ${bytes / 1024} KiB`, [into, out, [computing]], 200));
    graphs.push(
      together(`within beside arithmetic ${bytes / 1024} KiB`, [times(8, kinds.within(bytes)), [computing]]),
    );
    graphs.push(
      between(
        `set, kernel in turn ${bytes / 1024} KiB`,
        times(8, [kinds.set(bytes), kernel('each', 16, 256)]).flat(),
      ),
    );
  }
  return graphs;
}

/** Kernels of several streams at once, and many small ones. */
export function overlaps() {
  const graphs = [];
  const shapes = [
    ['chain', 16, 256, 10_000],
    ['chain', 132, 1024, 10_000],
    ['chain', 528, 256, 10_000],
    ['chain', 2112, 256, 3_000],
    ['parallel', 66, 256, 8_000],
    ['parallel', 1056, 256, 2_000],
    ['heavy', 64, 512, 100],
    ['heavy', 2112, 256, 30],
    ['tile', 132, 256, 500],
    ['walk', 132, 256, 100],
    ['walk', 1056, 256, 50],
    ['strided', 16, 256, 1, 256],
    ['strided', 132, 512, 1, 128],
    ['each', 8192, 256, 1],
  ].map(([name, blocks, threads, rounds, stride = 1]) => ({
    name: `${name} ${blocks}x${threads}`,
    one: kernel(name, blocks, threads, rounds, { length: blocks * threads * stride }),
  }));
  for (const [i, a] of shapes.entries())
    for (const b of shapes.slice(i)) graphs.push(together(`${a.name} beside ${b.name}`, [[a.one], [b.one]]));
  for (const count of [2, 4, 8, 16, 24, 32]) {
    for (const [name, blocks, threads, rounds] of [
      ['chain', 1, 256, 5000],
      ['chain', 16, 256, 5000],
      ['chain', 16, 1024, 5000],
      ['chain', 100, 256, 5000],
      ['parallel', 16, 256, 2000],
      ['each', 16, 256, 1],
    ])
      graphs.push(
        together(
          `${count} streams of 4 ${name} ${blocks}x${threads}`,
          Array.from({ length: count }, () => times(4, kernel(name, blocks, threads, rounds))),
          200 + 20 * count,
        ),
      );
  }
  for (const [name, blocks, rounds] of [
    ['each', 1, 1],
    ['each', 16, 1],
    ['each', 1056, 1],
    ['chain', 16, 500],
    ['chain', 16, 2500],
  ])
    graphs.push(between(`16 of ${name} ${blocks}x256`, times(16, kernel(name, blocks, 256, rounds)), 150));
  return graphs;
}

/** What the host's pace decides, graphs and functions of the host. */
export function issued() {
  const graphs = [];
  const free = (name, commands, count = 1) => ({
    name,
    streams: streamsOf(count),
    commands: [{ do: 'start', stream: 0 }, ...commands, { do: 'stop', stream: 0 }],
  });
  const small = kernel('each', 16, 256);
  graphs.push(free('500 launches', times(500, small)));
  graphs.push(
    free(
      '500 launches, others',
      Array.from({ length: 500 }, (_, i) => ({ ...small, rounds: 1 + i })),
    ),
  );
  graphs.push(free('500 copies in', times(500, { do: 'in', stream: 0, bytes: 4096 })));
  graphs.push(free('500 copies out', times(500, { do: 'out', stream: 0, bytes: 4096 })));
  graphs.push(free('500 pageable in', times(500, { do: 'in', stream: 0, bytes: 4096, pageable: true })));
  graphs.push(free('500 pageable out', times(500, { do: 'out', stream: 0, bytes: 4096, pageable: true })));
  graphs.push(free('500 sets', times(500, { do: 'set', stream: 0, bytes: 4096 })));
  graphs.push(free('500 within', times(500, { do: 'within', stream: 0, bytes: 4096 })));
  graphs.push(
    free(
      'chain of events',
      Array.from({ length: 200 }, (_, i) => [
        { ...small, stream: i % 4 },
        { do: 'record', stream: i % 4, event: i },
        { do: 'wait', stream: (i + 1) % 4, event: i },
      ]).flat(),
      4,
    ),
  );
  const behind = [{ ...kernel('chain', 132, 256, 60_000) }];
  graphs.push(
    free(
      'hop',
      [
        ...behind,
        ...Array.from({ length: 32 }, (_, i) => [
          { ...small, stream: i % 4 },
          { do: 'record', stream: i % 4, event: i },
          { do: 'wait', stream: (i + 1) % 4, event: i },
        ]).flat(),
      ],
      4,
    ),
  );
  graphs.push(
    free('chain of functions', times(16, [kernel('chain', 16, 256, 5000), { do: 'call', stream: 0 }]).flat()),
  );
  const nodes = times(16, kernel('chain', 16, 256, 500));
  graphs.push(free('graph, 16 kernels', times(10, { do: 'graph', stream: 0, nodes })));
  const mixed = [
    { do: 'in', stream: 0, bytes: 65536 },
    kernel('chain', 16, 256, 500),
    { do: 'out', stream: 0, bytes: 65536 },
  ];
  graphs.push(free('graph, copies', times(10, { do: 'graph', stream: 0, nodes: times(5, mixed).flat() })));
  const ranked = (low, high) => ({
    name: `priorities ${low} ${high}`,
    streams: [
      { nonBlocking: true, priority: 0 },
      { nonBlocking: true, priority: low },
      { nonBlocking: true, priority: high },
    ],
    commands: [
      kernel('chain', 132, 256, 20_000),
      { do: 'record', stream: 0, event: 0 },
      { do: 'wait', stream: 1, event: 0 },
      { do: 'wait', stream: 2, event: 0 },
      { ...kernel('chain', 8192, 1024, 500), stream: 1 },
      { do: 'start', stream: 2 },
      ...times(4, { ...kernel('chain', 264, 256, 2000), stream: 2 }),
      { do: 'stop', stream: 2 },
    ],
  });
  graphs.push(ranked(0, 0), ranked(0, -2));
  return graphs;
}

export const sweeps = { issued, overlaps, copies, singleKernels };

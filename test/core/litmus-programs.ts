// The litmus programs: each a rule of the hardware that lowerings must keep, and what it shows.
//
// Where several verdicts are given, a schedule shows one of them; a racing program may end in
// more than one way.

import type { Program, Statement } from '#warpstage/compiler/ir.js';
import { add, atomic, compare, core, leave, load, loop, store, subtract, when } from '../support/ir.ts';
import { Litmus, threads, type Verdict } from './litmus.ts';

export interface LitmusProgram {
  readonly name: string;
  readonly verdicts: readonly Verdict[];
  readonly program: Program;
  /** What a clean program gives. */
  readonly out?: readonly number[];
}

const programs: LitmusProgram[] = [];
const each = (value: (t: number) => number) => Array.from({ length: threads }, (_, t) => value(t));
const other = (t: number) => threads - 1 - t;

function litmus(
  name: string,
  verdicts: Verdict | readonly Verdict[],
  write: (l: Litmus) => readonly Statement[],
  out?: readonly number[],
): void {
  const l = new Litmus();
  programs.push({
    name,
    verdicts: typeof verdicts === 'string' ? [verdicts] : verdicts,
    program: l.build(...write(l)),
    ...(out === undefined ? {} : { out }),
  });
}

const half = threads / 2;
const bytes = 4 * threads;

// Arrivals

litmus(
  'a message by an arrival that releases',
  'clean',
  (l) => {
    const f = l.mbarrier(1);
    return [
      l.thread(0, l.set(l.constant(1), l.n(0)), l.arrive(f)),
      l.thread(1, l.wait(f, 0), l.r.set(load(l.s, l.n(0)))),
    ];
  },
  each((t) => (t === 1 ? 1 : 0)),
);

litmus('a message by a relaxed arrival', 'race', (l) => {
  const f = l.mbarrier(1);
  return [
    l.thread(0, l.set(l.constant(1), l.n(0)), l.arrive(f, { order: 'relaxed' })),
    l.thread(1, l.wait(f, 0), l.r.set(load(l.s, l.n(0)))),
  ];
});

litmus("one thread's arrival for what all stored", 'race', (l) => {
  const f = l.mbarrier(1);
  return [l.sync(), l.set(), l.thread(0, l.arrive(f)), l.wait(f, 0), l.readOther()];
});

litmus(
  'the same behind a block barrier',
  'clean',
  (l) => {
    const f = l.mbarrier(1);
    return [l.sync(), l.set(), l.sync(), l.thread(0, l.arrive(f)), l.wait(f, 0), l.readOther()];
  },
  each(other),
);

litmus(
  'the same with an arrival of every thread',
  'clean',
  (l) => {
    const f = l.mbarrier(threads);
    return [l.sync(), l.set(), l.arrive(f), l.wait(f, 0), l.readOther()];
  },
  each(other),
);

litmus('a stage half copied and half stored, with one arrival', 'race', (l) => {
  const f = l.mbarrier(1);
  return [
    l.sync(),
    l.thread(0, l.bulk(f, 0, half), l.arriveExpecting(f, 4 * half)),
    when(compare('greaterEqual', l.t, l.n(half)), [l.set(l.constant(-1))]),
    l.wait(f, 0),
    l.readOther(),
  ];
});

litmus(
  'a stage half copied and half stored, with an arrival of every thread',
  'clean',
  (l) => {
    const f = l.mbarrier(threads);
    return [
      l.sync(),
      when(
        l.is(0),
        [l.bulk(f, 0, half), l.arriveExpecting(f, 4 * half)],
        [when(compare('greaterEqual', l.t, l.n(half)), [l.set(l.constant(-1))]), l.arrive(f)],
      ),
      l.wait(f, 0),
      l.readOther(),
    ];
  },
  each((t) => (other(t) < half ? 100 + other(t) : -1)),
);

/** Four turns of a ring with two stages in flight; a block barrier in the turns that `syncs` names. */
function ring(l: Litmus, syncs: (turn: number) => boolean): Statement[] {
  const stages = Array.from({ length: 4 }, (_, i) => l.mbarrier(1, `f${i}`));
  const fill = (batch: number): Statement[] => [
    l.thread(0, l.bulk(stages[batch % 4]!, 8 * (batch % 4), 8), l.arriveExpecting(stages[batch % 4]!, 32)),
  ];
  const turn = (c: number): Statement[] => [
    l.wait(stages[c % 4]!, Math.floor(c / 4)),
    l.r.set(load(l.s, add(l.n(8 * (c % 4)), l.t))),
    store(l.g, add(l.n(threads * c), l.t), l.constant(c + 1)),
    ...(c === 0 ? [] : [l.q.set(load(l.g, add(l.n(threads * (c - 1)), subtract(l.n(threads - 1), l.t))))]),
    ...(syncs(c) ? [l.sync()] : []),
    ...(c + 2 < 4 ? fill(c + 2) : []),
  ];
  return [...fill(0), ...fill(1), ...[0, 1, 2, 3].flatMap(turn)];
}

litmus('a block barrier left out in every other turn', 'race', (l) => ring(l, (turn) => turn % 2 === 0));
litmus('a block barrier in every turn', 'clean', (l) => ring(l, () => true));

// The proxies

litmus('stores, and then a bulk copy over them', 'race', (l) => {
  const f = l.mbarrier(1);
  return [
    l.set(l.constant(-1)),
    l.sync(),
    l.thread(0, l.bulk(f, 0, threads), l.arriveExpecting(f, bytes)),
    l.wait(f, 0),
    l.readOwn(),
  ];
});

litmus(
  'the same with a fence of those who store',
  'clean',
  (l) => {
    const f = l.mbarrier(1);
    return [
      l.set(l.constant(-1)),
      l.fence(),
      l.sync(),
      l.thread(0, l.bulk(f, 0, threads), l.arriveExpecting(f, bytes)),
      l.wait(f, 0),
      l.readOwn(),
    ];
  },
  each((t) => 100 + t),
);

litmus('the same with a fence of the one that copies', 'clean', (l) => {
  const f = l.mbarrier(1);
  return [
    l.set(l.constant(-1)),
    l.sync(),
    l.thread(0, l.fence(), l.bulk(f, 0, threads), l.arriveExpecting(f, bytes)),
    l.wait(f, 0),
    l.readOwn(),
  ];
});

litmus('the same with the fence before the stores', 'race', (l) => {
  const f = l.mbarrier(1);
  return [
    l.fence(),
    l.set(l.constant(-1)),
    l.sync(),
    l.thread(0, l.bulk(f, 0, threads), l.arriveExpecting(f, bytes)),
    l.wait(f, 0),
    l.readOwn(),
  ];
});

litmus('the same with the fence in a thread that is not on the way', 'race', (l) => {
  const f = l.mbarrier(1);
  return [
    l.set(l.constant(-1)),
    l.sync(),
    l.thread(5, l.fence()),
    l.thread(0, l.bulk(f, 0, threads), l.arriveExpecting(f, bytes)),
    l.wait(f, 0),
    l.readOwn(),
  ];
});

const storeOut = (l: Litmus, ...fence: Statement[]): Statement[] => [
  l.set(),
  ...fence,
  l.sync(),
  l.thread(0, l.bulkStore(), l.bulkCommit(), l.bulkWait(false)),
  l.sync(),
  l.readOwn(l.g),
];
litmus('stores, and then a bulk copy of them', 'race', (l) => storeOut(l));
litmus(
  'the same with a fence',
  'clean',
  (l) => storeOut(l, l.fence()),
  each((t) => t),
);

const fromWritten = (l: Litmus, ...fence: Statement[]): Statement[] => {
  const f = l.mbarrier(1);
  const writes = each((t) => t).map((i) => store(l.g, l.n(i), l.constant(7)));
  return [
    l.thread(0, ...writes, ...fence, l.bulk(f, 0, threads, l.g), l.arriveExpecting(f, bytes)),
    l.wait(f, 0),
    l.readOwn(),
  ];
};
litmus('a bulk copy from what its own thread wrote', 'race', (l) => fromWritten(l));
litmus(
  'the same with a fence of global memory',
  'clean',
  (l) => fromWritten(l, l.fence('global')),
  each(() => 7),
);
litmus('the same with a fence of shared memory', 'race', (l) => fromWritten(l, l.fence('shared')));

const refill = (l: Litmus, ...between: Statement[]): Statement[] => {
  const f = l.mbarrier(1);
  return [
    l.thread(0, l.bulk(f, 0, threads), l.arriveExpecting(f, bytes)),
    l.wait(f, 0),
    l.readOther(),
    ...between,
    l.thread(0, l.bulk(f, 0, threads, l.x, 64), l.arriveExpecting(f, bytes)),
    l.wait(f, 1),
  ];
};
litmus('reads, a block barrier, and a bulk copy over what was read', 'race', (l) => refill(l, l.sync()));
litmus('the same with a fence before the barrier', 'clean', (l) => refill(l, l.fence(), l.sync()));
litmus('the same without the barrier', ['race', 'rule', 'deadlock'], (l) => refill(l, l.fence()));

// Copies of the threads

const producer = (l: Litmus, expected: number, ...then: ((f: number) => Statement)[]): Statement[] => {
  const f = l.mbarrier(expected);
  return [
    l.thread(
      0,
      store(l.g, l.n(0), l.constant(7)),
      l.copy(),
      l.arriveAfterCopies(f, true),
      ...then.map((step) => step(f)),
    ),
    l.thread(1, l.wait(f, 0), l.r.set(load(l.s, l.n(0))), l.q.set(load(l.g, l.n(0)))),
  ];
};
litmus('an arrival behind copies, for what its thread stored', 'race', (l) => producer(l, 1));
litmus(
  'the same with an arrival of the thread besides',
  'clean',
  (l) => producer(l, 2, (f) => l.arrive(f)),
  each((t) => (t === 1 ? 107 : 0)),
);

const throughProducer = (l: Litmus, expected: number, ...then: ((f: number) => Statement)[]): Statement[] => {
  const f = l.mbarrier(expected);
  const e = l.mbarrier(2, 'e');
  return [
    l.thread(1, store(l.g, l.n(0), l.constant(7)), l.arrive(e)),
    l.thread(2, l.arrive(e), l.wait(f, 0), l.r.set(load(l.g, l.n(0)))),
    l.thread(0, l.wait(e, 0), l.copy(), l.arriveAfterCopies(f, true), ...then.map((step) => step(f))),
    l.thread(3, l.wait(f, 0)),
  ];
};
litmus('what passes through a producer that only copies', 'race', (l) => throughProducer(l, 1));
litmus('the same where the producer arrives besides', 'clean', (l) =>
  throughProducer(l, 2, (f) => l.arrive(f)),
);

litmus('an arrival behind copies that adds to what is expected, and no other', 'deadlock', (l) => {
  const f = l.mbarrier(threads);
  return [l.copy(), l.arriveAfterCopies(f, false), l.wait(f, 0)];
});

litmus('an arrival behind copies that adds, and one of the thread', 'clean', (l) => {
  const f = l.mbarrier(threads);
  return [l.copy(), l.arriveAfterCopies(f, false), l.arrive(f), l.wait(f, 0), l.readOther()];
});

litmus('two arrivals a thread where one is expected', ['race', 'rule'], (l) => {
  const f = l.mbarrier(threads);
  return [l.copy(), l.arriveAfterCopies(f, true), l.arrive(f), l.wait(f, 0), l.readOther()];
});

// Phases

litmus('a thread that sleeps through a phase', ['rule', 'deadlock', 'clean'], (l) => {
  const f = l.mbarrier(1);
  return [l.thread(0, l.arrive(f), l.wait(f, 0), l.arrive(f), l.wait(f, 1)), l.thread(1, l.wait(f, 0))];
});

litmus('a wait for a phase that is not yet current, whose parity is true', ['rule', 'clean'], (l) => {
  const f = l.mbarrier(1);
  return [l.thread(1, l.wait(f, 1)), l.thread(0, l.arrive(f), l.wait(f, 0), l.arrive(f), l.wait(f, 1))];
});

litmus('a wait for the current phase by the parity of the other', 'rule', (l) => {
  const f = l.mbarrier(1);
  return [l.thread(0, l.wait(f, 0, 1)), l.thread(1, l.arrive(f))];
});

litmus('the same by the parity alone', ['race', 'clean'], (l) => {
  const f = l.mbarrier(1);
  return [
    l.thread(0, l.set(l.constant(1), l.n(0)), l.arrive(f), l.wait(f, 0), l.arrive(f), l.wait(f, 1)),
    l.thread(1, l.waitParity(f, 1), l.r.set(load(l.s, l.n(0)))),
  ];
});

litmus('an mbarrier invalidated while a copy to it is under way', 'rule', (l) => {
  const f = l.mbarrier(2);
  return [l.thread(0, l.bulk(f, 0, threads), l.arriveExpecting(f, bytes), l.invalidate(f))];
});

litmus('an mbarrier made anew while a copy to the old one is under way', 'rule', (l) => {
  const f = l.mbarrier(1);
  return [
    l.thread(
      0,
      l.bulk(f, 0, threads),
      l.invalidate(f),
      l.init(f, 1),
      l.arriveExpecting(f, bytes),
      l.wait(f, 0),
    ),
  ];
});

litmus('an mbarrier made anew, and the old one not given up', 'rule', (l) => {
  const f = l.mbarrier(1);
  return [l.thread(0, l.arrive(f), l.wait(f, 0), l.init(f, 1))];
});

litmus('the same with the old one given up', 'clean', (l) => {
  const f = l.mbarrier(1);
  return [l.thread(0, l.arrive(f), l.wait(f, 0), l.invalidate(f), l.init(f, 1), l.arrive(f), l.wait(f, 0))];
});

litmus('an mbarrier invalidated while others may still look at it', ['race', 'rule'], (l) => {
  const f = l.mbarrier(1);
  return [l.thread(0, l.arrive(f), l.wait(f, 0), l.invalidate(f)), l.thread(1, l.wait(f, 0))];
});

litmus('bytes that are expected after the last arrival may have come', ['race', 'rule', 'clean'], (l) => {
  const f = l.mbarrier(2);
  return [
    l.thread(0, l.bulk(f, 0, threads), l.arrive(f)),
    l.thread(1, l.arrive(f)),
    l.thread(2, core({ kind: 'mbarrierExpect', mbarrier: f, index: l.n(0), bytes: l.n(bytes) })),
    l.wait(f, 0),
    l.readOwn(),
  ];
});

litmus('every thread copies, and the bytes of one copy are expected', ['race', 'rule', 'deadlock'], (l) => {
  const f = l.mbarrier(1);
  const mine = core({
    kind: 'bulkCopy',
    mbarrier: f,
    index: l.n(0),
    destination: { array: l.s, offset: multiplyBy(l, 4) },
    source: { array: l.x, offset: multiplyBy(l, 4) },
    count: l.n(4),
    promised: 16,
  });
  return [l.thread(0, l.arriveExpecting(f, 16)), mine, l.wait(f, 0), l.r.set(load(l.s, multiplyBy(l, 4)))];
});

litmus('every thread copies, and the bytes of all are expected', 'clean', (l) => {
  const f = l.mbarrier(1);
  const mine = core({
    kind: 'bulkCopy',
    mbarrier: f,
    index: l.n(0),
    destination: { array: l.s, offset: multiplyBy(l, 4) },
    source: { array: l.x, offset: multiplyBy(l, 4) },
    count: l.n(4),
    promised: 16,
  });
  return [
    l.thread(0, l.arriveExpecting(f, 16 * threads)),
    mine,
    l.wait(f, 0),
    l.r.set(load(l.s, multiplyBy(l, 4))),
  ];
});

function multiplyBy(l: Litmus, factor: number) {
  let sum = l.t;
  for (let i = 1; i < factor; i += 1) sum = add(sum, l.t);
  return sum;
}

// Groups of copies

const groups = (l: Litmus, allBut: number): Statement[] => [
  l.copy(),
  l.commit(),
  l.commit(),
  l.commit(),
  l.waitGroup(allBut),
  l.readOwn(),
  l.waitGroup(0),
];
litmus(
  'a wait that covers an older group',
  'clean',
  (l) => groups(l, 2),
  each((t) => 100 + t),
);
litmus('a wait that leaves it out', 'race', (l) => groups(l, 3));
litmus('a copy that was not committed', ['race', 'rule'], (l) => [l.copy(), l.waitGroup(0), l.readOwn()]);

const ofOthers = (l: Litmus, ...steps: Statement[]): Statement[] => [
  l.copy(),
  l.commit(),
  ...steps,
  l.readOther(),
];
litmus("another thread's copies, each waited for by its own thread", 'race', (l) =>
  ofOthers(l, l.waitGroup(0)),
);
litmus(
  'the same with a barrier behind the waits',
  'clean',
  (l) => ofOthers(l, l.waitGroup(0), l.sync()),
  each((t) => 100 + other(t)),
);
litmus('the same with a warp barrier', 'clean', (l) => ofOthers(l, l.waitGroup(0), l.warpSync()));
litmus('the same with the barrier before the waits', 'race', (l) => ofOthers(l, l.sync(), l.waitGroup(0)));

const seenByOne = (l: Litmus, ...then: Statement[]): Statement[] => {
  const f = l.mbarrier(1);
  return [
    l.thread(0, l.bulk(f, 0, threads), l.arriveExpecting(f, bytes), l.wait(f, 0)),
    ...then,
    l.readOwn(),
  ];
};
const shuffle = (l: Litmus): Statement => ({
  kind: 'call',
  intrinsic: 'warp',
  operator: 'shfl',
  group: { kind: 'tile', size: threads },
  value: l.constant(1),
  lane: l.constant(0),
  width: threads,
  result: null,
  range: { source: 0, start: 0, end: 0 },
});
litmus('a copy that one lane waited for and announced by a shuffle', 'race', (l) => seenByOne(l, shuffle(l)));
litmus(
  'the same with a warp barrier',
  'clean',
  (l) => seenByOne(l, l.warpSync()),
  each((t) => 100 + t),
);

litmus('a chunk copy under way when its thread ends', 'rule', (l) => [l.thread(0, l.copy(), l.commit())]);
litmus('a bulk copy under way when its block ends', 'rule', (l) => {
  const f = l.mbarrier(1);
  return [l.thread(0, l.bulk(f, 0, threads), l.arriveExpecting(f, bytes))];
});

const stores = (l: Litmus, ...then: Statement[]): Statement[] => [
  l.set(),
  l.fence(),
  l.sync(),
  l.thread(0, l.bulkStore(), l.bulkCommit(), l.bulkWait(true), ...then, l.bulkWait(false)),
];
litmus('a source that is written again once it was read', 'clean', (l) =>
  stores(l, l.set(l.constant(5), l.n(0))),
);
litmus('a destination that is read when only the source was', 'race', (l) =>
  stores(l, l.r.set(load(l.g, l.n(0)))),
);

litmus('two copies to one place', 'race', (l) => [
  l.thread(
    0,
    l.copy(l.n(0), l.n(0)),
    l.copy(l.n(0), l.n(1)),
    l.commit(),
    l.waitGroup(0),
    l.r.set(load(l.s, l.n(0))),
  ),
]);

litmus('a thread that arrives twice in place of another', ['race', 'rule', 'clean'], (l) => {
  const f = l.mbarrier(2);
  return [
    l.thread(0, l.arrive(f), l.arrive(f)),
    l.thread(1, l.set(l.constant(1), l.n(0)), l.arrive(f)),
    l.thread(2, l.wait(f, 0), l.r.set(load(l.s, l.n(0)))),
  ];
});

litmus('the last expected arrival dropped', 'rule', (l) => {
  const f = l.mbarrier(1);
  return [l.thread(0, l.arrive(f, { drop: true }))];
});

const unpublished = (l: Litmus, ...between: Statement[]): Statement[] => {
  const f = l.p.mbarrier('unpublished');
  return [
    l.thread(0, core({ kind: 'mbarrierInit', mbarrier: f, index: l.n(0), expected: l.n(2) })),
    ...between,
    l.thread(1, l.arrive(f)),
    l.thread(0, l.arrive(f)),
  ];
};
litmus('an mbarrier used by who does not know that it is made', ['race', 'rule'], (l) => unpublished(l));
litmus('the same behind a block barrier', 'clean', (l) => unpublished(l, l.sync()));

const named = (l: Litmus, waits: boolean) => core({ kind: 'namedBarrier', id: l.n(1), threads: 2, waits });
litmus('a numbered barrier, for who waits there', 'clean', (l) => [
  l.thread(0, l.set(l.constant(1), l.n(0)), named(l, false)),
  l.thread(1, named(l, true), l.r.set(load(l.s, l.n(0)))),
]);
litmus('a numbered barrier, for who only arrives', 'race', (l) => [
  l.thread(0, named(l, false), l.r.set(load(l.s, l.n(0)))),
  l.thread(1, l.set(l.constant(1), l.n(0)), named(l, true)),
]);

/** A flag that is set by an atomic operation, and looked at by another until it is. */
const flag = (l: Litmus, scope: 'block' | 'device' | null): Statement[] => {
  const label = l.p.label();
  const fence = () => (scope === null ? [] : [core({ kind: 'fence', scope })]);
  const look = atomic('add', [l.counter, l.n(0)], l.constant(0), { result: l.q });
  return [
    l.thread(0, l.set(l.constant(1), l.n(0)), ...fence(), atomic('add', [l.counter, l.n(0)], l.constant(1))),
    l.thread(
      1,
      loop(label, null, [
        look,
        when(compare('equal', l.q.value, l.constant(1)), [leave('break', label)]),
        l.pause(),
      ]),
      ...fence(),
      l.r.set(load(l.s, l.n(0))),
    ),
  ];
};
litmus('atomic operations alone', 'race', (l) => flag(l, null));
litmus('atomic operations with fences', 'clean', (l) => flag(l, 'block'));

export { programs as litmusPrograms };

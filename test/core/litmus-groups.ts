// Litmus programs of groups of copies, and of what orders threads otherwise: warps, named barriers, atomics, fences.

import type { Statement } from '#warpstage/compiler/ir.js';
import { atomic, compare, core, leave, load, loop, when } from '../support/ir.ts';
import { type Litmus, threads } from './litmus.ts';
import { bytes, each, litmus, other } from './litmus-list.ts';

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

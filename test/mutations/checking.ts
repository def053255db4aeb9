// Mutations of the interpreter and of the race checker: what must be found, and what must not.

import { mutationsOf } from './mutation.ts';

const races = [
  'test/checker/random-order.test.ts',
  'test/checker/races.test.ts',
  'test/core/litmus.test.ts',
  'test/core/ordering.test.ts',
];
const clocks = ['test/checker/clocks.test.ts', ...races];
const litmus = ['test/core/litmus.test.ts', 'test/core/ordering.test.ts'];
const warps = [
  'test/warps/operations.test.ts',
  'test/warps/divergence.test.ts',
  'test/warps/combining.test.ts',
];

export const mutations = [
  ...mutationsOf('src/targets/checker/clocks.ts', clocks, [
    {
      name: 'clocks keep one phase',
      from: 'const keptPhases = 64;',
      to: 'const keptPhases = 1;',
      why: 'a thread that waits late seems to race with what it waited for',
    },
    {
      name: 'a late waiter takes the latest phase',
      from: 'if (phase >= this.#phase) return this.#collected;',
      to: 'if (phase >= 0) return this.#collected;',
      why: 'a race is missed: the waiter seems to have seen what was done in later phases',
    },
    {
      name: 'what was collected grows after its phase',
      from: 'new Map(Array.from(this.#collected, ([block, times]) => [block, times.slice()]))',
      to: 'this.#collected',
      why: 'a race is missed: the waiter for one phase seems to have seen the next',
    },
    {
      name: 'an arrival does not end what was before it',
      from: '    clock.arrivedAt = this.#collected;\n    clock.tick();\n',
      to: '    clock.arrivedAt = this.#collected;\n',
      why: 'a race is missed: what a thread does after its arrival seems to come before',
    },
    {
      name: 'a waiter forgets what it knew',
      from: 'if (own !== undefined) clock.seen = joined(clock.seen, own);',
      to: 'if (own !== undefined) clock.seen = own.slice();',
      why: 'what a thread learned elsewhere, and did itself, seems to race',
    },
    {
      name: 'copies are complete a phase early',
      from: 'if (this.#agent !== null) this.#tellOfCopies(clock, this.#agent, phase + 1);',
      to: 'if (this.#agent !== null) this.#tellOfCopies(clock, this.#agent, phase + 2);',
      why: 'a race with a copy of the next phase is missed',
    },
    {
      name: 'one who has seen all but the last step has seen it',
      from: 'return times !== undefined && (times[component] ?? 0) >= time;',
      to: 'return times !== undefined && (times[component] ?? 0) >= time - 1;',
      why: 'races with a copy that is nearly done are missed',
    },
    {
      name: 'knowledge of other blocks is not handed on',
      from: 'if (foreign !== null && !this.#brought.has(foreign)) this.#bring(foreign);',
      to: '',
      why: 'three blocks that meet two by two seem to race',
      tests: [...clocks, 'test/warps/grid.test.ts'],
    },
  ]),
  ...mutationsOf('src/targets/checker/shadow.ts', races, [
    {
      name: 'of several readers the last is remembered',
      from: '    this.#byActor.set(access.actor, access);\n    return',
      to: '    this.#byActor.clear();\n    this.#byActor.set(access.actor, access);\n    return',
      why: 'a write that races with the first of two readers is clean',
    },
    {
      name: 'a list is pruned of those that race',
      from: 'if (before(earlier)) this.#byActor.delete(earlier.actor);',
      to: 'if (!before(earlier)) this.#byActor.delete(earlier.actor);',
      why: 'with more than eight readers races are missed',
    },
    {
      name: 'pages share their cells',
      from: 'return cell & pageMask;',
      to: 'return cell & (pageMask >> 1);',
      why: 'elements that lie 2048 apart seem to race',
    },
  ]),
  ...mutationsOf('src/targets/checker/races.ts', races, [
    {
      name: 'a thread races with its own copy',
      from: 'if (writer !== 0 && !(writer === actor && actor > 0)) {',
      to: 'if (writer !== 0 && writer !== actor) {',
      why: 'two copies of one actor are compared, or not',
      equivalent: 'a copy has a number of its own and writes each element once: it never meets its own write',
    },
    {
      name: 'atomic operations are ordered with reads',
      from: "this.#compare(updates, 'update', at, tracked, index, clock, { actor, time: clock.now, site }, 'read');",
      to: '',
      why: 'a plain read beside an atomic is a race that is not found',
    },
    {
      name: 'the thread whose share it is knows enough for all',
      from: 'if (group.size > 1) this.#compareAll(group, clock);',
      to: '',
      why: 'a thread that stores to what another one may copy over is clean',
    },
    {
      name: 'a write is compared with no reads',
      from: "this.#compare(reads, 'read', at, tracked, index, clock, { actor, time, site }, 'write');\n",
      to: '',
      why: 'overwriting what another still reads is clean',
    },
    {
      name: 'the elements of a copy are read by none',
      from: 'if (from !== null && i < copy.copied) {',
      to: 'if (from !== null && i < 0) {',
      why: 'a store to what is still copied is clean',
    },
  ]),
  ...mutationsOf('src/targets/checker/proxies.ts', litmus, [
    {
      name: 'the copy engine sees what threads see',
      from: "if (proxy === 'generic' || this.#fenced === null || space === 'local') return this.general.of(thread);",
      to: 'return this.general.of(thread);',
      why: 'a missing proxy fence is clean',
    },
    {
      name: 'a fence of shared memory is one of global memory',
      from: 'this.#fenced?.[space].of(thread).catchUp();',
      to: 'this.#fenced?.shared.of(thread).catchUp();\n    this.#fenced?.global.of(thread).catchUp();',
      why: 'a kernel that fences the other memory is clean',
    },
    {
      name: 'fences are not handed on by arrivals',
      from: '    this.#forEachPart((part) => part.arrived(thread, sync, phase));\n',
      to: '',
      why: 'a fence of another thread before the barrier does not count',
    },
  ]),
  ...mutationsOf('src/targets/checker/fences.ts', races, [
    {
      name: 'a fence of a block counts in others',
      from: "if (published.block !== block && scope === 'block') continue;\n",
      to: '',
      why: 'two blocks that fence for themselves alone are clean',
      tests: [...races, 'test/checker/check.test.ts', 'test/conformance/checked.test.ts'],
    },
    {
      name: 'an atomic operation forgets what others published',
      from: "if (operator === 'store') place.clear();",
      to: 'place.clear();',
      why: 'the last of three blocks seems to race with the first',
      tests: [...races, 'test/checker/check.test.ts', 'test/conformance/checked.test.ts'],
    },
  ]),
  ...mutationsOf('src/targets/checker/issue-order.ts', races, [
    {
      name: 'what one thread of a group knew counts for all',
      from: 'times[i] = Math.min(times[i]!, seen[i] ?? 0);',
      to: 'times[i] = Math.max(times[i]!, seen[i] ?? 0);',
      why: 'a thread that stores to what another one may copy over is clean',
    },
  ]),
  ...mutationsOf('src/targets/checker/tracked-copies.ts', races, [
    {
      name: 'a copy is complete when a part of it is',
      from: 'if (bound < size) return false;',
      to: '',
      why: 'a race with the share of another thread is missed',
    },
    {
      name: 'copies that are bound to two phases are complete with the first share',
      from: 'members.every((member) => member.isOwnSeenBy(thread))',
      to: 'members.some((member) => member.isOwnSeenBy(thread))',
      why: 'a race with the share of another thread is missed',
    },
  ]),
  ...mutationsOf('src/targets/interpreter/mbarrier.ts', litmus, [
    {
      name: 'a phase ends without its bytes',
      from: 'if (this.#pending !== 0 || this.#bytes !== 0) return;',
      to: 'if (this.#pending !== 0) return;',
      why: 'a lowering that reads too early runs well in the tests',
    },
    {
      name: 'a wait by the wrong parity is none',
      from: 'if ((phase & 1) === parity && phase <= this.#number && phase >= this.#number - 1) return;',
      to: 'if (phase <= this.#number && phase >= this.#number - 1) return;',
      why: 'a lowering with a wrong parity runs well where it happens to',
    },
    {
      name: 'a wait for a phase that is long over is one',
      from: 'phase <= this.#number && phase >= this.#number - 1) return;',
      to: 'phase <= this.#number) return;',
      why: 'a lowering whose waiter is two phases late runs well in the tests',
    },
    {
      name: 'every arrival releases',
      from: 'if (releases) thread.observer?.arrived(thread, this.#current, 0, range);',
      to: 'thread.observer?.arrived(thread, this.#current, 0, range);',
      why: 'a lowering with relaxed arrivals is clean',
    },
    {
      name: 'an mbarrier may be made while it exists',
      from: 'if (this.#valid && !this.#word)',
      to: 'if (false)',
      why: 'a lowering that PTX leaves undefined runs well in the tests',
    },
    {
      name: 'an mbarrier is invalidated while copies come',
      from: 'if (this.#outstanding > 0 || this.#bytes !== 0) {',
      to: 'if (this.#bytes !== 0) {',
      why: 'a lowering that PTX leaves undefined runs well in the tests',
      tests: [...litmus],
    },
  ]),
  ...mutationsOf('src/targets/interpreter/warp.ts', warps, [
    {
      name: 'a vote of any counts all',
      from: 'return values.some(([, value]) => value === true);',
      to: 'return values.every(([, value]) => value === true);',
      why: 'a warp stops when one lane is done',
    },
    {
      name: 'lanes are matched with the first one',
      from: "return where((value) => Object.is(value, brought.get(own)));\n      case 'matchAll'",
      to: "return where((value) => Object.is(value, values[0]![1]));\n      case 'matchAll'",
      why: 'matchAny gives lanes of another value',
    },
    {
      name: 'matchAll is matchAny',
      from: 'return same === bitsOf(brought.keys()) ? same : 0;',
      to: 'return same;',
      why: 'a warp is taken for unanimous',
    },
    {
      name: 'lanes that a mask leaves out are waited for',
      from: 'const named = (lanesOfTile(size, rank, this.#threads) & (mask ?? -1)) >>> 0;',
      to: 'const named = lanesOfTile(size, rank, this.#threads) >>> 0;',
      why: 'a shuffle of half a warp stands still',
    },
    {
      name: 'lanes that have returned are waited for',
      from: '|| brought.has(lane) || this.#returned.has(first + lane)) continue;',
      to: '|| brought.has(lane)) continue;',
      why: 'a warp of which a lane has returned stands still',
    },
  ]),
  ...mutationsOf(
    'src/targets/checker/launch-arrays.ts',
    ['test/types/seen-arrays.test.ts'],
    [
      {
        name: 'what an array is seen as makes its cells no smaller',
        from: 'const elements = [elementOf(program, { space, id }), ...views.map(({ as }) => as!)];',
        to: 'const elements = [elementOf(program, { space, id })];',
        why: 'two threads in different bytes of one number are taken for a race, or one of them for none',
      },
    ],
  ),
];

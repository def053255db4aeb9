// Mutations of what `targets/legalise` does with loops that fill pipelines: rotated, repeated, in lockstep, prefetched; and of
// what it proves of the calls in them.

import { mutationsOf } from './mutation.ts';

const loops = [
  'test/core/fill-loops.test.ts',
  'test/cuda/rotate.test.ts',
  'test/cuda/lockstep.test.ts',
  'test/core/ordering.test.ts',
  'test/differential/staging.test.ts',
];
const calm = ['test/core/ordering.test.ts', 'test/core/litmus.test.ts', 'test/core/conformance.test.ts'];

export const mutations = [
  ...mutationsOf('src/targets/legalise/rotate.ts', loops, [
    {
      name: 'a loop that skips its update is rotated',
      from: ' || continues(outer.body, outer.label)',
      to: '',
      why: '`continue` leaves out the step of the counter',
    },
    {
      name: 'filling statements with labels are written twice',
      from: 'fill.body.every(isStraight);',
      to: 'true;',
      why: 'two statements have one label, and jumps lead to either',
    },
    {
      name: 'counters that are assigned elsewhere are rotated',
      from: 'if (assigned.get(used) !== 1 || assigned.get(filled) !== 1) return null;',
      to: '',
      why: 'a loop that fills twice in a turn fills once',
    },
    {
      name: 'a capacity may change while the loop runs',
      from: 'if (isVariable(limit.left, used) && isInvariant(limit.right, assigned)) return limit.right;',
      to: 'if (isVariable(limit.left, used)) return limit.right;',
      why: 'a pipeline that grows is filled by one batch a turn',
    },
    {
      name: 'a bound may change while the loop runs',
      from: 'else if (isBound(test, filled, assigned)) bounds.push(test);',
      to: "else if (test.kind === 'compare') bounds.push(test);",
      why: 'batches that a turn makes known are not filled',
    },
    {
      name: 'any inner loop is one that fills',
      from: 'return capacities.length > 0 ? ',
      to: 'return bounds.length > 0 || capacities.length > 0 ? ',
      why: 'an inner loop of several rounds runs once a turn',
      equivalent:
        'its counter grows alone and its bounds stay, so that what ended the inner loop once ends it at once ever after',
    },
  ]),
  ...mutationsOf('src/targets/legalise/lockstep.ts', loops, [
    {
      name: 'counters that start apart step together',
      from: 'if (start === null || start < 0 || start !== startOf(filled, before) || stages < 1) return null;',
      to: 'if (start === null || start < 0 || stages < 1) return null;',
      why: 'the head of the pipeline is taken to be where it is not',
    },
    {
      name: 'what else reads the counter of fetched batches is not looked at',
      from: 'if (readsOf(filled, program.body) !== readsOf(filled, [fill])) return null;',
      to: '',
      why: 'a kernel that reads the counter finds it behind',
    },
    {
      name: 'a loop in another loop steps together',
      from: ' || another !== undefined || repeated) return null;',
      to: ' || another !== undefined) return null;',
      why: 'in the second turn of the outer loop the phases begin anew',
    },
    {
      name: 'rounds run where a batch is missing',
      from: 'const last = stages + inFlight - 1 + flow.ahead;',
      to: 'const last = inFlight - 1;',
      why: 'the last round uses batches behind the end',
    },
    {
      name: 'a counter that is a float steps together',
      from: 'if (isFloat(program.variables[used]!.type)) return null;',
      to: '',
      why: 'a float counts no further than its digits',
      equivalent:
        'a loop whose counter does not count exactly never ends, and one that counts exactly is as one of integers',
    },
    {
      name: 'a batch is fetched late though its source is written',
      from: "late &&= kind !== 'load';",
      to: '',
      why: 'the offset of a copy is read after it has changed',
    },
    {
      name: 'a round’s barrier serves twice the turns',
      from: '2 * turnsPerBarrier <= stages - inFlight + 1 &&',
      to: 'turnsPerBarrier <= stages - inFlight + 1 &&',
      why: 'a stage is filled while threads still read it',
    },
    {
      name: 'one barrier serves several turns where threads store too',
      from: 'onlyCopiesMeet() &&',
      to: '',
      why: 'what threads store is read by others before it is there',
      equivalent:
        'what one thread does for all gets the barrier that it lacks (calm.ts), which golden files count',
    },
  ]),
  ...mutationsOf('src/targets/legalise/unroll.ts', loops, [
    {
      name: 'a repeated body is not left between its copies',
      from: "then: [{ kind: 'break', label, range }],",
      to: 'then: [],',
      why: 'up to three batches behind the end are used',
    },
    {
      name: 'a repeated body counts once a round',
      from: '...(body < bodies - 1 || test === null ? loop.update : [])];',
      to: '...(test === null ? loop.update : [])];',
      why: 'each batch is used as often as there are stages',
    },
    {
      name: 'a loop that is tested behind its body is repeated',
      from: ' || jumps || !loop.testFirst) return loop;',
      to: ' || jumps) return loop;',
      why: 'a turn that has to run without a test is tested',
      tests: ['test/cuda/golden.test.ts', ...loops],
      equivalent: 'each body but the last is followed by the update and the test, as in the loop',
    },
    {
      name: 'a loop with jumps is repeated',
      from: ' || jumps || !loop.testFirst) return loop;',
      to: ' || !loop.testFirst) return loop;',
      why: '`continue` leaves out the other bodies of a round',
      equivalent: 'what continues goes on with the update and the next round, whose bodies are alike',
    },
  ]),
  ...mutationsOf('src/targets/legalise/prefetch.ts', loops, [
    {
      name: 'the hint is for the batch that is copied now',
      from: 'return mapped.id === counter ? next : (definitions.get(mapped.id) ?? mapped);',
      to: 'return definitions.get(mapped.id) ?? mapped;',
      why: 'what is fetched ahead is there already, and the next batch is not',
      tests: ['test/cuda/golden.test.ts', ...loops],
    },
  ]),
  ...mutationsOf('src/targets/legalise/calm.ts', calm, [
    {
      name: 'a barrier of the block counts as a fence',
      from: 'Object.assign(state, { calm: true, fenced: false, met: Number.POSITIVE_INFINITY });',
      to: 'Object.assign(state, { calm: true, fenced: true, met: Number.POSITIVE_INFINITY });',
      why: 'the engine overwrites what threads have read before that barrier',
    },
    {
      name: 'tiles that have met speak for the block',
      from: 'note(afterBarrier, call, state.met >= size);',
      to: 'note(afterBarrier, call, state.met > 0);',
      why: 'the first thread copies for a barrier while another tile still stores',
      equivalent:
        'a kernel in which it matters races: which thread of a group copies which element is not promised',
    },
  ]),
];

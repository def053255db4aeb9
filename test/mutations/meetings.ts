// Mutations of how lanes of a warp, and blocks of a grid, meet.

import { mutationsOf } from './mutation.ts';

export const mutations = [
  ...mutationsOf(
    'src/targets/legalise/cpu/groups.ts',
    ['test/core/cohorts.test.ts > blocks of a grid', 'test/warps/grid.test.ts'],
    [
      {
        name: 'a block of a grid waits for itself alone',
        from: "if (group.kind === 'grid') {",
        to: "if (group.kind === 'thread') {",
        why: 'a sync of the grid orders nothing between its blocks',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/cpu/lane-meetings.ts',
    [
      'test/core/cohorts.test.ts > lane',
      'test/warps/operations.test.ts',
      'test/warps/divergence.test.ts',
      'test/differential/warps.test.ts',
    ],
    [
      {
        name: 'lanes with another mask count as there',
        from: "words.compare('equal', load(named), this.#waitedFor(words));",
        to: "words.compare('notEqual', load(named), number(0));",
        why: 'two halves of a warp that shuffle apart take each other’s values',
      },
      {
        name: 'lanes go on before all are there',
        from: "unless([{ kind: 'break', label, range: words.range }]),",
        to: '',
        why: 'lanes go on without the values of others',
      },
      {
        name: 'masks wait for lanes that have returned',
        from: "words.compare('notEqual', load(this.#gone), number(0));",
        to: "words.compare('less', load(this.#gone), number(0));",
        why: 'a warp waits for ever for a lane that has returned',
      },
      {
        name: 'one that returns lets nobody go on',
        from: 'return [words.block(this.#frame.label(), [gone, ...settled])];',
        to: 'return [words.block(this.#frame.label(), [gone])];',
        why: 'lanes that were there before another returned wait for it for ever',
      },
      {
        name: 'who lets others go on publishes nothing',
        from: 'this.#post(freed, at(), number(1), load(freed), words),',
        to: "words.core({ kind: 'post', array: freed, index: at(), by: number(1), phase: null, alone: true }),",
        why: 'the race checker finds no order where lanes meet',
      },
      {
        name: 'who comes last knows nothing of the others',
        from: 'this.#ask(named, isHere, load(freed), words),',
        to: "this.#ask(named, isHere, words.binary('subtract', load(freed), number(1)), words),",
        why: 'the race checker finds no order where lanes meet',
      },
      {
        name: 'a lane that was let go on still counts as there',
        from: 'words.store(named, at(), number(0)),',
        to: '',
        why: 'lanes that were let go on wait for ever',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/states/grid.ts',
    ['test/warps/grid.test.ts'],
    [
      {
        name: 'a grid is stuck when one of its blocks goes on to the next sync',
        from: 'if (outcome !== outcomesOfBlock.stuck) goesOn = true;',
        to: 'if (outcome === outcomesOfBlock.finished) goesOn = true;',
        why: 'a kernel that syncs its grid is said to be a deadlock',
      },
      {
        name: 'a deadlock of a grid is said of its first block',
        from: 'if (!awaitsGrid()) return true;',
        to: 'awaitsGrid();',
        why: 'the report shows threads that wait for the grid, and not those who keep it waiting',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/memory.ts',
    ['test/warps/grid.test.ts'],
    [
      {
        name: 'each block counts for the grid in words of its own',
        from: 'unit.program.sharedArrays[array.id]!.ofGrid ? launch.scratchOfGrid() : launch.scratch()',
        to: 'launch.scratch()',
        why: 'a kernel that syncs its grid is said to be a deadlock',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/interpreter/sync.ts',
    ['test/core/parts-of-warps.test.ts'],
    [
      {
        name: 'threads of a warp come to barriers of the block as they like',
        from: 'if (other === call || (other.apart === true && call.apart === true)) return;',
        to: 'if (other.kind === call.kind) return;',
        why: 'a plain barrier where a warp goes two ways stays unseen: what a GPU does there is not defined',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/synchronisation.ts',
    ['test/core/parts-of-warps.test.ts'],
    [
      {
        name: 'every barrier of the block is for whole warps',
        from: 'return partial.has(call);',
        to: 'return partial.has(call) && false;',
        why: 'what a GPU does where a warp goes two ways is not defined',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/cpu/lane-meetings.ts',
    [
      'test/core/cohorts.test.ts > lane',
      'test/warps/operations.test.ts',
      'test/warps/divergence.test.ts',
      'test/differential/warps.test.ts',
    ],
    [
      {
        name: 'a last warp has all its lanes',
        from: "isPartial ? words.binary('min', end, words.index(this.#frame.blockSize)) : end",
        to: 'isPartial ? end : end',
        why: 'a thread that returns looks for lanes behind the last',
      },
      {
        name: 'each operation of lanes is a sync',
        from: "this.#wordsOf(operator ?? 'sync')",
        to: "this.#wordsOf('sync')",
        why: 'lanes that come to different operations exchange values, and nothing says so',
      },
      {
        name: 'a lane that was let go on knows only what was before',
        from: "phase: words.binary('subtract', mine(freed), words.constant('i32', 1)),",
        to: "phase: words.binary('subtract', mine(freed), words.constant('i32', 2)),",
        why: 'the race checker finds no order where lanes meet',
      },
      {
        name: 'one that returns publishes nothing of what it did',
        from: 'this.#ask(this.#gone, isGone, number(0), words)',
        to: 'this.#ask(this.#gone, isGone, number(-1), words)',
        why: 'what a lane did before it returned is not ordered before what the others do',
      },
    ],
  ),
];

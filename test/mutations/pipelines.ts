// Mutations of what a kernel’s text says of pipelines: where they are made, who quits them, and cuda.pipelined.

import { mutationsOf } from './mutation.ts';

export const mutations = [
  ...mutationsOf(
    'src/compiler/destructors.ts',
    ['test/compiler/destructors.test.ts'],
    [
      {
        name: 'a thread has the pipeline on no way that leaves a block',
        from: 'return this.list(one.body, before) | (this.#breaks.get(one.label) ?? 0);',
        to: 'return this.list(one.body, before);',
        why: 'a destructor behind a block that threads leave early is left out',
      },
      {
        name: 'what is known before a branch holds behind it by its first half',
        from: 'return this.list(one.then, before) | this.list(one.otherwise, before);',
        to: 'return this.list(one.then, before);',
        why: 'a thread quits a pipeline that it has not made',
      },
      {
        name: 'a destructor that depends on the way is plain',
        from: "outcomes.set(quit, before === held ? 'plain' : 'guarded');",
        to: "outcomes.set(quit, 'plain');",
        why: 'a thread that did not make the pipeline quits it',
      },
      {
        name: 'the pipeline is had still behind its quit',
        from: 'return nothing;\n      default:',
        to: 'return held;\n      default:',
        why: 'a destructor quits again what the kernel has quit',
      },
    ],
  ),
  ...mutationsOf(
    'src/compiler/destructors.ts',
    ['test/compiler/destructors.test.ts'],
    [
      {
        name: 'a thread continues a loop with nothing',
        from: ' | (this.#continues.get(label) ?? 0);',
        to: ';',
        why: 'a pipeline that is made in front of a continue is never quit',
      },
      {
        name: 'the first turn of a loop speaks for all',
        from: 'if (again === atStart) {',
        to: 'if (again >= 0) {',
        why: 'what a turn leaves behind is not quit in the next',
      },
      {
        name: 'a loop tests at the start, wherever it does',
        from: 'const tested = testFirst ? atStart : this.list(update, atEnd);',
        to: 'const tested = atStart;',
        why: 'a destructor behind a do loop depends on what never is',
      },
      {
        name: 'a loop without a test ends by it',
        from: '(test === null ? 0 : tested)',
        to: 'tested',
        why: 'a destructor behind a loop that is left in one place depends on what never is',
      },
      {
        name: 'nobody asks who is the last',
        from: 'isNeeded(quit) || asked.has(quit.pipeline)',
        to: 'isNeeded(quit)',
        why: 'a thread that returns is waited for by the last',
      },
      {
        name: 'at the end of a thread all is quit',
        from: ' && !atEnd.has(quit)',
        to: '',
        why: 'each kernel quits at its end what returning leaves',
      },
      {
        name: 'who has nothing quits',
        from: 'if ((before & held) === 0) continue;',
        to: '',
        why: 'a thread quits what it has quit already',
      },
      {
        name: 'a thread goes on behind its return',
        from: "case 'return':\n        return 0;",
        to: "case 'return':\n        return before;",
        why: 'a destructor depends on a way that nobody goes',
      },
    ],
  ),
  ...mutationsOf(
    'src/compiler/scopes.ts',
    ['test/compiler/destructors.test.ts', 'test/compiler/using.test.ts'],
    [
      {
        name: 'the oldest quits first',
        from: '.flat().reverse()',
        to: '.flat()',
        why: 'destructors run in another order than in C++',
      },
      {
        name: 'only the innermost block is left',
        from: 'this.#open.slice(depth).flat()',
        to: 'this.#open.slice(Math.max(depth, this.depth - 1)).flat()',
        why: 'a break out of two blocks quits half of what it leaves',
      },
      {
        name: 'what is returned belongs to the kernel',
        from: 'const owner = this.#open[depth - 1];',
        to: 'const owner = this.#open[0];',
        why: 'a pipeline that a function returns in a loop is made again while it is still there',
      },
      {
        name: 'what is returned is quit in the function too',
        from: 'block.splice(0, block.length, ...block.filter((pipeline) => !kept.has(pipeline)));',
        to: '',
        why: 'a function returns a pipeline that is gone',
      },
      {
        name: 'a list that is returned keeps no pipeline',
        from: 'return value.items.flatMap(pipelinesIn);',
        to: 'return [];',
        why: 'pipelines that a function returns in a list are gone',
      },
      {
        name: 'an object that is returned keeps no pipeline',
        from: 'return [...value.members.values()].flatMap(pipelinesIn);',
        to: 'return [];',
        why: 'pipelines that a function returns in an object are gone',
      },
      {
        name: 'a function that returns ends the thread',
        from: " && lowering.frame.returns === null ? 'end'",
        to: " ? 'end'",
        why: 'a pipeline of a function is never quit',
        equivalent:
          'only a kernel that is a single call has no block around it: it ends where the function does',
      },
    ],
  ),
  ...mutationsOf(
    'src/compiler/intrinsics/pipelined.ts',
    ['test/compiler/pipelined.test.ts', 'test/conformance/conformance.test.ts'],
    [
      {
        name: 'a role is asked for wherever it matters',
        from: 'lowering.isStable(isProducer) ? isProducer : ',
        to: 'lowering.isStable(isProducer) || true ? isProducer : ',
        why: 'a thread that changes its mind in a stage is producer and consumer',
      },
      {
        name: 'batches are counted anew in each turn',
        from: "lowering.settleExpression(this.#options.batches, 'batches')",
        to: 'this.#options.batches',
        why: 'a kernel that changes its number of batches runs on, or ends early',
      },
      {
        name: 'tiles of a warp have the stages of threads',
        from: 'if (size === 1) return rank.expression;',
        to: 'return rank.expression;',
        why: 'a tile writes over the stages of others',
      },
      {
        name: 'the stage of a block is all that lies behind it',
        from: 'offset: begin, length: room',
        to: 'offset: begin',
        why: 'staged.length is that of the whole array',
      },
      {
        name: 'the stage of a tile is all that lies behind it',
        from: "binary('add', begin, own, range), length: room",
        to: "binary('add', begin, own, range)",
        why: 'staged.length is that of the whole array',
      },
      {
        name: 'a stage has the room of its first batch',
        from: 'lowering.expanded(given ?? count.count)',
        to: 'lowering.expanded(count.count)',
        why: 'a longer batch writes over the next stage',
      },
      {
        name: 'a copy begins where its stage does',
        from: "copy.at === undefined ? stage.offset : binary('add', stage.offset, copy.at, range)",
        to: 'stage.offset',
        why: 'parts of a batch are written over one another',
      },
      {
        name: 'the group makes every copy',
        from: 'copy.by ?? group,',
        to: 'group,',
        why: 'a copy of the producers waits for consumers',
      },
      {
        name: 'what is called source is the one that is copied',
        from: "given.members.get('source')?.kind !== 'object' && ",
        to: '',
        why: 'a copy that is called source is refused',
      },
      {
        name: 'what is no copy among copies is left out',
        from: 'named.length > 0 && named.length === given.members.size',
        to: 'named.length > 0',
        why: 'an array that somebody forgot to wrap is not copied, and nothing says so',
      },
    ],
  ),
  ...mutationsOf(
    'src/compiler/intrinsics/pipelined-options.ts',
    ['test/compiler/pipelined.test.ts'],
    [
      {
        name: 'undefined is given',
        from: "value !== undefined && value.kind !== 'undefined'",
        to: 'value !== undefined',
        why: 'a copy whose room is undefined is refused',
      },
    ],
  ),
];

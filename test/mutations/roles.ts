// Mutations of what `targets/legalise` makes of pipelines whose threads have roles, and of the loops around their verbs.

import { mutationsOf } from './mutation.ts';

const roles = ['test/core/roles.test.ts', 'test/core/ordering.test.ts'];

export const mutations = [
  ...mutationsOf('src/targets/legalise/pipeline-state.ts', roles, [
    {
      name: 'one consumer releases a stage for all',
      from: 'full: words.u32(1), empty: consumers };',
      to: 'full: words.u32(1), empty: words.u32(1) };',
      why: 'the copy engine overwrites what other threads still read',
    },
    {
      name: 'every producer is waited for where one copies',
      from: 'full: words.u32(1), empty: consumers };',
      to: "full: words.convert(producers!, 'u32'), empty: consumers };",
      why: 'consumers wait for ever',
    },
  ]),
  ...mutationsOf('src/targets/legalise/neighbours.ts', roles, [
    {
      name: 'copies with gaps are one',
      from: 'part.to - to === n * each &&',
      to: '',
      why: 'elements land where another producer would have put them',
    },
    {
      name: 'parts of the source may come in any order',
      from: 'part.from - from === n * each',
      to: 'part.from !== null',
      why: 'elements come from where another producer would have read them',
    },
    {
      name: 'the second thread copies first',
      from: 'parts.sort((a, b) => (a.to ?? 0) - (b.to ?? 0));',
      to: 'parts.sort((a, b) => (b.to ?? 0) - (a.to ?? 0));',
      why: 'no pipeline with roles is copied by one thread, or from its end on',
    },
    {
      name: 'what is taken away is added',
      from: "return each.operator === 'add' ? left + right : left - right;",
      to: 'return left + right;',
      why: 'copies that run backwards are taken for one that runs forwards',
    },
    {
      name: 'parts are always in the order of the ranks',
      from: 'rank > parts[n - 1]!.rank);',
      to: 'rank !== parts[n - 1]!.rank);',
      why: 'a checked kernel names a thread whose copy is right',
    },
  ]),
  ...mutationsOf('src/targets/legalise/roles.ts', roles, [
    {
      name: 'a tested copy is of one thread',
      from: 'parts: { count: parts, threads: producers / parts }',
      to: 'parts: { count: 1, threads: producers / parts }',
      why: 'a checked kernel says that the first producer copied what all of them do',
    },
    {
      name: 'what producers read is not tested',
      from: 'if (this.#options.checked && alive.some(canFail))',
      to: 'if (this.#options.checked && alive.length === 0)',
      why: 'a checked kernel names the copying thread for what another one read',
    },
    {
      name: 'threads are those of the hardware',
      from: '...(order.isSame ? {} : { threadOrder: order }),',
      to: '',
      why: 'a checked kernel names the thread of the hardware, which is not the one of the kernel',
    },
    {
      name: 'threads that do not all come to a verb have a role',
      from: 'threads.every((one, rank) => one !== producers[rank])',
      to: 'true',
      why: 'stages are released by fewer warps than are expected, or by more',
    },
    {
      name: 'threads may meet between the verbs',
      from: "if (meets) throw new Obstacle('threads meet otherwise between its verbs');\n",
      to: '',
      why: 'threads that copy nothing never come to the barrier of the block',
    },
    {
      name: 'what is assigned between the verbs may be read afterwards',
      from: 'if ([...assigned].some((variable) => outside.has(variable)))',
      to: 'if (outside.size < 0)',
      why: 'producers that do not copy any more read a value from before',
    },
    {
      name: 'producers may do more than copy',
      from: 'if (anyStatement(alive, (each) => !isTheirs(each)))',
      to: 'if (alive.length < 0)',
      why: 'what every producer does is done by one',
    },
    {
      name: 'roles need not fill warps',
      from: 'if (this.#size % warp !== 0 || order.count % warp !== 0)',
      to: 'if (order.count < 0)',
      why: 'a warp has both roles, and its producers never copy or its consumers never come',
    },
    {
      name: 'threads change places where lanes meet',
      from: 'if (!order.isSame && asksForWarps(this.#program))',
      to: 'if (order.count < 0)',
      why: 'lanes exchange values with others than the text says',
    },
    {
      name: 'copies may begin anywhere',
      from: 'if (known < 16)',
      to: 'if (known < 1)',
      why: 'a bulk copy from such an address is a fault of the GPU',
    },
  ]),
  ...mutationsOf(
    'src/targets/legalise/thread-scope.ts',
    ['test/core/thread-scope.test.ts'],
    [
      {
        name: 'stages may be read after their release',
        from: 'const between = new Set(outer.body.slice(wait, release));',
        to: 'const between = new Set(outer.body);',
        why: 'the copy engine overwrites what a thread still reads',
      },
      {
        name: 'syncs in branches stay unseen',
        from: 'return !anyStatement(outer.body, (each) => isSync(each) && !outer.body.includes(each));',
        to: 'return true;',
        why: 'a block with bulk copies meets where the kernel has a sync of its own',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/verbs.ts',
    ['test/core/thread-scope.test.ts', 'test/cuda/lockstep.test.ts'],
    [
      {
        name: 'verbs elsewhere stay unseen',
        from: 'uses === filling.length + using.length',
        to: 'uses >= filling.length',
        why: 'what is acquired before the loop is never committed, or stages are counted twice',
      },
      {
        name: 'a wait that may time out is a wait',
        from: 'if (isStageCall(call)) return',
        to: "if (call.intrinsic.startsWith('consumerWait')) return 'wait';\n  if (isStageCall(call)) return",
        why: 'a thread that stopped waiting reads a stage as if it were there',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/loops.ts',
    ['test/core/greatest-counters.test.ts'],
    [
      {
        name: 'a counter gets more, and not its bound less',
        from: 'const isFar: Comparison = { ...test, left: counter, right: amount === 0 ? bound : least };',
        to: "const isFar: Comparison = { ...test, left: { ...least, operator: 'add', left: counter } as Expression, right: bound };",
        why: 'the last batches of a counter near 2^31 are followed by others that are not there',
      },
      {
        name: 'no unsigned bound is less than what is taken from it',
        from: 'return isUnsigned && amount > 0 ? [{ ...test, left: by, right: bound }, isFar] : [isFar];',
        to: 'return isUnsigned && amount < 0 ? [] : [isFar];',
        why: 'with an unsigned counter fewer batches than stages become four thousand millions',
      },
    ],
  ),
  ...mutationsOf('src/targets/legalise/parts.ts', roles, [
    {
      name: 'a loop that fills a pipeline ends where it likes',
      from: 'if (!isSame(outer.test!, renamed(bound, filled, used))) return null;',
      to: '',
      why: 'the producers copy batches that nobody waits for, or too few',
      equivalent:
        'it differs only for kernels that copy batches which no consumer waits for: what they do is not defined',
    },
  ]),
  ...mutationsOf('src/targets/legalise/thread-order.ts', roles, [
    {
      name: 'ranks of a run are told without its period',
      from: 'return Math.floor(number / width) * period + (number % width) + first;',
      to: 'return number + first;',
      why: 'a fault names a thread of the other role',
    },
    {
      name: 'consumers stay where they are',
      from: "inRun(words.binary('subtract', rank, words.index(count)), consumers),",
      to: 'inRun(rank, consumers),',
      why: 'elements are computed by no thread, or by two',
    },
    {
      name: 'roles begin with the first thread',
      from: "return first === 0 ? rank : words.binary('add', rank, words.index(first));",
      to: 'return rank;',
      why: 'two threads of the hardware do the work of one, and another one stays undone',
    },
  ]),
];

// Counts of the block's votes, said by memory and syncs: for a CPU, and for warps of a GPU whose threads may
// come apart from each other, which its instruction does not take.
//
// Where all threads of the block come together, each puts its vote into a slot of its own, the first thread
// adds them up, and all read the one sum: so it is known to be the same in all of them. Elsewhere the first
// thread may have returned: there those that vote add to a counter.

import type { Program, Statement } from '../../compiler/ir.ts';
import type { CoreCall, CoreOperation } from '../../compiler/ir-core.ts';
import { replaceCalls } from '../analysis/map.ts';
import { forEachStatement } from '../analysis/walk.ts';
import { Frame } from './frame.ts';

type Count = CoreCall & { readonly operation: Extract<CoreOperation, { kind: 'groupCount' }> };

/** The program without those counts of the block of which `which` holds. `together`: all threads come to each. */
export function expandCounts(
  program: Program,
  together: boolean,
  which: (call: CoreCall) => boolean = () => true,
): Program {
  const counts = new Set<Statement>();
  forEachStatement(program.body, (each) => {
    if (isCount(each) && which(each)) counts.add(each);
  });
  if (counts.size === 0) return program;
  const frame = new Frame(program);
  const total = frame.shared('total', 'i32', 1);
  const expand = together ? bySlots(frame, total) : byCounter(frame, total);
  const body = replaceCalls(program.body, (call) => (counts.has(call) ? expand(call as Count) : [call]));
  return frame.finish(together ? body : [...cleared(frame, total), ...body]);
}

type Expand = (call: Count) => readonly Statement[];
type SharedWord = ReturnType<Frame['shared']>;

function bySlots(frame: Frame, total: SharedWord): Expand {
  const votes = frame.shared('votes', 'i32', frame.blockSize);
  const sum = frame.variable('sum', 'i32');
  const slot = frame.variable('slot', frame.program.indexType);
  return ({ operation: { group, value }, result, range }) => {
    const words = frame.words(range);
    const at = words.read(slot, words.indexType);
    const added = words.binary('add', words.read(sum, 'i32'), words.load(votes, at, 'i32'));
    return [
      words.store(votes, words.threadRank, words.convert(value, 'i32')),
      words.sync(group),
      words.when(words.isFirst(group), [
        words.assign(sum, words.constant('i32', 0)),
        words.assign(slot, words.index(0)),
        words.loop(
          frame.label(),
          words.compare('less', at, words.index(frame.blockSize)),
          [words.assign(sum, added)],
          [words.assign(slot, words.binary('add', at, words.index(1)))],
        ),
        words.store(total, words.index(0), words.read(sum, 'i32')),
      ]),
      words.sync(group),
      ...(result === null ? [] : [words.assign(result, words.load(total, words.index(0), 'i32'))]),
    ];
  };
}

/** What a thread adds, it takes back after all have read: before it adds again. */
function byCounter(frame: Frame, total: SharedWord): Expand {
  const vote = frame.variable('vote', 'i32');
  return ({ operation: { group, value }, result, range }) => {
    const words = frame.words(range);
    const update = (operator: 'add' | 'sub'): Statement => {
      const place = { array: total, index: words.index(0), value: words.read(vote, 'i32'), compare: null };
      return { kind: 'call', intrinsic: 'atomic', operator, ...place, result: null, range };
    };
    return [
      words.assign(vote, words.convert(value, 'i32')),
      update('add'),
      words.sync(group),
      ...(result === null ? [] : [words.assign(result, words.load(total, words.index(0), 'i32'))]),
      words.sync(group),
      update('sub'),
    ];
  };
}

/** No thread has returned at the beginning. */
function cleared(frame: Frame, total: SharedWord): readonly Statement[] {
  const words = frame.words();
  const block = { kind: 'block' } as const;
  const clear = words.store(total, words.index(0), words.constant('i32', 0));
  return [words.when(words.isFirst(block), [clear]), words.sync(block)];
}

function isCount(statement: Statement): statement is Count {
  if (statement.kind !== 'call' || statement.intrinsic !== 'core') return false;
  const { operation } = statement;
  return operation.kind === 'groupCount' && operation.group.kind === 'block';
}

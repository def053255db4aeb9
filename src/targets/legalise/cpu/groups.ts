// A block's groups of one kind: how many there are, which of them a thread is in, and how many threads that has. Of
// the grid it is in one, which has more threads than the block's.

import type { Expression, Group } from '../../../compiler/ir.ts';
import type { Frame } from '../frame.ts';
import type { Words } from '../words.ts';

/** Threads of a group that is not a smaller last one. */
export function groupSize(frame: Frame, group: Group): number {
  if (group.kind === 'tile') return Math.min(group.size, frame.blockSize);
  return group.kind === 'thread' ? 1 : frame.blockSize;
}

/** Groups of that kind in a block. */
export function instances(frame: Frame, group: Group): number {
  return Math.ceil(frame.blockSize / groupSize(frame, group));
}

/** Which of them is the thread's, of the indexType. */
export function instanceOf(frame: Frame, group: Group, words: Words): Expression {
  if (instances(frame, group) === 1) return words.index(0);
  return words.binary('divide', words.threadRank, words.index(groupSize(frame, group)));
}

/** How many threads that one has, an i32: the last tile may be smaller. */
export function sizeOf(frame: Frame, group: Group, words: Words): Expression {
  const size = groupSize(frame, group);
  const rest = frame.blockSize % size;
  const number = (value: number) => words.constant('i32', value);
  if (group.kind === 'grid') {
    const blocks = (['gridDim.x', 'gridDim.y', 'gridDim.z'] as const).map((name) =>
      words.convert(words.builtin(name), 'i32'),
    );
    return blocks.reduce((threads, count) => words.binary('multiply', threads, count), number(size));
  }
  if (rest === 0) return number(size);
  const whole = words.index(frame.blockSize - rest);
  return words.choose(words.compare('less', words.threadRank, whole), number(size), number(rest));
}

// Asynchronous copies as the threads of a group make them, and the bytes of one.

import type { Expression, Program, Statement } from '../../compiler/ir.ts';
import { bytesOf } from '../../kernel/layout.ts';

import { elementOf } from '../analysis/elements.ts';
import { type Copy, copyAlignment, powerIn } from './calls.ts';
import type { Words } from './words.ts';

export class CopyLegaliser {
  readonly #program: Program;
  /** The alignment that a copy is known to have, in bytes, up to 16. */
  readonly alignmentOf: (copy: Copy) => number;

  constructor(program: Program, alignments: readonly number[]) {
    this.#program = program;
    this.alignmentOf = copyAlignment(program, alignments);
  }

  /** Whether cp.async can make a copy. */
  isAsynchronous(copy: Copy): boolean {
    const { source, destination } = copy;
    return (
      this.alignmentOf(copy) >= 4 && source.array.space === 'global' && destination.array.space === 'shared'
    );
  }

  /** The bytes of a copy, a u32. */
  bytes({ source, count }: Copy, words: Words): Expression {
    const bytes = bytesOf(elementOf(this.#program, source.array));
    return words.binary('multiply', words.convert(count, 'u32'), words.u32(bytes));
  }

  /** Tests the operands, in a kernel that is checked. */
  check({ destination, source, count, zeroFill, alignment: promised }: Copy, words: Words): Statement {
    return words.core({ kind: 'copyCheck', destination, source, count, zeroFill, promised });
  }

  /** A copy by the threads of its group. What cp.async cannot make is done when they go on. */
  byThreads(copy: Copy, words: Words): Statement[] {
    return [this.check(copy, words), this.#moved(copy, words)];
  }

  #moved(copy: Copy, words: Words): Statement {
    const { destination, source, count, group, zeroFill, alignment: promised } = copy;
    const operands = { destination, source, count, group, promised };
    if (zeroFill !== null) {
      if (count.kind !== 'constant') throw new TypeError('a copy with zeros has a known size');
      const chunkBytes = Number(count.value) * bytesOf(elementOf(this.#program, source.array));
      return words.core({ kind: 'copyChunks', ...operands, zeroFill, chunkBytes: chunkBytes as 4 | 8 | 16 });
    }
    if (!this.isAsynchronous(copy)) return words.core({ kind: 'copyElements', ...operands });
    // A thread copies whole elements, each in so many chunks, or so many elements in a chunk.
    const elementBytes = bytesOf(elementOf(this.#program, source.array));
    const alignment = this.alignmentOf(copy);
    const chunkBytes = (elementBytes <= alignment ? alignment : Math.min(alignment, powerIn(elementBytes))) as
      | 4
      | 8
      | 16;
    if (chunkBytes % Math.min(elementBytes, chunkBytes) !== 0)
      return words.core({ kind: 'copyElements', ...operands });
    return words.core({ kind: 'copyChunks', ...operands, zeroFill: null, chunkBytes });
  }
}

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
    return this.#chunkOf(copy) !== null;
  }

  /**
   * The bytes that a thread copies at once, 4, 8 or 16, or null where cp.async cannot: so many elements, or a part of
   * one, since a thread copies whole elements.
   */
  #chunkOf(copy: Copy): 4 | 8 | 16 | null {
    const { source, destination, count, zeroFill } = copy;
    const alignment = this.alignmentOf(copy);
    if (alignment < 4 || source.array.space !== 'global' || destination.array.space !== 'shared') return null;
    const elementBytes = bytesOf(elementOf(this.#program, source.array));
    if (zeroFill !== null) {
      if (count.kind !== 'constant') throw new TypeError('a copy with zeros has a known size');
      return (Number(count.value) * elementBytes) as 4 | 8 | 16;
    }
    const chunk = alignment % elementBytes === 0 ? alignment : Math.min(alignment, powerIn(elementBytes));
    return chunk >= 4 ? (chunk as 4 | 8 | 16) : null;
  }

  /** The bytes of a copy, a u32. */
  bytes({ source, count }: Copy, words: Words): Expression {
    const bytes = bytesOf(elementOf(this.#program, source.array));
    return words.binary('multiply', words.convert(count, 'u32'), words.u32(bytes));
  }

  /** Tests the operands, in a kernel that is checked. */
  check(copy: Copy, words: Words): Statement {
    const { destination, source, count, zeroFill, alignment: promised } = copy;
    const parts = 'parts' in copy && copy.parts !== undefined ? { parts: copy.parts } : {};
    return words.core({ kind: 'copyCheck', destination, source, count, zeroFill, promised, ...parts });
  }

  /** A copy by the threads of its group. What cp.async cannot make is done when they go on. */
  byThreads(copy: Copy, words: Words): Statement[] {
    return [this.check(copy, words), this.#moved(copy, words)];
  }

  #moved(copy: Copy, words: Words): Statement {
    const { destination, source, count, group, zeroFill, alignment: promised } = copy;
    const operands = { destination, source, count, group, promised };
    const chunkBytes = this.#chunkOf(copy);
    if (chunkBytes === null) return words.core({ kind: 'copyElements', ...operands });
    return words.core({ kind: 'copyChunks', ...operands, zeroFill, chunkBytes });
  }
}

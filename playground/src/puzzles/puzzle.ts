// A puzzle: a program with a gap, what it must do, and what people often write instead.

import type { CheckLaunch } from 'warpstage/check';

/** Text in the place of another, which stands once in the solution. */
type Edit = readonly [from: string, to: string];

type Values = Float32Array | Int32Array;

/** A launch of the answer's kernel, and what it must leave. */
export interface Trial {
  readonly launch: CheckLaunch;
  readonly expected: Readonly<Record<string, Values>>;
}

export type Goal =
  | {
      readonly kind: 'kernel';
      readonly trials: () => readonly Trial[];
      /** Steps of the stages' trace that it may take, where it is to overlap. */
      readonly steps?: number;
    }
  | {
      readonly kind: 'schedule';
      readonly device: string;
      /** Milliseconds that it may take there. */
      readonly milliseconds: number;
      readonly length: number;
      /** What becomes of an element. */
      readonly becomes: (value: number) => number;
    };

export interface Mistake {
  /** What was done, in words. */
  readonly what: string;
  readonly edits: readonly Edit[];
  /** A part of what the judge says of it. */
  readonly says: string;
}

export interface Puzzle {
  readonly name: string;
  readonly title: string;
  readonly task: string;
  readonly hint: string;
  readonly solution: string;
  /** What is taken out of the solution to begin with. */
  readonly gaps: readonly Edit[];
  readonly mistakes: readonly Mistake[];
  readonly goal: Goal;
}

/** A text with edits, each of which must stand in it once. */
export function edited(text: string, edits: readonly Edit[]): string {
  return edits.reduce((before, [from, to]) => {
    if (before.split(from).length !== 2) throw new RangeError(`not once in the solution: ${from}`);
    return before.replace(from, () => to);
  }, text);
}

/** A program with one kernel and one check case. */
export function program(schema: string, parameters: string, body: string, launch: string): string {
  return `import { kernel } from 'warpstage';
import { checkCase } from 'warpstage/check';

const answer = kernel(${schema}, (${parameters}, cuda) => {
${body}});

export const checks = [
  checkCase(answer, ${launch}),
];
`;
}

/** So many integers, each made of its position. */
export const integers = (length: number, of: (i: number) => number) =>
  Int32Array.from({ length }, (_, i) => of(i));

/** Numbers that are not in order. */
export const scattered = (length: number) => integers(length, (i) => (i * 37) % 101);

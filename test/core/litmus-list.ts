// How a litmus program is noted: what it is, and what a schedule of it may show.
//
// Where several verdicts are given, a schedule shows one of them; a racing program may end in more than one way.

import type { Program, Statement } from '#warpstage/compiler/ir.js';
import { Litmus, threads, type Verdict } from './litmus.ts';

export interface LitmusProgram {
  readonly name: string;
  readonly verdicts: readonly Verdict[];
  readonly program: Program;
  /** What a clean program gives. */
  readonly out?: readonly number[];
}

export const litmusPrograms: LitmusProgram[] = [];
export const each = (value: (t: number) => number) => Array.from({ length: threads }, (_, t) => value(t));
export const other = (t: number) => threads - 1 - t;

export function litmus(
  name: string,
  verdicts: Verdict | readonly Verdict[],
  write: (l: Litmus) => readonly Statement[],
  out?: readonly number[],
): void {
  const l = new Litmus();
  litmusPrograms.push({
    name,
    verdicts: typeof verdicts === 'string' ? [verdicts] : verdicts,
    program: l.build(...write(l)),
    ...(out === undefined ? {} : { out }),
  });
}

export const half = threads / 2;
export const bytes = 4 * threads;

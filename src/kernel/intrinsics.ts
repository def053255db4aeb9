// The one table of intrinsics: everything that a kernel may say beyond plain arithmetic.
//
// The front end has a handler for each (`satisfies Record<IntrinsicName, …>`), the typed `Cuda`
// of cuda.ts has a member for each (a type-level test compares them), and the documentation
// is made of it. A name is its receiver's kind and the member: `cuda.thisGrid`, `block.sync`,
// `pipeline.producerCommit`, `Math.sqrt`.

import {
  castIntrinsics,
  consoleIntrinsics,
  mathIntrinsics,
  vectorIntrinsics,
} from './intrinsics/arithmetic.ts';
import { barrierIntrinsics } from './intrinsics/barriers.ts';
import { copyIntrinsics } from './intrinsics/copies.ts';
import type { Intrinsic } from './intrinsics/entry.ts';
import { groupIntrinsics } from './intrinsics/groups.ts';
import { atomicIntrinsics, memoryIntrinsics, pipelineIntrinsics } from './intrinsics/memory.ts';
import { timeIntrinsics } from './intrinsics/time.ts';
import { warpIntrinsics } from './intrinsics/warps.ts';

export type { ArgumentKind, Combination, Form, Intrinsic, ResultKind } from './intrinsics/entry.ts';
export { combinations } from './intrinsics/entry.ts';

export const intrinsics = {
  ...groupIntrinsics,
  ...warpIntrinsics,
  ...memoryIntrinsics,
  ...copyIntrinsics,
  ...pipelineIntrinsics,
  ...timeIntrinsics,
  ...barrierIntrinsics,
  ...atomicIntrinsics,
  ...castIntrinsics,
  ...vectorIntrinsics,
  ...mathIntrinsics,
  ...consoleIntrinsics,
} as const satisfies Readonly<Record<string, Intrinsic>>;

export type IntrinsicTable = typeof intrinsics;

/** The name of an intrinsic, for example `'cuda.memcpyAsync'`. */
export type IntrinsicName = keyof IntrinsicTable;

/** What an intrinsic belongs to: `cuda`, `Math`, a kind of group, … */
export type Receiver = IntrinsicName extends `${infer R}.${string}` ? R : never;

/** The members of a receiver. */
export type MemberOf<R extends Receiver> =
  Extract<IntrinsicName, `${R}.${string}`> extends `${R}.${infer M}` ? M : never;

export function isIntrinsic(name: string): name is IntrinsicName {
  return Object.hasOwn(intrinsics, name);
}

/** The members that a receiver has, in the order of the table. */
export function membersOf(receiver: string): string[] {
  const prefix = `${receiver}.`;
  return Object.keys(intrinsics)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
}

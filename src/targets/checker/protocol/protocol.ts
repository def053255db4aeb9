// The protocol of pipelines and asynchronous copies, as a list of rules.

import type { Findings } from '../finding.ts';
import type { PartialObserver } from '../observers.ts';
import { Advice } from './advice.ts';
import { UnawaitedCopies } from './copies.ts';
import { Deadlocks } from './deadlock.ts';
import { GroupCopies } from './group-copies.ts';
import { Handles } from './handles.ts';
import { Making } from './making.ts';
import { Verbs } from './verbs.ts';

/** Observers that report every break of the protocol, and with `advice` what is slow as well. */
export function protocolRules(
  findings: Findings,
  { advice = false }: { readonly advice?: boolean } = {},
): PartialObserver[] {
  const handles = new Handles();
  const rules = [Verbs, Making, UnawaitedCopies, GroupCopies, Deadlocks, ...(advice ? [Advice] : [])];
  return [...rules.map((Rule) => new Rule(findings, handles)), handles];
}

// The protocol of pipelines and asynchronous copies, as a list of rules.

import type { PartialObserver } from '../../interpreter/observers.ts';
import type { Findings } from '../finding.ts';
import { Advice } from './advice.ts';
import { UnawaitedCopies } from './copies.ts';
import { Deadlocks } from './deadlock.ts';
import { Divergence } from './divergence.ts';
import { GroupCopies } from './group-copies.ts';
import { Handles } from './handles.ts';
import { Making } from './making.ts';
import { perBlock } from './per-block.ts';
import { Verbs } from './verbs.ts';

/** What reports every break of the protocol, and with `advice` what is slow or fragile as well. */
export function protocolRules(
  findings: Findings,
  { advice = false }: { readonly advice?: boolean } = {},
): PartialObserver {
  const rules = [
    Verbs,
    Making,
    UnawaitedCopies,
    GroupCopies,
    Deadlocks,
    ...(advice ? [Advice, Divergence] : []),
  ];
  return perBlock((block) => {
    const handles = new Handles(block);
    return [...rules.map((Rule) => new Rule(findings, handles)), handles];
  });
}

// Making a pipeline: all threads of the group with the same count, over a state that nobody owns.

import type { Pipeline } from '../../../compiler/ir-pipelines.ts';
import type { Range } from '../../../diagnostics/source.ts';
import type { Block } from '../../interpreter/block.ts';
import type { PartialObserver } from '../../interpreter/observers.ts';
import type { Thread } from '../../interpreter/thread.ts';
import { threadsInWords } from '../../rank-words.ts';
import type { Findings } from '../finding.ts';
import { mendOfMaking } from './deadlock.ts';
import type { Handle, Handles } from './handles.ts';

/** The count that the first thread of a group passed. */
interface Counted {
  readonly rank: number;
  readonly producers: number;
}

export class Making implements PartialObserver {
  readonly #findings: Findings;
  readonly #handles: Handles;
  readonly #counts = new Map<string, Counted>();
  /** How many times each thread has come to each place. */
  readonly #rounds = new Map<Pipeline, number[]>();

  constructor(findings: Findings, handles: Handles) {
    this.#findings = findings;
    this.#handles = handles;
  }

  blockEnded(block: Block): void {
    for (const pipeline of new Set(this.#handles.all().map((handle) => handle.pipeline))) {
      const sharing = this.#handles.sharing(pipeline);
      const [{ madeAt }] = sharing as [Handle];
      const made = new Set(sharing.map(({ thread }) => thread.rank));
      const missing = pipeline.members.filter((rank) => !made.has(rank));
      if (missing.length === 0) continue;
      const { name } = pipeline.declaration;
      this.#findings.report({
        code: 'WS7009',
        severity: 'error',
        message: `${threadsInWords(missing)} of the group ${missing.length === 1 ? 'does' : 'do'} not make \`${name}\``,
        place: { range: madeAt, threads: [...made].sort((a, b) => a - b), block: block.index },
        related: [],
        mend: mendOfMaking,
      });
    }
  }

  makeBegan(
    thread: Thread,
    declaration: Pipeline,
    producers: boolean | number | null,
    members: readonly number[],
    range: Range,
  ): void {
    if (declaration.scope === 'thread') return;
    if (typeof producers === 'number') this.#sameCount(thread, declaration, producers, members, range);
    this.#isFree(thread, declaration, members, range);
  }

  #sameCount(
    thread: Thread,
    declaration: Pipeline,
    producers: number,
    members: readonly number[],
    range: Range,
  ): void {
    const { rank, block } = thread;
    const rounds = this.#rounds.get(declaration) ?? [];
    const round = (rounds[rank] ?? 0) + 1;
    rounds[rank] = round;
    this.#rounds.set(declaration, rounds);
    const { program } = block.launch;
    const key = `${program.pipelines.indexOf(declaration)}:${members.join()}:${round}`;
    const first = this.#counts.get(key);
    if (first === undefined) this.#counts.set(key, { rank, producers });
    if (first === undefined || first.producers === producers) return;
    this.#findings.report({
      code: 'WS7009',
      severity: 'error',
      message: `the threads make \`${declaration.name}\` with different counts of producers: thread ${first.rank} with ${first.producers}, thread ${rank} with ${producers}`,
      place: { range, threads: [first.rank, rank], block: block.index },
      related: [],
      mend: 'Pass the same count in all threads of the group.',
    });
  }

  /**
   * The first thread of the group initialises the state. Whoever still has a pipeline over it then has
   * its barriers pulled from under it.
   */
  #isFree(thread: Thread, declaration: Pipeline, members: readonly number[], range: Range): void {
    const { rank, block } = thread;
    const initialises = members[0] === rank;
    const owners = this.#handles
      .all()
      .filter(
        (handle) =>
          handle.quitAt === null &&
          isSameState(handle.pipeline.declaration, declaration) &&
          (handle.thread === thread || (initialises && handle.pipeline.members[0] === rank)),
      );
    const [first] = owners;
    if (first === undefined) return;
    const ranks = owners.map((owner) => owner.thread.rank).sort((a, b) => a - b);
    const still = ranks.length === 1 ? 'still owns' : 'still own';
    this.#findings.report({
      code: 'WS7015',
      severity: 'error',
      message: `\`${declaration.name}\` is made over a shared state that ${threadsInWords(ranks)} ${still}`,
      place: { range, threads: [rank], block: block.index },
      related: [
        {
          label: `\`${first.pipeline.declaration.name}\`, made here over the same state, has not been quit`,
          range: first.madeAt,
          threads: ranks,
          block: block.index,
        },
      ],
      mend: 'Let all threads quit() the pipeline before, then sync the group, then make it anew; or use a state of its own.',
    });
  }
}

function isSameState(a: Pipeline, b: Pipeline): boolean {
  return a.state === b.state;
}

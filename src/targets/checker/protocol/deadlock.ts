// A deadlock in words: who waits for what, who has not come, and where those are instead.
//
// What a thread waits for is a phase that others have to arrive at. Who of them has not is known by
// what each thread has done so far; and of each of those: whether it waits itself (and where), has returned
// or has quit. One wait is the root: one whose missing threads are gone, or else the first of a circle.

import type { Group } from '../../../compiler/ir.ts';
import type { Pipeline } from '../../../compiler/ir-pipelines.ts';
import type { Range } from '../../../diagnostics/source.ts';
import type { Fault } from '../../executable.ts';
import { othersOf } from '../../interpreter/barrier.ts';
import type { Launch } from '../../interpreter/launch.ts';
import type { PartialObserver } from '../../interpreter/observers.ts';
import type { Awaited } from '../../interpreter/thread.ts';
import { threadsInWords } from '../../rank-words.ts';
import type { Findings, RelatedPlace } from '../finding.ts';
import type { Activity, Handle, Handles } from './handles.ts';

type Deadlock = Extract<Fault, { kind: 'deadlock' }>;
type Waiting = Deadlock['waiting'][number];

/** Threads that wait alike, and those that they wait for. */
interface Wait {
  readonly waiting: Waiting;
  readonly activity: Activity | null;
  /** What a barrier or an exchange of lanes knows of those it waits for. */
  readonly awaited: Awaited | null;
  /** Ranks; null where it is not known. */
  readonly missing: readonly number[] | null;
}

/** Threads that do not come, for one reason. */
interface Absence {
  readonly ranks: number[];
  readonly reason: 'unmade' | 'returned' | 'quit' | 'self' | Waiting;
}

export class Deadlocks implements PartialObserver {
  readonly #findings: Findings;
  readonly #handles: Handles;

  constructor(findings: Findings, handles: Handles) {
    this.#findings = findings;
    this.#handles = handles;
  }

  launchEnded(_launch: Launch, fault: Fault | null): void {
    if (fault?.kind !== 'deadlock' || fault.waiting.length === 0) return;
    if (fault.block.join() === this.#handles.block.index.join()) this.#report(fault);
  }

  #report({ block, waiting }: Deadlock): void {
    const waits = waiting.map((one): Wait => {
      const [rank] = one.threads as [number];
      const activity = this.#handles.activities.get(rank) ?? null;
      const awaited = this.#handles.block.threads[rank]!.waiting?.awaited?.() ?? null;
      const missing = activity ? this.#missing(rank, activity) : (awaited?.ranks ?? null);
      return { waiting: one, activity, awaited, missing };
    });
    const root =
      waits.find((wait) => wait.missing?.some((rank) => this.#isGone(wait, rank))) ??
      waits.find(({ activity }) => activity?.kind === 'make') ??
      waits[0]!;
    const absences = this.#absences(root, waits);
    const placeOf = ({ range, threads }: Waiting) => ({ range, threads, block });
    const others = waits
      .filter((wait) => wait !== root)
      .map((wait): RelatedPlace => ({ label: waitInWords(wait.waiting), ...placeOf(wait.waiting) }));
    const cause = this.#causeElsewhere(root, absences);
    if (cause !== null) {
      const { threads, range, ...text } = cause;
      const label = `${waitInWords(root.waiting)}, in vain`;
      this.#findings.report({
        ...text,
        severity: 'error',
        place: { range, threads, block },
        related: [{ label, ...placeOf(root.waiting) }, ...others],
      });
      return;
    }
    this.#findings.report({
      code: root.activity?.kind === 'make' && absences.length > 0 ? 'WS7009' : 'WS3002',
      severity: 'error',
      message: `deadlock: ${waitInWords(root.waiting)}${absencesInWords(root, absences)}`,
      place: placeOf(root.waiting),
      related: others,
      ...stageOf(root.activity),
      mend: mendOf(root, absences),
    });
  }

  /** What the threads that are missing did before, if that is why they can never come. */
  #causeElsewhere(root: Wait, absences: readonly Absence[]) {
    const { activity } = root;
    if (activity?.kind !== 'acquire' && activity?.kind !== 'wait') return null;
    const { pipeline } = activity.use;
    const { name } = pipeline.declaration;
    const unmade = absences.find(({ reason }) => reason === 'unmade')?.ranks;
    if (unmade !== undefined) {
      const verb = unmade.length === 1 ? 'does' : 'do';
      return {
        code: 'WS7009',
        message: `${threadsInWords(unmade)} of the group ${verb} not make \`${name}\`: ${waitInWords(root.waiting)}`,
        threads: root.waiting.threads,
        range: this.#handles.sharing(pipeline)[0]!.madeAt,
        mend: mendOfMaking,
      } as const;
    }
    const gone = absences.find(({ reason }) => reason === 'quit')?.ranks;
    if (gone === undefined) return null;
    return {
      code: 'WS7014',
      message: `${threadsInWords(gone)} quit \`${name}\` while others go on: ${waitInWords(root.waiting)}`,
      threads: gone,
      range: this.#quitAt(root, gone[0]!)!,
      mend: 'Quit after the last batch in all threads: quitting does not take a thread out of what the others count.',
    } as const;
  }

  #isGone(wait: Wait, rank: number): boolean {
    return this.#handles.returned.has(rank) || this.#quitAt(wait, rank) !== null;
  }

  /** Where a thread quit the pipeline that is waited for. */
  #quitAt({ activity }: Wait, rank: number): Range | null {
    if (activity?.kind !== 'acquire' && activity?.kind !== 'wait') return null;
    const of = this.#handles.sharing(activity.use.pipeline);
    return of.find(({ thread }) => thread.rank === rank)?.quitAt ?? null;
  }

  /** The ranks of those that have not arrived at what a thread waits for. */
  #missing(rank: number, activity: Activity): number[] | null {
    switch (activity.kind) {
      case 'acquire':
      case 'wait': {
        const { pipeline, batch } = activity.use;
        const handles = this.#handles.sharing(pipeline);
        const isWait = activity.kind === 'wait';
        const role = isWait ? 'producer' : 'consumer';
        const enough = isWait ? batch + 1 : batch - pipeline.declaration.stages + 1;
        const done = (handle: Handle) => (isWait ? handle.commits : handle.releases);
        const partitioned = pipeline.declaration.partition !== 'unified';
        // Who has done nothing yet may be of either role where only a count was given.
        const takesPart = (handle: Handle) =>
          !partitioned || handle.role === null || handle.role.name === role;
        const late = handles.filter((handle) => takesPart(handle) && done(handle) < enough);
        const makers = new Set(handles.map(({ thread }) => thread.rank));
        const unmade = pipeline.members.filter((other) => !makers.has(other));
        return [...late.map(({ thread }) => thread.rank), ...unmade].sort((a, b) => a - b);
      }
      case 'sync':
        return this.#absentFrom(rank, activity.group, (other) => {
          const { activities, returned } = this.#handles;
          const own = activities.get(other);
          // Only a grid counts on those that have returned.
          if (returned.has(other)) return activity.group.kind !== 'grid';
          return own?.kind === 'sync' && isSameGroup(own.group, activity.group);
        });
      case 'make': {
        const { declaration, members } = activity;
        return members.filter((other) => {
          const own = this.#handles.activities.get(other);
          return !(own?.kind === 'make' && own.declaration === declaration);
        });
      }
      default:
        return activity satisfies never;
    }
  }

  #absentFrom(rank: number, group: Group, isThere: (rank: number) => boolean): number[] {
    // Of a grid the block's own part is looked at.
    const own = group.kind === 'grid' ? ({ kind: 'block' } as const) : group;
    return othersOf(own, rank, this.#handles.block.threads.length, isThere);
  }

  #absences(root: Wait, waits: readonly Wait[]): Absence[] {
    const absences: Absence[] = [];
    for (const rank of root.missing ?? []) {
      const reason = this.#reason(root, rank, waits);
      if (reason === null) continue;
      const known = absences.find((absence) => absence.reason === reason);
      if (known === undefined) absences.push({ ranks: [rank], reason });
      else known.ranks.push(rank);
    }
    return absences;
  }

  #reason(root: Wait, rank: number, waits: readonly Wait[]): Absence['reason'] | null {
    if (this.#neverMade(root, rank)) return 'unmade';
    if (this.#quitAt(root, rank) !== null) return 'quit';
    if (this.#handles.returned.has(rank)) return 'returned';
    const own = waits.find(({ waiting }) => waiting.threads.includes(rank));
    // Who waits for a number of arrivals need not bring one.
    if (own === root) return root.awaited?.all === false ? null : 'self';
    return own?.waiting ?? null;
  }

  #neverMade({ activity }: Wait, rank: number): boolean {
    if (activity?.kind !== 'acquire' && activity?.kind !== 'wait') return false;
    return !this.#handles.sharing(activity.use.pipeline).some(({ thread }) => thread.rank === rank);
  }
}

export const mendOfMaking =
  'Let all threads of the group make the pipeline together, before any of them returns or waits for something else.';

const mendOfAwaited = {
  barrier:
    'Let every thread that the barrier counts arrive once in each phase, or leave for good by arriveAndDrop(); the number of arrivals may be given where the barrier is made.',
  making:
    'Let all threads of the group make the barrier together, before any of them returns or waits for something else.',
  lanes:
    'Let every lane that the mask or the tile names come to the same exchange, or name only those that do.',
} as const satisfies Record<Awaited['at'], string>;

function mendOf({ activity, awaited }: Wait, absences: readonly Absence[]): string {
  if (activity === null && awaited !== null) return mendOfAwaited[awaited.at];
  const self = absences.some(({ reason }) => reason === 'self');
  switch (activity?.kind) {
    case 'make':
      return mendOfMaking;
    case 'acquire':
      return self
        ? `Release a stage before acquiring one more: ${activity.use.pipeline.declaration.stages} can be in flight.`
        : 'Let every consumer release each stage once, also where it had nothing to compute.';
    case 'wait':
      return self
        ? 'Wait only for as many batches as are committed; commit before waiting.'
        : 'Let every producer commit each stage once, also where it had nothing to copy, and as many stages as are waited for.';
    default:
      return activity?.kind === 'sync' && activity.group.kind === 'grid'
        ? 'Let every thread of every block come to each grid.sync(), also where it has nothing to do: it waits for those that have returned, too.'
        : 'Every thread that others wait for must arrive, commit or release as often as they expect.';
  }
}

/** Who waits, and for what; how many have returned is left to the words on who is missing. */
function waitInWords({ threads, what }: Waiting): string {
  const wait = threads.length === 1 ? 'waits' : 'wait';
  return `${threadsInWords(threads)} ${wait} in ${what.replace(/; \d+ threads? (has|have) returned$/, '')}`;
}

function absencesInWords({ activity, awaited }: Wait, absences: readonly Absence[]): string {
  const stages =
    activity?.kind === 'acquire' && absences.some(({ reason }) => reason === 'self')
      ? `; ${inFlight(activity.use.pipeline.declaration)}`
      : '';
  const words = absences
    .map(({ ranks, reason }) => {
      const who = threadsInWords(ranks);
      const one = ranks.length === 1;
      if (reason === 'self')
        return `; ${who} ${one ? 'is' : 'are'} missing, and ${one ? 'waits' : 'wait'} here`;
      if (reason === 'returned') return `; ${who} ${one ? 'has' : 'have'} returned`;
      if (reason === 'quit') return `; ${who} ${one ? 'has' : 'have'} quit`;
      if (reason === 'unmade') return `; ${who} ${one ? 'has' : 'have'} not made it`;
      const late =
        awaited?.all === false ? `${one ? 'has' : 'have'} not arrived` : `${one ? 'is' : 'are'} missing`;
      return `; ${who} ${late}, and ${one ? 'waits' : 'wait'} in ${reason.what}`;
    })
    .join('');
  return stages + words;
}

function inFlight({ stages }: Pipeline): string {
  return stages === 1 ? 'its one stage is in flight' : `all ${stages} stages of it are in flight`;
}

function stageOf(activity: Activity | null) {
  if (activity?.kind !== 'acquire' && activity?.kind !== 'wait') return {};
  const { pipeline, stage, batch } = activity.use;
  return { stage: { pipeline: pipeline.declaration.name, stage, batch } };
}

function isSameGroup(a: Group, b: Group): boolean {
  return a.kind === b.kind && (a.kind !== 'tile' || b.kind !== 'tile' || a.size === b.size);
}

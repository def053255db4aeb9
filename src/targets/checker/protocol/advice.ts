// What is right, and slower than it need be: copies that the hardware cannot make asynchronously,
// warps whose lanes part at a pipeline, and shared pipelines where a thread's own would do.

import type { Pipeline } from '../../../compiler/ir-pipelines.ts';
import type { Range } from '../../../diagnostics/source.ts';
import type { Block } from '../../interpreter/block.ts';
import type { PendingCopy } from '../../interpreter/copies.ts';
import type { MadePipeline, StageUse } from '../../interpreter/observer.ts';
import type { PartialObserver } from '../../interpreter/observers.ts';
import type { Thread } from '../../interpreter/thread.ts';
import type { Finding, FindingPlace, Findings, RelatedPlace } from '../finding.ts';
import type { Handle, Handles } from './handles.ts';

/** Threads that run together. */
const warpSize = 32;

/** The narrowest asynchronous copy of the hardware, in bytes. */
const narrowest = 4;

type FindingText = Pick<Finding, 'code' | 'message' | 'mend'> & {
  readonly related?: readonly RelatedPlace[];
};

export class Advice implements PartialObserver {
  readonly #findings: Findings;
  readonly #handles: Handles;
  readonly #seen = new Set<PendingCopy['call'] | Pipeline>();
  /** Where the lanes of a warp committed a batch first, by pipeline, warp and batch. */
  readonly #commits = new Map<string, Range>();

  constructor(findings: Findings, handles: Handles) {
    this.#findings = findings;
    this.#handles = handles;
  }

  issued({ thread, call, to, from }: PendingCopy): void {
    if (this.#seen.has(call)) return;
    this.#seen.add(call);
    const place = placeOf(thread, call.range);
    const [source, destination] = [call.source.array.space, call.destination.array.space];
    if (source !== 'global' || destination !== 'shared') {
      this.#report(place, {
        code: 'WS7102',
        message: `memcpyAsync from \`${from.elements.name}\` in ${source} memory to \`${to.elements.name}\` in ${destination} memory overlaps with nothing: only copies from global to shared memory are asynchronous`,
        mend: 'Load and store the elements directly.',
      });
    } else if (call.alignment < narrowest) {
      const bytes = `${call.alignment} byte${call.alignment === 1 ? '' : 's'}`;
      this.#report(place, {
        code: 'WS7101',
        message: `memcpyAsync from \`${from.elements.name}\` to \`${to.elements.name}\` with an alignment of ${bytes} is not asynchronous`,
        mend: 'Promise what offsets and size keep: cuda.alignedSize(4, count), or 8, or 16.',
      });
    }
  }

  made(thread: Thread, { declaration }: MadePipeline, range: Range): void {
    const { name, scope, partition, group } = declaration;
    if (scope === 'thread' || this.#seen.has(declaration)) return;
    this.#seen.add(declaration);
    if (scope !== 'block') {
      this.#report(placeOf(thread, range), {
        code: 'WS7102',
        message: `\`${name}\` has ${scope} scope, with which the reference waits for copies when they are committed`,
        mend: "Make the state with pipelineSharedState('block', …): the threads of a pipeline are of one block.",
      });
    }
    if (partition !== 'unified' || group.kind !== 'block') return;
    this.#report(placeOf(thread, range), {
      code: 'WS7104',
      message: `all threads of the block produce into \`${name}\` and consume from it, by barriers that they share`,
      mend: 'Use a pipeline of the thread’s own, makePipeline(), with a sync of the block after each wait and before a stage is filled anew.',
    });
  }

  committed(thread: Thread, use: StageUse): void {
    const { declaration } = use.pipeline;
    const { launch, index } = thread.block;
    const warp = Math.floor(thread.rank / warpSize);
    const key = `${index} ${launch.program.pipelines.indexOf(declaration)} ${warp} ${use.batch}`;
    const first = this.#commits.get(key);
    if (first === undefined) this.#commits.set(key, use.range);
    if (first === undefined || first === use.range) return;
    this.#report(placeOf(thread, use.range), {
      code: 'WS7103',
      message: `lanes of warp ${warp} commit a batch of \`${declaration.name}\` at different places`,
      related: [{ label: 'other lanes commit here', ...placeOf(thread, first), threads: [] }],
      mend: 'Let all lanes of a warp reach the same commit: move it behind the branch.',
    });
  }

  blockEnded(block: Block): void {
    for (const pipeline of new Set(this.#handles.all().map((handle) => handle.pipeline))) {
      const sharing = this.#handles.sharing(pipeline);
      const mixed = sharing.find(
        (handle) => handle.role?.name === 'producer' && sharing.some((other) => sharesWarp(handle, other)),
      );
      if (mixed === undefined) continue;
      const warp = Math.floor(mixed.thread.rank / warpSize);
      const threads = sharing
        .map(({ thread }) => thread.rank)
        .filter((rank) => Math.floor(rank / warpSize) === warp);
      this.#report(
        { range: mixed.madeAt, threads, block: block.index },
        {
          code: 'WS7103',
          message: `lanes of warp ${warp} are producers of \`${pipeline.declaration.name}\`, and others of it consumers`,
          mend: 'Give all 32 threads of a warp one role, for example by Math.trunc(block.threadRank() / 32).',
        },
      );
    }
  }

  #report(place: FindingPlace, { related = [], ...text }: FindingText): void {
    this.#findings.report({ ...text, severity: 'advice', place, related });
  }
}

function sharesWarp(producer: Handle, other: Handle): boolean {
  if (other.role?.name !== 'consumer') return false;
  return Math.floor(producer.thread.rank / warpSize) === Math.floor(other.thread.rank / warpSize);
}

function placeOf(thread: Thread, range: Range): FindingPlace {
  return { range, threads: [thread.rank], block: thread.block.index };
}

// What a thread may do with its pipeline: nothing after quit, nothing of the other role, a commit after
// an acquire, a release after a wait, and no more commits at a time than can be counted.
//
// For each verb the first of these rules that it breaks is reported, not those that follow from it.

import { type PipelineVerb, pipelineVerbs } from '../../../compiler/ir-pipelines.ts';
import type { Range } from '../../../diagnostics/source.ts';
import type { PendingCopy } from '../../interpreter/copies.ts';
import type { StageUse } from '../../interpreter/observer.ts';
import type { PartialObserver } from '../../interpreter/observers.ts';
import type { WaitVerb } from '../../interpreter/pipeline.ts';
import type { Thread } from '../../interpreter/thread.ts';
import { hasQuit, type PipelineRole, wrongRole } from '../../pipeline-misuse.ts';
import type { Finding, Findings, RelatedPlace } from '../finding.ts';
import { groupSize, type Handle, type Handles } from './handles.ts';

/** Commits that a thread-scoped pipeline of the reference can count: its cursors have 8 bits. */
const mostCommits = 255;

type FindingText = Pick<Finding, 'code' | 'message' | 'mend'> & {
  readonly related?: readonly RelatedPlace[];
};

export class Verbs implements PartialObserver {
  readonly #findings: Findings;
  readonly #handles: Handles;

  constructor(findings: Findings, handles: Handles) {
    this.#findings = findings;
    this.#handles = handles;
  }

  acquireBegan(thread: Thread, use: StageUse): void {
    this.#may(this.#handles.of(thread, use), 'producerAcquire', use.range);
  }

  issued(copy: PendingCopy): void {
    const handle = this.#handles.ofCopy(copy);
    if (handle !== undefined) this.#may(handle, 'memcpyAsync', copy.call.range);
  }

  committed(thread: Thread, use: StageUse): void {
    const handle = this.#handles.of(thread, use);
    if (!this.#may(handle, 'producerCommit', use.range)) return;
    const { name, scope } = use.pipeline.declaration;
    if (scope === 'thread') this.#countCommits(handle, use);
    else if (!handle.acquired) {
      this.#report(handle, use.range, use, {
        code: 'WS7010',
        message: `producerCommit on stage ${use.stage} of \`${name}\` without producerAcquire`,
        related: this.#elsewhere(handle, handle.lastCommit, use, 'the stage before was committed here'),
        mend: 'Call producerAcquire() before each commit, also in threads that copy nothing: it waits until the stage is free.',
      });
    }
  }

  waitBegan(thread: Thread, use: StageUse, verb: WaitVerb, limit?: number): void {
    const handle = this.#handles.of(thread, use);
    if (!this.#may(handle, verb, use.range)) return;
    // A thread's own pipeline waits as long as it takes, here and in the reference.
    if (use.pipeline.declaration.scope === 'thread') return;
    // A point in time may well have passed.
    if (verb !== 'consumerWaitFor' || limit === undefined || limit > 0) return;
    const reference = limit === 0 ? 'waits for ever' : 'looks a few times and gives up';
    this.#report(handle, use.range, use, {
      code: 'WS7017',
      message: `consumerWaitFor of ${limit} nanoseconds on \`${use.pipeline.declaration.name}\` looks once here, and in the reference it ${reference}`,
      mend: 'Call consumerWait() to wait for ever; to look once, pass 1 nanosecond.',
    });
  }

  released(thread: Thread, use: StageUse): void {
    const handle = this.#handles.of(thread, use);
    if (!this.#may(handle, 'consumerRelease', use.range)) return;
    const { name, scope } = use.pipeline.declaration;
    if (scope === 'thread' || handle.waited) return;
    this.#report(handle, use.range, use, {
      code: 'WS7011',
      message: `consumerRelease on stage ${use.stage} of \`${name}\` without consumerWait`,
      related: this.#elsewhere(handle, handle.lastRelease, use, 'the stage before was released here'),
      mend: 'Release a stage once, after the consumerWait() for it: the release lets producers fill it again.',
    });
  }

  quit(thread: Thread, use: StageUse): void {
    this.#mayAfterQuit(this.#handles.of(thread, use), 'quit', use.range);
  }

  /** Whether the thread may use the verb at all; tells why not. */
  #may(handle: Handle, verb: PipelineVerb, range: Range): boolean {
    return this.#mayAfterQuit(handle, verb, range) && this.#hasRole(handle, verb, range);
  }

  #mayAfterQuit(handle: Handle, verb: string, range: Range): boolean {
    const { quitAt, pipeline } = handle;
    if (quitAt === null) return true;
    const { message } = hasQuit(verb, pipeline.declaration.name);
    this.#report(handle, range, null, {
      code: 'WS7007',
      message,
      related: this.#before(handle, quitAt, 'it quit here'),
      mend: 'Quit after the last use; to go on, make the pipeline anew.',
    });
    return false;
  }

  #hasRole(handle: Handle, verb: PipelineVerb, range: Range): boolean {
    const { pipeline, role } = handle;
    const { name, partition } = pipeline.declaration;
    const required = pipelineVerbs[verb].role;
    if (partition === 'unified' || role?.name === required) return true;
    if (role === null) {
      handle.role = { name: required, range };
      return this.#isOneOf(handle, required, range);
    }
    if (handle.misplayed) return false;
    handle.misplayed = true;
    const { message, hint } = wrongRole(verb, name, role.name);
    this.#report(handle, range, null, {
      code: 'WS7008',
      message,
      related: this.#before(
        handle,
        role.range,
        partition === 'role' ? `it made \`${name}\` as a ${role.name} here` : `it became a ${role.name} here`,
      ),
      mend:
        partition === 'role'
          ? hint
          : 'Let the same threads produce, and the same consume, from the first batch to the last.',
    });
    return false;
  }

  /** A pipeline that was made with a count has so many producers, and the others consume. */
  #isOneOf(handle: Handle, role: PipelineRole, range: Range): boolean {
    const { pipeline, producers, madeAt } = handle;
    const declared = role === 'producer' ? producers! : groupSize(handle) - producers!;
    const those = this.#handles.sharing(pipeline).filter((other) => other.role?.name === role);
    if (those.length <= declared) return true;
    const { name } = pipeline.declaration;
    const does = role === 'producer' ? 'produce into' : 'consume from';
    this.#report(handle, range, null, {
      code: 'WS7008',
      message: `${those.length} threads ${does} \`${name}\`, which was made for ${declared} ${role}s`,
      related: this.#before(handle, madeAt, `\`${name}\` was made here`),
      mend: 'Pass makePipeline() the number of threads that produce; all others consume.',
    });
    return false;
  }

  #countCommits(handle: Handle, use: StageUse): void {
    const outstanding = handle.commits + 1 - handle.taken;
    if (outstanding <= mostCommits) return;
    const { name } = use.pipeline.declaration;
    this.#report(handle, use.range, use, {
      code: 'WS7018',
      message: `${outstanding} commits of \`${name}\` are outstanding, and a thread-scoped pipeline counts ${mostCommits}`,
      mend: 'Wait for a batch before committing so many more.',
    });
  }

  /** What came before, unless it was the same place in the round before. */
  #elsewhere(handle: Handle, range: Range | null, use: StageUse, label: string): RelatedPlace[] {
    return range?.source === use.range.source && range.start === use.range.start
      ? []
      : this.#before(handle, range, label);
  }

  #before({ thread }: Handle, range: Range | null, label: string): RelatedPlace[] {
    if (range === null) return [];
    return [{ label, range, threads: [thread.rank], block: thread.block.index }];
  }

  #report({ thread }: Handle, range: Range, use: StageUse | null, text: FindingText): void {
    const { related = [] } = text;
    this.#findings.report({
      ...text,
      severity: 'error',
      place: { range, threads: [thread.rank], block: thread.block.index },
      related,
      ...(use === null ? {} : { stage: stageOf(use) }),
    });
  }
}

function stageOf({ pipeline, stage, batch }: StageUse) {
  const { name: named, scope } = pipeline.declaration;
  return scope === 'thread' ? { pipeline: named, batch } : { pipeline: named, stage, batch };
}

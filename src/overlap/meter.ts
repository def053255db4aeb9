// What the stages of a run did: their time, bytes and spans.
//
// Reading and writing are timed here; the device tells of its copies and kernels through its
// recorder. No stage does two things at once, so its busy time is the sum of its spans.

import type { Device } from '../runtime/device.ts';
import type { Span } from '../timeline/span.ts';
import { type JobReport, type StageName, type StageReport, stageNames } from './options.ts';

/** Collects what the stages of a run do. */
export class Meter implements Disposable {
  readonly spans: Span[] = [];
  readonly #stages = new Map(stageNames.map((name) => [name, { name, busy: 0, bytes: 0, operations: 0 }]));
  readonly #device: Device;
  readonly #before: Device['recorder'];
  readonly #trace: boolean;
  readonly #began = performance.now();
  #ended = 0;

  /** Listens to the device until disposed; whoever listened before goes on hearing it. */
  constructor(device: Device, trace: boolean) {
    this.#device = device;
    this.#trace = trace;
    this.#before = device.recorder;
    device.recorder = (span) => {
      this.#before?.(span);
      this.#add(span);
    };
  }

  /** Times work of a stage on the host. `bytes` is asked when it is done. */
  async time<T>(stage: 'read' | 'write', work: () => Promise<T>, bytes: (result: T) => number): Promise<T> {
    const started = performance.now();
    const result = await work();
    const ended = performance.now();
    this.#add({
      name: stage,
      engine: stage,
      stream: 'host',
      queued: started,
      started,
      ended,
      bytes: bytes(result),
    });
    return result;
  }

  /** Milliseconds since the run began. */
  get elapsed(): number {
    return performance.now() - this.#began;
  }

  /** The work is done: the wall time ends. */
  stop(): void {
    this.#ended = performance.now();
  }

  /** The stages and their bound. */
  summary(): Pick<JobReport, 'wall' | 'stages' | 'bound'> {
    const wall = this.#ended - this.#began;
    const stages: readonly StageReport[] = [...this.#stages.values()].map((stage) => ({ ...stage }));
    const slowest = stages.reduce((a, b) => (b.busy > a.busy ? b : a));
    const bound =
      slowest.busy === 0 ? null : { stage: slowest.name, nearness: Math.min(1, slowest.busy / wall) };
    return { wall, stages, bound };
  }

  [Symbol.dispose](): void {
    this.#device.recorder = this.#before;
  }

  #add(span: Span): void {
    const stage = this.#stages.get(span.engine as StageName);
    if (stage !== undefined) {
      stage.busy += span.ended - span.started;
      stage.bytes += span.bytes ?? 0;
      stage.operations++;
    }
    if (this.#trace) this.spans.push(span);
  }
}

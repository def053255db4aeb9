// Streams: checks what is asked, and issues it to the command queue.

import { WarpstageError } from '../diagnostics/error.ts';
import type { Kernel, LaunchArguments, Schema } from '../kernel/kernel.ts';
import type { Element } from '../kernel/types.ts';
import { inWords } from './arguments.ts';
import { allocationsOf, copyBoxWork, copyWork, pieces, setWork } from './copies.ts';
import type { FilePieces } from './cpu/file-pieces.ts';
import type {
  Device,
  DeviceArray,
  Event,
  Graph,
  HostOperand,
  LaunchConfiguration,
  LaunchInformation,
  Pitched,
  Pitched3D,
  Stream,
} from './device.ts';
import { CommandEvent } from './event.ts';
import { CapturedGraph } from './graph.ts';
import type { GraphWork } from './graph-work.ts';
import { hostWork } from './host-call.ts';
import type { LaunchWork } from './launch.ts';
import type { CommandQueue, StreamState } from './queue.ts';

type Operand<E extends Element> = DeviceArray<E> | HostOperand<E>;

/** What a stream needs of its device. */
export interface StreamHost {
  readonly device: Device;
  readonly queue: CommandQueue;
  /** Throws WS4006 if the device was closed. */
  checkOpen(purpose: string): void;
  /** Checks and compiles a launch. */
  bind(
    kernel: Kernel,
    configuration: LaunchConfiguration,
    args: Readonly<Record<string, unknown>>,
  ): LaunchWork;
}

export class CommandStream implements Stream {
  readonly device: Device;
  readonly #host: StreamHost;
  readonly #state: StreamState;
  #destroyed = false;

  constructor(host: StreamHost, state: StreamState) {
    this.device = host.device;
    this.#host = host;
    this.#state = state;
  }

  get name(): string {
    return this.#state.name;
  }

  get priority(): number {
    return this.#state.priority;
  }

  #check(purpose: string): void {
    this.#host.checkOpen(purpose);
    if (!this.#destroyed) return;
    throw new WarpstageError({
      code: 'WS4002',
      message: `${purpose}: ${this.#state.name} was destroyed`,
      hint: 'create another stream, or destroy this one later',
    });
  }

  #copy(work: ReturnType<typeof copyWork>): void {
    if (work.box.width * work.box.height * work.box.depth === 0) return;
    for (const piece of pieces(work)) this.#host.queue.submit(this.#state, piece, allocationsOf(piece));
  }

  memcpyAsync<E extends Element>(destination: Operand<E>, source: Operand<NoInfer<E>>): void {
    this.#check('memcpyAsync');
    this.#copy(copyWork(this.device, destination, source));
  }

  memcpy2DAsync<E extends Element>(
    destination: Pitched<Operand<E>>,
    source: Pitched<Operand<NoInfer<E>>>,
    width: number,
    height: number,
  ): void {
    this.#check('memcpy2DAsync');
    this.#copy(copyBoxWork(this.device, 'memcpy2DAsync', destination, source, { width, height, depth: 1 }));
  }

  memcpy3DAsync<E extends Element>(
    destination: Pitched3D<Operand<E>>,
    source: Pitched3D<Operand<NoInfer<E>>>,
    width: number,
    height: number,
    depth: number,
  ): void {
    this.#check('memcpy3DAsync');
    this.#copy(copyBoxWork(this.device, 'memcpy3DAsync', destination, source, { width, height, depth }));
  }

  memsetAsync(destination: DeviceArray, byte: number): void {
    this.#check('memsetAsync');
    const work = setWork(this.device, destination, byte);
    if (work.bytes > 0) this.#host.queue.submit(this.#state, work, allocationsOf(work));
  }

  launch<S extends Schema>(
    kernel: Kernel<S>,
    configuration: LaunchConfiguration,
    args: LaunchArguments<S>,
  ): LaunchInformation {
    this.#check('launch');
    const work = this.#host.bind(kernel as unknown as Kernel, configuration, args);
    this.#host.queue.submit(this.#state, work, work.allocations);
    return { ranOn: work.ranOn };
  }

  /**
   * Binds a launch that runs over pieces of files, on a CPU device; `of` says which, of the launch over one piece.
   * What it gives issues some of the pieces.
   */
  bindOverFiles(
    kernel: Kernel,
    configuration: LaunchConfiguration,
    args: Readonly<Record<string, unknown>>,
    of: (work: LaunchWork) => FilePieces,
  ): LaunchInformation & { readonly launch: (first: number, count: number) => void } {
    this.#check('launch');
    const work = this.#host.bind(kernel, configuration, args);
    const pieces = of(work);
    const launch = (first: number, count: number): void => {
      this.#check('launch');
      this.#host.queue.submit(this.#state, { ...work, files: { pieces, first, count } }, work.allocations);
    };
    return { ranOn: work.ranOn, launch };
  }

  launchHostFunction(run: () => unknown): void {
    this.#check('launchHostFunction');
    this.#host.queue.submit(this.#state, hostWork(run), []);
  }

  capture(issue: () => void): Graph {
    this.#check('capture');
    const work = this.#host.queue.capture(this.#state, issue);
    return new CapturedGraph(this.device, work, (stream, graph) => (stream as CommandStream).#replay(graph));
  }

  #replay(graph: GraphWork): LaunchInformation {
    this.#check('launch of a graph');
    return { ranOn: this.#host.queue.launchGraph(this.#state, graph) };
  }

  record(event: Event): void {
    this.#check('record');
    const recorded = checkEvent(event, 'record');
    if (recorded.device !== this.device) {
      throw new WarpstageError({
        code: 'WS2005',
        message: 'record: the event belongs to another device',
        hint: 'create the event on the device of the stream; streams of other devices may wait for it',
      });
    }
    recorded.recordAt(this.#state);
  }

  waitEvent(event: Event): void {
    this.#check('waitEvent');
    checkEvent(event, 'waitEvent').joinTo(this.#state, this.#host.queue);
  }

  query(): boolean {
    this.#check('query');
    const { queue } = this.#host;
    return queue.query(queue.frontier(this.#state), [this.#state]);
  }

  async synchronize(): Promise<void> {
    this.#check('synchronize');
    const { queue } = this.#host;
    await queue.synchronize(queue.frontier(this.#state), [this.#state]);
  }

  async destroy(): Promise<void> {
    this.#check('destroy');
    const { queue } = this.#host;
    if (this.#state === queue.defaultStream) {
      throw new WarpstageError({ code: 'WS4007', message: 'the default stream cannot be destroyed' });
    }
    this.#destroyed = true;
    try {
      await queue.synchronize(queue.frontier(this.#state), [this.#state]);
    } finally {
      queue.removeStream(this.#state);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#destroyed) await this.destroy();
  }
}

function checkEvent(event: Event, purpose: string): CommandEvent {
  if (!(event instanceof CommandEvent)) {
    throw new WarpstageError({
      code: 'WS4007',
      message: `${purpose} takes an event, not ${inWords(event)}`,
      hint: 'make one with device.createEvent()',
    });
  }
  event.check(purpose);
  return event;
}

// A span: one operation's stay on an engine. Devices and the job record them; reports, trace
// files and the viewer are made of them.

/** One operation on one engine. Times are milliseconds on the clock of `performance.now()` of the main thread. */
export interface Span {
  /** What was done: `memcpy host to device`, a kernel's name, `read`, `write`, … */
  readonly name: string;
  /** Who did it, for example `copy in`, `compute`, `copy out`, `read`, `write`. No engine does two things at once. */
  readonly engine: string;
  /** The stream that it was issued to, for example `stream 1`. */
  readonly stream: string;
  /** When it was issued, began and ended. */
  readonly queued: number;
  readonly started: number;
  readonly ended: number;
  /** Of the operation; ascending in the order of issue on one device. */
  readonly id?: number;
  /** What it had to wait for when it was issued: the operations' `id`s. */
  readonly after?: readonly number[];
  readonly bytes?: number;
  /** Blocks, for a kernel. */
  readonly grid?: readonly [number, number, number];
  /** On a GPU whose times are CUPTI's, the channel that the hardware did it through: `copy 12`, `compute 1`. */
  readonly channel?: string;
  /** What a block of the kernel did with the stages of its pipelines, where that was recorded. */
  readonly stages?: BlockStages;
}

/**
 * What a block did with the stages of its pipelines. For each batch there is a span of `acquire` (from the
 * first thread that asks for a stage to the last that has it), `copy`, `wait`, `compute` (from the first thread
 * that goes on to the last that comes to release the stage) and `release`: that is its engine; its
 * stream is the stage.
 */
export interface BlockStages {
  /** The block's position in the grid. */
  readonly block: readonly [number, number, number];
  readonly spans: readonly Span[];
}

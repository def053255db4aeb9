// A run in a browser: over arrays, and over streams of the web and of programs. There are no files, so that what is about
// files is refused: nothing that was asked for is left out in silence.

import { problem } from '../diagnostics/problem.ts';
import { virtualModel } from '../runtime/model/virtual.ts';
import { open } from '../runtime/open-in-browser.ts';
import { copyHere } from './copy-here.ts';
import { filesOf, isPinned, openGiven } from './input-data.ts';
import type { RunOptions } from './options.ts';
import { isTaken, TakenOutputs } from './output-data.ts';
import { listDevices, OpenDevices } from './participants.ts';
import type { Sink } from './sinks/sink.ts';
import type { Given, Inputs, Outputs, Surroundings } from './surroundings.ts';

/** Options that are about files and processes, with what each says when it asks for nothing. */
const absent: Partial<Record<keyof RunOptions, unknown>> = {
  resume: false,
  shard: undefined,
  checksum: false,
  fsync: false,
  overwrite: true,
  maxMemory: undefined,
};

export const inBrowser: Surroundings = {
  get processors() {
    return globalThis.navigator?.hardwareConcurrency ?? 1;
  },
  hasColumns: () => false,
  holdsSeveral: () => false,
  expand: async (data) => data,
  isRepeatable: async (data) => ArrayBuffer.isView(data) || isPinned(data),
  check: async (given) => refuseFiles(given),
  async openDevices(wanted) {
    return OpenDevices.of(await listDevices(wanted), (name) => open(name));
  },
  copiesFor: () => copyHere,
  modelOf: virtualModel,
  hostMemory: () => undefined,
  lookAt: async () => ({ contents: new Map(), async check() {} }),
  inputs: () => new GivenInputs(),
  outputs: () => new PlainOutputs(),
  async loadCompilers() {},
  inPieces: () => null,
  // `check` has refused them.
  resume: async () => ({ rows: 0, chunks: 0 }),
  async cut() {},
};

/** Refuses paths, and options that are about files. */
function refuseFiles({ data, destinations, options }: Given): void {
  for (const [name, nothing] of Object.entries(absent)) {
    const given = options[name as keyof RunOptions];
    if (given === undefined || given === nothing) continue;
    throw problem('WS4007', `run has no option '${name}' in a browser, where it reads and writes no files`);
  }
  for (const [name, given] of data) {
    const [first] = filesOf(given) ?? [];
    if (first === undefined) continue;
    const path = first.file;
    const message = `input '${name}' is to be read from ${path}, and a browser opens no files by their paths`;
    throw problem('WS5005', message, `give what it holds: { ${name}: (await fetch('${path}')).body }`);
  }
  for (const [name, given] of destinations) {
    if (isTaken(given)) continue;
    const path = typeof given === 'string' ? given : given.file;
    const message = `output '${name}' is to be written to ${path}, and a browser opens no files by their paths`;
    throw problem('WS5006', message, 'leave it away to have an array made, or give a WritableStream');
  }
}

class GivenInputs implements Inputs {
  readonly #opened: (() => Promise<void>)[] = [];

  open: Inputs['open'] = async (data, wanted) => {
    const { source, close } = openGiven(data as Parameters<typeof openGiven>[0], wanted, copyHere);
    if (close !== undefined) this.#opened.push(close);
    return source;
  };

  async close(): Promise<void> {
    await Promise.allSettled(this.#opened.map((close) => close()));
  }
}

class PlainOutputs implements Outputs {
  readonly keptRows = 0;
  readonly #taken = new TakenOutputs(copyHere);
  readonly #sinks: Sink[] = [];

  open: Outputs['open'] = async (data, about) => {
    const sink = this.#taken.open(data as Parameters<TakenOutputs['open']>[0], about);
    this.#sinks.push(sink);
    return sink;
  };

  written(): void {}

  publish: Outputs['publish'] = async (shapes) => {
    for (const sink of this.#sinks) await sink.finish(shapes.get(sink)!);
    for (const sink of this.#sinks) sink.publish();
  };

  async interrupt(): Promise<void> {
    await Promise.allSettled(this.#sinks.map((sink) => sink.abandon()));
  }

  abandon(): Promise<void> {
    return this.interrupt();
  }

  get arrays() {
    return this.#taken.arrays;
  }
}

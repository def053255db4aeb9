// Arrow files and streams: columns, record batch after record batch.
//
// What reads (arrow-file.ts) and writes them (arrow-writer.ts) is loaded when it is needed.

import { problem } from '../diagnostics/problem.ts';
import { componentOf } from '../kernel/types.ts';
import { beginsAsStream } from './arrow-message.ts';
import type { BatchWriter } from './arrow-writer.ts';
import type { Encoding, Format, OutputDescription } from './format.ts';
import { packageFile } from './package-file.ts';
import { columnsOf, heldByGroup, nothingKept } from './text-rows.ts';

/** Arrow files, and streams: those end in `.arrows`, or go through pipes. */
export const arrow: Format = {
  name: 'arrow',
  endings: ['.arrow', '.feather', '.ipc', '.arrows'],
  columns: true,
  probe: (beginning) =>
    Buffer.from(beginning.subarray(0, 6)).toString('latin1') === 'ARROW1' || beginsAsStream(beginning),
  async open(file) {
    const { openArrow } = await import('./arrow-file.ts');
    return openArrow(file);
  },
  encode,
  get module() {
    return packageFile('formats/arrow.js', import.meta.url);
  },
};

/** A column of the parameter's name, several for rows of several numbers. */
function encode(output: OutputDescription): Encoding {
  const { name, element } = output;
  const component = componentOf(element);
  if (component !== element || component === 'bf16') {
    const message = `${name} would be Arrow data, which cannot hold elements of ${element}`;
    throw problem('WS5012', message, 'write it as .npy, or have the kernel write numbers of another type');
  }
  const isFile = /\.(arrow|feather|ipc)$/i.test(name);
  let names: readonly string[] = [];
  let began: Uint8Array | undefined;
  let writer: Promise<BatchWriter> | undefined;
  let made: BatchWriter | undefined;
  const opened = () => {
    writer ??= import('./arrow-writer.ts').then(({ BatchWriter }) => {
      made = new BatchWriter(names, component, isFile);
      began = made.begin();
      return made;
    });
    return writer;
  };
  /** With what comes before the first bytes. */
  const behindBegin = (bytes: Uint8Array) => {
    const all = began === undefined ? bytes : Buffer.concat([began, bytes]);
    began = undefined;
    return all;
  };
  return {
    begin(shape) {
      names = columnsOf(output, shape);
      return new Uint8Array();
    },
    encode: async (elements) => {
      const bytes = (await opened()).add(elements);
      return behindBegin(bytes);
    },
    heldBytes: (shape) => heldByGroup(2 ** 16, component, shape),
    keep: () => made?.keep() ?? nothingKept,
    async restore(state) {
      if (state.length === 0) return;
      (await opened()).restore(state);
      began = undefined;
    },
    end: async () => {
      const bytes = (await opened()).end();
      return behindBegin(bytes);
    },
  };
}

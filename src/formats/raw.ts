// Bare elements: nothing but numbers, as they lie in memory.
//
// Nothing in such a file tells what it is. So only its name does, or who gives it: the endings .raw and .bin, those
// that are a type's name, `format: 'raw'`, or `--raw`.

import { problem } from '../diagnostics/problem.ts';
import { componentOf } from '../kernel/types.ts';
import type { OpenBytes } from './bytes.ts';
import { type Dtype, dtypeBytes, isDtype } from './dtype.ts';
import { notWhole } from './element-source.ts';
import type { Contents, Format, OpenRequest, OutputDescription } from './format.ts';
import { pathInName } from './url.ts';

/** Bare elements. */
export const raw: Format = {
  name: 'raw',
  endings: ['.raw', '.bin', ...Object.keys(dtypeBytes).map((dtype) => `.${dtype}`)],
  open,
  encode({ name, element }: OutputDescription) {
    const said = typeOfName(name);
    if (said === undefined || said === componentOf(element)) return {};
    throw problem(
      'WS5012',
      `${name} would hold ${said} by its name, and the kernel writes ${componentOf(element)}`,
      `name it ${name.slice(0, -said.length)}${componentOf(element)}, or ${name.slice(0, -said.length)}bin`,
    );
  },
};

async function open(file: OpenBytes, { dtype, name: called }: OpenRequest): Promise<Contents> {
  const { name, size } = file;
  const said = typeOfName(called ?? name);
  const type = said ?? dtype;
  if (type === undefined) {
    return { arrays: [{ stored: 'bytes', ...(size === undefined ? {} : { length: size }), elements }] };
  }
  if (size !== undefined && size % dtypeBytes[type] !== 0) throw notWhole(name, size, type);
  // What a program writes that failed is empty too: that must not pass for a result.
  if (size === undefined && (await file.peek(1)).length === 0) throw emptyStream(name);
  const length = size === undefined ? {} : { length: size / dtypeBytes[type] };
  return { arrays: [{ stored: type, dtype: type, ...length, elements }] };

  function elements() {
    return { bytes: file };
  }
}

/** The type that an ending names: `x.f32`. */
function typeOfName(file: string): Dtype | undefined {
  const ending = /\.([a-z]+[0-9]*)$/i.exec(pathInName(file))?.[1]?.toLowerCase();
  return ending !== undefined && isDtype(ending) ? ending : undefined;
}

function emptyStream(name: string): Error {
  return problem(
    'WS5003',
    `${name} is empty: it ended before its first byte`,
    'did the program that writes it fail? an input of no rows can be given as a file',
  );
}

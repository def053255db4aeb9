// Has a run go on where the journal of another ends, which is of the same work: its facts say so.

import { problem } from '../../diagnostics/problem.ts';
import type { Encoding, Format, OutputDescription } from '../../formats/format.ts';
import { isObject, isUrl, shownUrl } from '../../formats/url.ts';
import { layoutOf } from '../../kernel/layout.ts';
import type { ElementType } from '../../kernel/types.ts';
import type { BindRequest, Unopened } from '../bind.ts';
import { filesOf } from '../input-data.ts';
import { formatOf } from '../inputs.ts';
import type { AnyDefinition } from '../job.ts';
import type { OutputFile } from '../options.ts';
import { sharedFiles } from '../output-data.ts';
import { encodingOf, outputFile } from '../outputs.ts';
import { rowsOut } from '../plan.ts';
import { checksumOf } from '../sinks/folder.ts';
import { forgetParts, hasParts } from '../sinks/s3.ts';
import { noVersion, urlFact } from '../url-inputs.ts';
import { contentFact, factsOf, fileFact, formatFact, nameOfFact } from './facts.ts';
import { baseOf, baseOfPass, finalOf } from './places.ts';
import type { Begin, Mark } from './text.ts';

/** Keeps a journal, and leaves out of the inputs what a former run has written the outputs of. */
export async function resumeRun(
  definition: AnyDefinition,
  {
    data,
    contents,
    versions,
    destinations,
    head,
    convert,
    outputs: open,
    resume,
    pass,
    residents,
  }: BindRequest,
  { inputs, outputs, shapes, accumulators, ...bound }: Unopened,
): Promise<Begin> {
  const given = outputs.map((output, position) => {
    const { file, format } = outputFile(destinations.get(output.name) as string | OutputFile);
    return { ...output, file, format, shape: shapes[position]! };
  });
  const files = await Promise.all(
    given.map(async (one) => ({ ...one, path: isObject(one.file) ? one.file : await finalOf(one.file) })),
  );
  const inputFacts = inputs.flatMap(({ name, reader }) =>
    filesOf(data.get(name)!)!.map(async (from, position, { length }) => {
      const content = contents.get(from.file);
      const kind = `${formatOf(from)}, ${reader.source.dtype}`;
      const version = versions.of(from.file);
      if (isUrl(from.file) && version === undefined) throw noVersion(shownUrl(from.file));
      const fact = await (content !== undefined
        ? contentFact(from.file, kind, content)
        : version !== undefined
          ? urlFact(from.file, kind, version)
          : fileFact(from.file, kind));
      return { name: nameOfFact(name, position, length), fact };
    }),
  );
  const facts = await factsOf({
    ...bound,
    definition,
    // What accumulators hold depends on the length of the chunks, and on the number of devices.
    chunkRows: bound.plan.auto.chunk && accumulators.length === 0 ? undefined : bound.plan.chunkRows,
    accumulators: accumulators.map(({ name, length }) => ({ name, length })),
    devices: residents.length,
    head,
    convert,
    inputs: await Promise.all(inputFacts),
    outputs: files.map(({ format, ...output }) => ({
      ...output,
      format: formatFact(format.name, output.rate),
    })),
  });
  const shared = sharedFiles(destinations.values());
  const targets = files.map(({ file, format, name, element, rate, shape, ratio, width }) => {
    const elementsOf = (rows: number) => rowsOut(rows, ratio) * width;
    const part = shared.has(file) ? name : undefined;
    const about = { name: file, parameter: name, element, rate };
    const encoding = part === undefined ? encodingOf(file, format, about) : elementsOfPart(format, about);
    const { folder } = encoding;
    if (folder !== undefined) {
      const folderSum = (at: string, state: Uint8Array) => checksumOf(at, folder, shape, state);
      return { path: file, bytesOf: undefined, folderSum };
    }
    const sizeOf = resumableSize(file, encoding, element, shape);
    const bytesOf = sizeOf && (({ rows, kept }: Mark) => sizeOf(elementsOf(kept ?? rows)));
    if (!isObject(file)) return { path: file, part, bytesOf };
    const forget = (state: Uint8Array) => forgetParts(file, state);
    return { path: file, bytesOf: undefined, hasParts: (state: Uint8Array) => hasParts(file, state), forget };
  });
  const [first] = destinations.values();
  const name = typeof resume === 'string' ? resume : outputFile(first as string | OutputFile).file;
  const base = baseOfPass(await baseOf(name), pass);
  const begin = await open.keepJournal!(facts, targets, { base, hasState: accumulators.length > 0 });
  if (begin.rows > 0) for (const { reader, element } of inputs) await reader.skip(begin.rows, element);
  return begin;
}

/** How a part of a file is written where it waits: without what stands before and behind it. */
function elementsOfPart({ archive }: Format, about: OutputDescription): Encoding {
  const { encode, keep } = archive!().part(about);
  return { ...(encode && { encode }), ...(keep && { keep }) };
}

/**
 * Bytes that the first elements of an output take in its file, for a run that is to begin again behind them; undefined
 * where it is known only when they are written.
 */
function resumableSize(
  path: string,
  { begin, encode, bytesOf, keep }: Encoding,
  element: ElementType,
  shape: readonly number[],
): ((elements: number) => number) | undefined {
  if (bytesOf !== undefined) return (elements) => bytesOf(elements, shape);
  const header = begin?.(shape).length ?? 0;
  if (keep !== undefined) return undefined;
  if (encode === undefined) return (elements) => header + elements * layoutOf(element).bytes;
  throw problem(
    'WS5010',
    `the run cannot be resumed: ${path} is in a format that can only be written from the beginning`,
    'write it as .npy, or run it without resume',
  );
}

// What a run that is resumed must have in common with the one before it: its kernel and declaration, its
// settings, how it is cut, its inputs and outputs, and the version of this package.
//
// Facts are words, so that a journal can be read, and a difference be reported as it is. Devices and the chunks
// in flight are not among them: as in a run over several devices, each chunk may be computed by another.

import { createHash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { count, counted } from '../../diagnostics/count.ts';
import type { Issue } from '../../diagnostics/error.ts';
import { packageVersion } from '../../diagnostics/package-version.ts';
import { unreadable } from '../../diagnostics/problem.ts';
import type { Content } from '../../files/content.ts';
import { stampOf, timeInWords } from '../../files/stamps.ts';
import type { Conversion } from '../../formats/dtype.ts';
import { isUrl, shownUrl } from '../../formats/url.ts';
import type { AnyDefinition, TypedArray } from '../job.ts';
import type { Settings } from '../settings.ts';
import type { Facts } from './text.ts';
import { valueText } from './value-text.ts';

/** Of the journals that this version writes and reads. */
const formatNumber = '4';
const formatName = 'the format of the journal';

/** What facts are taken from. */
export interface Identified {
  readonly definition: AnyDefinition;
  readonly settings: Settings;
  /** Rows of a full chunk; undefined where they may change while it runs. */
  readonly chunkRows: number | undefined;
  /** Elements on each device. */
  readonly accumulators: readonly { readonly name: string; readonly length: number }[];
  readonly devices: number;
  /** Only the first rows. */
  readonly head: number | undefined;
  readonly inputs: readonly {
    /** Which it is: `input 'x'`, or of several files `input 'x', file 3`. */
    readonly name: string;
    /** As `fileFact`, `contentFact` or `dataFact` say it. */
    readonly fact: string;
  }[];
  /** How values of another type become the kernel's, where the run says it. */
  readonly convert: Conversion | undefined;
  /** Constant arrays, whatever they come from. */
  readonly constants: ReadonlyMap<string, TypedArray>;
  readonly outputs: readonly {
    readonly name: string;
    /** None where it may lie anywhere. */
    readonly path: string | undefined;
    readonly format: string;
    readonly element: string;
    readonly shape: readonly number[];
  }[];
}

/** The facts of a run. */
export async function factsOf(run: Identified): Promise<Facts> {
  const { kernel, settings: _, description: __, arrays: ___, ...declaration } = run.definition;
  const facts: Record<string, string> = {
    [formatName]: formatNumber,
    'the version of warpstage': packageVersion(),
    "the kernel's text": digest(valueText({ schema: kernel.schema, body: kernel.body, fma: kernel.fma })),
    "the job's declaration": digest(valueText(declaration)),
    'the chunk': run.chunkRows === undefined ? 'auto' : `${count(run.chunkRows)} rows`,
    'the number of rows': run.head === undefined ? 'all' : count(run.head),
    'the conversion of inputs': run.convert ?? 'as the job says',
  };
  for (const { name, length } of run.accumulators) {
    facts[`accumulator '${name}'`] = `${counted(length, 'element')} on each device`;
  }
  if (run.accumulators.length > 0) facts['the number of devices'] = count(run.devices);
  for (const [name, value] of Object.entries(run.settings)) {
    facts[`setting '${name}'`] = valueText(value);
  }
  for (const { name, fact } of run.inputs) facts[name] = fact;
  for (const [name, { buffer, byteOffset, byteLength }] of run.constants) {
    facts[`array '${name}'`] = digest(new Uint8Array(buffer, byteOffset, byteLength));
  }
  for (const { name, path, format, element, shape } of run.outputs) {
    facts[`output '${name}'`] = `${path ?? 'a file'} (${format}, ${element}, shape (${shape.join(', ')}))`;
  }
  return facts;
}

/** The format of an output in words, with its rate where it has one. */
export function formatFact(format: string, rate: number | undefined): string {
  return rate === undefined ? format : `${format}, ${rate} rows a second`;
}

/** What differs, an issue each, with both values. Of a journal in another format nothing else is compared. */
export function differencesOf(before: Facts, now: Facts, mend: string): Issue[] {
  const names =
    before[formatName] === now[formatName]
      ? [...new Set([...Object.keys(now), ...Object.keys(before)])]
      : [formatName];
  return names
    .filter((name) => before[name] !== now[name])
    .map((name) => ({
      code: 'WS5013',
      message: `the unfinished output is of another run: ${name} was ${before[name] ?? 'not there'}, and is ${now[name] ?? 'not there'}`,
      hint: mend,
    }));
}

/**
 * A file as it is now. The inode and the time of its last change of any kind are among it: the time at which it was
 * written can be set back, as by `cp -p`.
 */
export async function fileFact(path: string, kind: string): Promise<string> {
  try {
    const { ino, ...about } = await stat(path, { bigint: true });
    const { size, written, changed } = (await stampOf(path)) ?? {
      size: about.size,
      written: about.mtimeNs,
      changed: about.ctimeNs,
    };
    const times = `written ${timeInWords(written)}, changed ${timeInWords(changed)}`;
    return `${await realpath(path)} (${kind}, ${count(Number(size))} bytes, inode ${ino}, ${times})`;
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

/** A file by what it holds. */
export async function contentFact(path: string, kind: string, content: Content): Promise<string> {
  if (isUrl(path)) return `${shownUrl(path)} (${kind}, ${contentInWords(content)})`;
  const real = await realpath(path).catch((cause: unknown) => {
    throw unreadable(path, cause);
  });
  return `${real} (${kind}, ${contentInWords(content)})`;
}

/** What a fact about a file of an input is called. */
export function nameOfFact(input: string, position: number, of: number): string {
  return `input '${input}'${of === 1 ? '' : `, file ${count(position + 1)}`}`;
}

function contentInWords({ bytes, sum }: Content): string {
  return `${count(bytes)} bytes, checksum ${sum}`;
}

/** Data wherever it lies: its length, and what it holds where that is known. */
export function dataFact(kind: string, length: number, content: Content | undefined): string {
  const known = content === undefined ? '' : `, ${contentInWords(content)}`;
  return `${kind}, ${count(length)} elements${known}`;
}

function digest(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex').slice(0, 16);
}

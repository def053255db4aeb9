// Which of the files on the command line is what: inputs, operands, outputs.

import type { Dtype } from '../formats/dtype.ts';
import { formatNamed, formatOfName } from '../formats/registry.ts';
import type { Job } from '../overlap/job.ts';
import type { InputFile, OutputFile, RunOptions } from '../overlap/options.ts';
import { jobsOf, type Sequence } from '../overlap/sequence.ts';
import { listNames, usageError } from './failure.ts';

/** A job, or several passes that make one. */
export type Work = Job | Sequence;

/** A job with the name under which its module exports it. */
export interface NamedWork {
  readonly name: string;
  readonly work: Work;
}

/** The files that a run reads and writes. */
export interface AssignedFiles {
  readonly inputs: RunOptions['input'];
  /** The names of the inputs, as they were given: patterns among them. */
  readonly reads: readonly string[];
  /** How many files are one input because they stand one behind the other. */
  readonly behindEachOther: number;
  /** The names of the outputs. */
  readonly outputs: readonly string[];
  /** The outputs with their formats. */
  readonly destinations: readonly OutputFile[];
}

/** What the command line says of files. */
export interface FileOptions {
  /** The type of the elements of raw inputs. */
  readonly dtype?: Dtype;
  /** Whether files are bare elements whose names tell no format. */
  readonly raw?: boolean;
  /** The format of files whose names tell none. */
  readonly format?: string;
  /** Rows a second of outputs. */
  readonly rate?: number;
  /** Files of inputs by name: `x=x0.npy`. Several of one name follow one another. */
  readonly input?: readonly string[];
}

/** The names of the inputs and outputs of a job, in the order in which the command line has their files. */
export function rolesOfFiles(work: Work): {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
} {
  const jobs = jobsOf(work);
  const { inputs, arrays = {} } = jobs[0]!.definition;
  const operands = Object.keys(arrays).filter((name) => 'operand' in arrays[name]!);
  return {
    inputs: [...Object.keys(inputs), ...operands],
    outputs: Object.keys(jobs.at(-1)!.definition.outputs ?? {}),
  };
}

/**
 * Tells inputs from outputs: the outputs come last. One file may hold all inputs, as columns; several are the one input
 * of a job, one behind the other. With `--input`, that names all inputs.
 */
export function assignFiles(
  { name, work }: NamedWork,
  files: readonly string[],
  { dtype, json, input, rate, ...said }: FileOptions & { readonly json?: boolean },
): AssignedFiles {
  const roles = rolesOfFiles(work);
  const isOne = roles.inputs.length === 1;
  const fits = (outputs: number) => {
    const reads = files.length - outputs;
    if (input !== undefined) return reads === 0;
    return reads === 1 || reads === roles.inputs.length || (isOne && reads > 0);
  };
  // One file may hold all outputs.
  const holdsAll = roles.outputs.length > 1 && files.length > 0 && isArchive(asGiven(files.at(-1)!, said));
  const isEach = fits(roles.outputs.length) || !holdsAll || !fits(1);
  const writes = isEach ? roles.outputs.length : 1;
  const split = Math.max(0, input === undefined ? files.length - writes : 0);
  const reads = files.slice(0, split);
  const outputs = files.slice(split);
  if (!fits(writes)) throw wrongCount(name, files.length, roles, input !== undefined);
  if (json && outputs.includes('-')) {
    throw usageError('--json and the output `-` both want standard output', 'write the data to a file');
  }
  const describe = (file: string): InputFile => ({
    ...asGiven(file, said),
    ...(dtype === undefined ? {} : { dtype }),
  });
  const destinations = outputs.map((file) => ({ ...asGiven(file, said), ...(rate && { rate }) }));
  if (input !== undefined) {
    const named = filesByName(input, roles.inputs);
    return {
      inputs: Object.fromEntries([...named].map(([one, paths]) => [one, paths.map(describe)])),
      reads: [...named.values()].flat(),
      behindEachOther: 1,
      outputs,
      destinations,
    };
  }
  const described = reads.map(describe);
  return {
    inputs: described.length === 1 ? described[0]! : described,
    reads,
    behindEachOther: isOne ? reads.length : 1,
    outputs,
    destinations,
  };
}

/** The files of each input, as `--input` names them. */
function filesByName(given: readonly string[], inputs: readonly string[]): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const text of given) {
    const equals = text.indexOf('=');
    const input = text.slice(0, Math.max(0, equals));
    const file = text.slice(equals + 1);
    if (!inputs.includes(input) || file === '') {
      const wrong = equals < 0 || file === '' ? 'it must be name=file' : `the job has no input \`${input}\``;
      throw usageError(`--input ${text}: ${wrong}`, `its inputs are ${listNames(inputs)}`);
    }
    files.set(input, [...(files.get(input) ?? []), file]);
  }
  const missing = inputs.filter((input) => !files.has(input));
  if (missing.length === 0) return files;
  throw usageError(
    `--input names no file of ${listNames(missing)}; with it, all inputs are named so`,
    `for example --input ${missing[0]}=${missing[0]}.npy`,
  );
}

/** Whether a file may hold several outputs. */
function isArchive({ file, format }: { readonly file: string; readonly format?: string }): boolean {
  return (format === undefined ? formatOfName(file) : formatNamed(format))?.archive !== undefined;
}

/** With `--format`, a file whose name tells no format has that one; with `--raw` it is bare elements. */
export function asGiven(
  file: string,
  { raw = false, format = raw ? 'raw' : undefined }: Pick<FileOptions, 'raw' | 'format'>,
): { readonly file: string; readonly format?: string } {
  if (format === undefined) return { file };
  const named = formatOfName(file);
  return named === undefined || named.name === format ? { file, format: formatNamed(format).name } : { file };
}

function wrongCount(
  name: string,
  given: number,
  { inputs, outputs }: ReturnType<typeof rolesOfFiles>,
  named: boolean,
): Error {
  const writes = outputs.length === 0 ? 'writes no file' : `writes ${listNames(outputs)}`;
  const example = [
    ...inputs.map((input) => (named ? `--input ${input}=<file>` : `<${input}>`)),
    ...outputs.map((output) => `<${output}>`),
  ].join(' ');
  const several =
    !named && inputs.length > 1 && given > inputs.length + outputs.length
      ? `; files that follow one another are a pattern in quotes ('parts/*.npy'), or --input ${inputs[0]}=<file> for each`
      : '';
  return usageError(
    `the job ${name} reads ${listNames(inputs)} and ${writes}; ${given === 0 ? 'no file was' : `${given} ${given === 1 ? 'file was' : 'files were'}`} given`,
    `name the inputs and then the outputs: warpstage run <module> ${example}${several}`,
  );
}

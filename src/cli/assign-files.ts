// Which of the files on the command line is what: inputs, operands, outputs.

import type { Dtype } from '../formats/dtype.ts';
import { formatNamed, formatOfName } from '../formats/registry.ts';
import type { Job } from '../overlap/job.ts';
import type { InputData, OutputFile } from '../overlap/options.ts';
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
  readonly inputs: InputData | readonly InputData[];
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

/** Tells inputs from outputs: the outputs come last. One file may hold all inputs, as columns. */
export function assignFiles(
  { name, work }: NamedWork,
  files: readonly string[],
  { dtype, json, ...said }: FileOptions & { readonly json?: boolean },
): AssignedFiles {
  const roles = rolesOfFiles(work);
  const split = files.length - roles.outputs.length;
  const inputs = files.slice(0, Math.max(0, split));
  const outputs = files.slice(Math.max(0, split));
  if (inputs.length === 0 || (inputs.length !== 1 && inputs.length !== roles.inputs.length)) {
    throw wrongCount(name, files.length, roles);
  }
  if (json && outputs.includes('-')) {
    throw usageError('--json and the output `-` both want standard output', 'write the data to a file');
  }
  const described = inputs.map((file) => ({
    ...asGiven(file, said),
    ...(dtype === undefined ? {} : { dtype }),
  }));
  return {
    inputs: described.length === 1 ? described[0]! : described,
    outputs,
    destinations: outputs.map((file) => asGiven(file, said)),
  };
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
): Error {
  const writes = outputs.length === 0 ? 'writes no file' : `writes ${listNames(outputs)}`;
  const example = [...inputs.map((input) => `<${input}>`), ...outputs.map((output) => `<${output}>`)].join(
    ' ',
  );
  return usageError(
    `the job ${name} reads ${listNames(inputs)} and ${writes}; ${given === 0 ? 'no file was' : `${given} ${given === 1 ? 'file was' : 'files were'}`} given`,
    `name the inputs and then the outputs: warpstage run <module> ${example}`,
  );
}

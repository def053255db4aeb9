// `--column` and `--nulls`: a job whose inputs are read otherwise than its declaration says.

import { type AnyDefinition, type InputDeclaration, type Job, job } from '../overlap/job.ts';
import type { Sequence } from '../overlap/sequence.ts';
import type { Work } from './assign-files.ts';
import { listNames, usageError } from './failure.ts';

/** What the command line says about inputs. */
export interface InputOverrides {
  /** `name` for a job with one input, or `input=name`. */
  readonly column?: readonly string[];
  /** What stands for nulls in all inputs. */
  readonly nulls?: number;
}

/** The work with its inputs overridden. */
export function overrideInputs(work: Work, overrides: InputOverrides): Work {
  if (overrides.column === undefined && overrides.nulls === undefined) return work;
  if (work.kind === 'job') return overrideJob(work, overrides);
  const following = work.following.map((pass) => ({ ...pass, job: overrideJob(pass.job, overrides) }));
  return { ...work, first: overrideJob(work.first, overrides), following } satisfies Sequence;
}

function overrideJob(original: Job, { column = [], nulls }: InputOverrides): Job {
  const inputs: Record<string, InputDeclaration> = { ...original.definition.inputs };
  const names = Object.keys(inputs);
  for (const text of column) {
    const equals = text.indexOf('=');
    if (equals < 0 && names.length > 1) {
      throw usageError(
        `--column ${text}: the job has ${names.length} inputs, ${listNames(names)}`,
        `say which, for example --column ${names[0]}=${text}`,
      );
    }
    const input = equals < 0 ? names[0]! : text.slice(0, equals);
    if (!(input in inputs)) {
      throw usageError(
        `--column ${text}: the job has no input \`${input}\``,
        `its inputs are ${listNames(names)}`,
      );
    }
    inputs[input] = { ...inputs[input], column: text.slice(equals + 1) };
  }
  if (nulls !== undefined) for (const name of names) inputs[name] = { ...inputs[name], nulls };
  const definition: AnyDefinition = { ...original.definition, name: original.name, inputs };
  return job(definition as Parameters<typeof job>[0]) as Job;
}

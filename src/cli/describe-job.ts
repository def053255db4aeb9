// What a job takes, in words: shown by `warpstage run <module> --help` and where files are missing.

import type { SettingDeclaration } from '../overlap/job.ts';
import { jobsOf } from '../overlap/sequence.ts';
import { type NamedWork, rolesOfFiles } from './assign-files.ts';

/** The lines that describe a job: what it does, its files and its settings. */
export function describeJob({ name, work }: NamedWork): string[] {
  const jobs = jobsOf(work);
  const { inputs, outputs } = rolesOfFiles(work);
  const description = jobs.at(-1)!.definition.description;
  const lines = [`Job ${name}${description === undefined ? '' : `: ${description}`}`];
  lines.push(`  reads   ${inputs.join(', ')}`);
  if (outputs.length > 0) lines.push(`  writes  ${outputs.join(', ')}`);
  const fromShape = new Set(
    jobs.flatMap((job) => Object.values(job.definition.inputs).map(({ width }) => width)),
  );
  const settings = new Map(jobs.flatMap((job) => Object.entries(job.definition.settings ?? {})));
  const rows = [...settings].map(([name, setting]): [string, string] => {
    const long: SettingDeclaration = typeof setting === 'object' ? setting : { default: setting };
    const value = long.default ?? (fromShape.has(name) ? '<of the .npy>' : '<needed>');
    return [`  --set ${name}=${value}`, long.description ?? ''];
  });
  const width = Math.max(0, ...rows.map(([option]) => option.length));
  return [
    ...lines,
    ...rows.map(([option, description]) => `${option.padEnd(width)}  ${description}`.trimEnd()),
  ];
}

// The exit codes, which say whose fault it was: one table, for the process, the help and the page on many machines.

import type { Code } from '../diagnostics/codes.ts';

/** What each exit code means. */
export const exitCodes = {
  0: 'done',
  1: 'a finding of the checker, or an error of the kernel, the job or its module',
  2: 'wrong usage: an option, a setting, a name; an output that another run left',
  3: 'an input that cannot be read, or whose data does not fit the job',
  4: 'results that differ from what they must be',
  74: 'an output that cannot be written: a full disk, no permission',
  75: 'something that may pass: a device that is full or was lost, an output in use, a deadline; try again',
  130: 'interrupted by Ctrl-C',
  143: 'ended by SIGTERM',
} as const;

export type ExitCode = keyof typeof exitCodes;

/** After these the same command may do better: schedulers try again. After the others the same would come again. */
export const exitCodesToRetry: readonly ExitCode[] = [75, 130, 143];

/** The errors that are no fault of the job. */
const ofErrors: Partial<Record<Code, ExitCode>> = {
  WS6001: 2,
  WS5008: 2,
  WS4003: 2,
  WS5012: 2,
  WS5013: 2,
  WS5003: 3,
  WS5004: 3,
  WS5005: 3,
  WS5014: 4,
  WS5015: 4,
  WS5016: 75,
  WS5017: 75,
  WS5020: 75,
  WS5006: 74,
  WS4001: 75,
  WS4006: 75,
  WS5011: 75,
};

/** The exit code of an error. */
export function exitCodeOfError(code: Code): ExitCode {
  return ofErrors[code] ?? 1;
}

/** The table, as help shows it. */
export function exitCodesText(): string {
  const lines = Object.entries(exitCodes).map(([code, meaning]) => `  ${code.padStart(3)}  ${meaning}`);
  const retry = `\nWorth another try: ${exitCodesToRetry.join(', ')}.`;
  return `\nExit codes:\n${lines.join('\n')}${retry}`;
}

// One run of vitest in a slot, with a limit: a mutant may loop for ever, in a thread that hears no time-out.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseEntry } from '../../test/mutations/entry.ts';
import type { Slot } from './slot.ts';

export interface TestRun {
  /** `died`: vitest ended without a result of any test that failed. */
  readonly outcome: 'passed' | 'failed' | 'hung' | 'died';
  /** The first test that failed, or what else there is to say. */
  readonly detail: string;
  readonly passed: number;
  readonly seconds: number;
}

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** Runs an entry of a mutation's tests (test/mutations/mutation.ts). */
export async function runTests(slot: Slot, entry: string, limitSeconds: number): Promise<TestRun> {
  const { file, name, projects, isWide } = parseEntry(entry);
  const pattern = name === null ? [] : ['-t', name];
  const reporters = ['--reporter=json', `--outputFile=${slot.report}`, '--bail=1'];
  const args = [
    ...(isWide ? ['scripts/test-wide.mjs'] : ['node_modules/vitest/vitest.mjs', 'run']),
    file,
    ...projects,
    ...pattern,
    '--maxWorkers=1',
    ...reporters,
  ];
  const began = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: slot.folder,
    env: slot.environment(),
    // A group of its own, so that its workers end with it.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (text) => {
    errors = (errors + text).slice(-2000);
  });
  let hung = false;
  const limit = setTimeout(() => {
    hung = true;
    endGroup(child.pid!);
  }, limitSeconds * 1000);
  const status = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  clearTimeout(limit);
  endGroup(child.pid!);
  const seconds = (performance.now() - began) / 1000;
  if (hung)
    return { outcome: 'hung', detail: `no end after ${limitSeconds.toFixed(0)} s`, passed: 0, seconds };
  return { ...judge(slot, status, errors), seconds };
}

/** Ends what is left of a run: also processes that its tests started. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing is left.
  }
}

function judge(slot: Slot, status: number | null, errors: string): Omit<TestRun, 'seconds'> {
  let report: Report;
  try {
    report = JSON.parse(readFileSync(slot.report, 'utf8')) as Report;
  } catch {
    return { outcome: 'died', detail: lastLine(errors) || `status ${status}, without a report`, passed: 0 };
  }
  const passed = report.numPassedTests;
  if (status === 0) return { outcome: 'passed', detail: '', passed };
  for (const { assertionResults } of report.testResults) {
    const test = assertionResults.find((each) => each.status === 'failed');
    if (test !== undefined) return { outcome: 'failed', detail: test.fullName, passed };
  }
  const file = report.testResults.find((each) => each.status === 'failed');
  if (file !== undefined) return { outcome: 'failed', detail: file.message.split('\n')[0]!, passed };
  return { outcome: 'died', detail: lastLine(errors) || `status ${status}`, passed };
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

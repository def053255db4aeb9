// The examples for schedulers: manifests are what Kubernetes takes, and each tries again after the exit codes of
// the command's table that may pass, and after no other.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exitCodes, exitCodesToRetry } from '#warpstage/cli/exit-codes.js';
import { root } from '../cli/support.ts';
import { temporaryDirectory } from '../overlap/support.ts';
import { hasTool } from '../support/tools.ts';

const folder = join(root, 'examples/cluster');
const codes = Object.keys(exitCodes).map(Number);
/** A shell says of a killed process 128 and the signal: it was out of memory, say. */
const killed = 137;
const retried = [...exitCodesToRetry, killed];
const final = codes.filter((code) => code !== 0 && !retried.includes(code));

/** Runs an example with programs that stand for those it calls. */
function runScript(
  name: string,
  args: readonly string[],
  programs: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
  cwd = temporaryDirectory(),
) {
  const bin = temporaryDirectory();
  for (const [program, text] of Object.entries(programs)) {
    writeFileSync(join(bin, program), `#!/bin/bash\n${text}\n`, { mode: 0o755 });
  }
  return spawnSync(join(folder, name), args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, ...env },
  });
}

test('the page has the codes as the command has them', () => {
  const page = readFileSync(join(root, 'docs/cluster.md'), 'utf8').replaceAll(/ +/g, ' ');
  for (const [code, meaning] of Object.entries(exitCodes)) {
    const again = code === '0' ? '' : retried.includes(Number(code)) ? 'yes' : 'no';
    expect(page).toContain(`| ${code} | ${meaning} | ${again} |`.replaceAll(/ +/g, ' '));
  }
});

describe('Kubernetes', () => {
  // Both are loaded as CommonJS: the models name files that Node does not find in an ES module's way.
  const require = createRequire(import.meta.url);
  const { Job } = require('kubernetes-models/batch/v1') as {
    Job: new (manifest: object) => { validate(): void };
  };
  const { parse } = require('yaml') as { parse(text: string): Manifest };
  interface Manifest {
    spec: {
      completions: number;
      completionMode: string;
      backoffLimitPerIndex: number;
      podFailurePolicy: {
        rules: {
          action: string;
          onExitCodes?: { containerName: string; operator: string; values: number[] };
        }[];
      };
      template: { spec: { restartPolicy: string; containers: { name: string; args: string[] }[] } };
    };
  }
  const read = () => parse(readFileSync(join(folder, 'kubernetes.yaml'), 'utf8'));

  test('takes the manifest, and would not take one with a mistake', () => {
    new Job(read()).validate();
    const spec = () => read().spec;
    for (const wrong of [
      { ...spec(), completions: 'ten' },
      { ...spec(), podFailurePolicy: { rules: [{ onExitCodes: { operator: 'In', values: [1] } }] } },
      { ...spec(), podFailurePolicy: { rules: [{ action: 'FailIndex', onExitCodes: { values: [1] } }] } },
      { ...spec(), template: { spec: { restartPolicy: 'Never' } } },
    ]) {
      expect(() => new Job({ ...read(), spec: wrong }).validate()).toThrow();
    }
  });

  test('fails an index at once after the codes that come again, and needs what that needs', () => {
    const { spec } = read();
    const { podFailurePolicy, template, completions } = spec;
    const rule = podFailurePolicy.rules.find(({ action }) => action === 'FailIndex')!;
    const [container] = template.spec.containers;
    expect(rule.onExitCodes).toEqual({ containerName: container!.name, operator: 'In', values: final });
    expect(template.spec.restartPolicy).toBe('Never');
    expect(spec.completionMode).toBe('Indexed');
    expect(spec.backoffLimitPerIndex).toBeGreaterThan(0);
    expect(container!.args.join(' ')).toContain(`/${completions}"`);
  });

  test('and AWS Batch: the container runs the piece of its index', () => {
    const [container] = read().spec.template.spec.containers;
    const { containerProperties } = JSON.parse(readFileSync(join(folder, 'aws-batch.json'), 'utf8')) as {
      containerProperties: { command: string[] };
    };
    for (const [text, variable] of [
      [container!.args[0]!, 'JOB_COMPLETION_INDEX'],
      [containerProperties.command[2]!.replace('cd /data && ', ''), 'AWS_BATCH_JOB_ARRAY_INDEX'],
    ] as const) {
      const bin = temporaryDirectory();
      writeFileSync(join(bin, 'warpstage'), '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
      const PATH = `${bin}${delimiter}${process.env.PATH}`;
      const { stdout } = spawnSync('/bin/sh', ['-c', text], {
        encoding: 'utf8',
        env: { PATH, [variable]: '6' },
      });
      expect(stdout).toBe('run affine.ts x.npy y.npy --set a=2 --quiet --shard 7/10\n');
    }
  });
});

test('AWS Batch tries again after the codes that may pass, and then no more', () => {
  const { retryStrategy } = JSON.parse(readFileSync(join(folder, 'aws-batch.json'), 'utf8')) as {
    retryStrategy: { attempts: number; evaluateOnExit: Record<string, string>[] };
  };
  const rules = retryStrategy.evaluateOnExit;
  // Five are the most that it takes. Nobody presses Ctrl-C there.
  expect(rules.length).toBeLessThanOrEqual(5);
  const again = rules.filter((rule) => 'onExitCode' in rule && rule.action === 'RETRY');
  expect(again.map((rule) => Number(rule.onExitCode)).sort((a, b) => a - b)).toEqual(
    retried.filter((code) => code !== 130).sort((a, b) => a - b),
  );
  expect(rules.at(-1)).toEqual({ onReason: '*', action: 'EXIT' });
});

describe('Slurm', () => {
  const task = (code: number, restarts?: string) => {
    const programs = { warpstage: 'echo "$@"; exit "$CODE"', scontrol: 'echo scontrol "$@"' };
    const env = { SLURM_ARRAY_TASK_ID: '3', SLURM_JOB_ID: '77', CODE: `${code}` };
    const more = restarts === undefined ? {} : { SLURM_RESTART_COUNT: restarts };
    const args = ['10', 'affine.ts', 'x.npy', 'y.npy', '--set', 'a=2'];
    const { status, stdout } = runScript('slurm.sh', args, programs, { ...env, ...more });
    return { status, did: stdout.trim().split('\n') };
  };
  const run = 'run affine.ts x.npy y.npy --set a=2 --quiet --shard 3/10';

  test.each([killed, ...codes])('code %i is the task’s, which goes back where it may pass', (code) => {
    const did = retried.includes(code) ? [run, 'scontrol requeue 77'] : [run];
    expect(task(code)).toEqual({ status: code, did });
  });

  test('a task goes back five times', () => {
    expect(task(75, '4').did).toEqual([run, 'scontrol requeue 77']);
    expect(task(75, '5')).toEqual({ status: 75, did: [run] });
  });
});

describe.skipIf(!hasTool('parallel'))('GNU parallel', () => {
  /** Runs the script; piece 2 gives these codes in turn. */
  const run = (...codesOf2: number[]) => {
    const warpstage = `
      echo "\${@: -1}" >> did
      case "$*" in
        "run affine.ts x 1.npy y.npy --quiet --shard 2/3") ;;
        "run affine.ts x 1.npy y.npy --quiet --shard "[13]/3) exit 0 ;;
        *) exit 99 ;;
      esac
      codes=(${codesOf2.join(' ')}); exit "\${codes[$(($(grep -c 2/3 did) - 1))]}"`;
    const folder = temporaryDirectory();
    const args = ['3', 'affine.ts', 'x 1.npy', 'y.npy'];
    const { status } = runScript('parallel.sh', args, { warpstage }, { WAIT: '0', JOBS: '1' }, folder);
    return { status, did: readFileSync(join(folder, 'did'), 'utf8').trim().split('\n') };
  };

  test('computes all pieces, and one again that may do better', () => {
    expect(run(75, killed, 0)).toEqual({ status: 0, did: ['1/3', '2/3', '2/3', '2/3', '3/3'] });
  });

  test('ends with a piece that failed for good, or too often', () => {
    expect(run(3)).toEqual({ status: 3, did: ['1/3', '2/3'] });
    expect(run(75, 75, 75, 75, 75, 75)).toEqual({ status: 75, did: ['1/3', ...Array(6).fill('2/3')] });
  });
});

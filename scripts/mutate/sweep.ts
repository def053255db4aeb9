// The sweep: first every entry of tests without a mutant, then every mutant against those of its tests that pass so.
//
// As many slots as jobs, each with one run at a time; the longest begin first. The time of an entry without a
// mutant is the measure of when a mutant hangs. An entry that fails without a mutant decides nothing: where the
// machine lacks what it needs, a mutant that no other entry catches is left undecided.

import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEntry } from '../../test/mutations/entry.ts';
import type { Mutant } from './mutants.ts';
import { Ledger, type Result } from './results.ts';
import { runTests, type TestRun } from './run-tests.ts';
import { Slot } from './slot.ts';

export interface SweepOptions {
  /** The tree with tests and what was built, and its node_modules. */
  readonly tree: string;
  readonly modules: string;
  readonly jobs: number;
  /** The folder of the results. */
  readonly results: string;
  readonly say: (line: string) => void;
}

interface Baseline {
  readonly key: string;
  readonly seconds: number;
  /** Why the entry fails without a mutant; absent where it passes. */
  readonly failure?: string;
}

/** Seconds that an entry may take without a mutant. */
const baselineLimit = 300;

/** A mutant may be slower than what it was made of, and the machine busier than it was. */
function limitOf(seconds: number): number {
  return 12 + 4 * seconds;
}

export async function sweep(mutants: readonly Mutant[], options: SweepOptions): Promise<Result[]> {
  const { tree, modules, jobs, results, say } = options;
  const ledger = new Ledger<Result>(results, 'mutants');
  const isKnown = ({ key }: Mutant) => (ledger.get(key)?.verdict ?? 'undecided') !== 'undecided';
  const pending = mutants.filter((mutant) => !isKnown(mutant));
  if (pending.length > 0) {
    const root = mkdtempSync(join(tmpdir(), 'wm-'));
    // Some tests try what another user can do in the temporary folder.
    chmodSync(root, 0o755);
    try {
      const count = Math.min(jobs, pending.length);
      const slots = Array.from({ length: count }, (_, at) => new Slot(join(root, `${at}`), tree, modules));
      const baselines = await measureBaselines(pending, slots, options);
      const cost = ({ tests }: Mutant) =>
        tests.reduce((sum, entry) => sum + baselines.get(entry)!.seconds, 0);
      const ordered = [...pending].sort((one, other) => cost(other) - cost(one));
      await share(ordered, slots, async (mutant, slot) => {
        const result = await tryMutant(mutant, slot, baselines);
        ledger.add(result);
        say(`${result.verdict.padEnd(10)} ${mutant.room}: ${mutant.name} (${result.detail})`);
      });
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  }
  return mutants.map(({ key }) => ledger.get(key)!);
}

async function tryMutant(
  mutant: Mutant,
  slot: Slot,
  baselines: ReadonlyMap<string, Baseline>,
): Promise<Result> {
  const { key, name, room, why, equivalent, tests, replaced } = mutant;
  let seconds = 0;
  const result = (verdict: Result['verdict'], detail: string) => {
    return { key, name, room, verdict, detail, seconds };
  };
  const remove = slot.install(replaced);
  try {
    for (const entry of tests) {
      const baseline = baselines.get(entry)!;
      if (baseline.failure !== undefined) continue;
      const limit = limitOf(baseline.seconds);
      let run = await runTests(slot, entry, limit);
      seconds += run.seconds;
      if (run.outcome === 'died') {
        // A worker may die of something else; twice in a row it is the mutant.
        run = await runTests(slot, entry, limit);
        seconds += run.seconds;
      }
      if (run.outcome !== 'passed') return result('caught', `${run.outcome}: ${run.detail}`);
    }
  } finally {
    remove();
  }
  if (equivalent !== null) return result('equivalent', equivalent);
  const failing = tests.find((entry) => baselines.get(entry)!.failure !== undefined);
  if (failing === undefined) return result('survived', why);
  return result('undecided', `${failing} fails without it (${baselines.get(failing)!.failure})`);
}

/** How each entry ends without a mutant. */
async function measureBaselines(
  mutants: readonly Mutant[],
  slots: readonly Slot[],
  { tree, results, say }: SweepOptions,
): Promise<ReadonlyMap<string, Baseline>> {
  const ledger = new Ledger<Baseline>(results, 'baselines');
  const built = digestOf(join(tree, 'build'));
  const keyOf = (entry: string) => {
    const hash = createHash('sha256').update(built).update(entry);
    return hash.update(readFileSync(join(tree, parseEntry(entry).file))).digest('hex');
  };
  const entries = [...new Set(mutants.flatMap(({ tests }) => tests))];
  const unknown = entries.filter((entry) => ledger.get(keyOf(entry)) === undefined);
  const measured = new Map<string, Baseline>();
  await share(unknown, slots, async (entry, slot) => {
    let run = await runTests(slot, entry, baselineLimit);
    if (run.outcome === 'died') run = await runTests(slot, entry, baselineLimit);
    const failure = failureOf(run);
    const baseline = { key: keyOf(entry), seconds: run.seconds, ...(failure === null ? {} : { failure }) };
    measured.set(entry, baseline);
    // One that fails is tried again by the next sweep.
    if (failure === null) ledger.add(baseline);
    const verdict = failure === null ? 'passes' : `FAILS (${failure})`;
    say(`${verdict} without a mutant: ${entry} (${run.seconds.toFixed(1)} s)`);
  });
  return new Map(entries.map((entry) => [entry, measured.get(entry) ?? ledger.get(keyOf(entry))!]));
}

function failureOf({ outcome, detail, passed }: TestRun): string | null {
  if (outcome !== 'passed') return `${outcome}: ${detail}`;
  return passed === 0 ? 'no test ran' : null;
}

/** Gives each piece of work to the next slot that is free. */
async function share<Work>(
  works: readonly Work[],
  slots: readonly Slot[],
  carryOut: (work: Work, slot: Slot) => Promise<void>,
): Promise<void> {
  const left = [...works];
  await Promise.all(
    slots.map(async (slot) => {
      for (let work = left.shift(); work !== undefined; work = left.shift()) await carryOut(work, slot);
    }),
  );
}

function digestOf(folder: string): string {
  const hash = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((each) => each.endsWith('.js')).sort())
    hash.update(file).update(readFileSync(join(folder, file)));
  return hash.digest('hex');
}

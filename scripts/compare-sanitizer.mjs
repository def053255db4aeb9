// node scripts/compare-sanitizer.mjs: what compute-sanitizer finds in the misuses, beside the checker.
//
//   measure FOLDER   on a machine with a GPU and compute-sanitizer: launches every misuse alone and under
//                    racecheck, memcheck, synccheck and initcheck, and its mended twin as well. Writes
//                    FOLDER/launches.jsonl as results come, and what the tools said to FOLDER/said.txt.
//                    WARPSTAGE_COMPARE_SECONDS (600) is all the time that it takes; called again, it goes
//                    on where it stopped.
//   tell FOLDER      anywhere: checks the misuses, writes bench/results/checker-compared.json from both,
//                    and prints the table of docs/misuse.md.
//
// A tool has found a fault if it reports the misuse, and by other words than the mended twin, if that too.
// Launches share a process (launch-misuse.mjs) until one hangs or fails; the others go on in a new one.
// A launch hangs if it has not ended a few seconds after it began, and what the tool has to say about it
// then counts as found. Both need the built package.

import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { launchMisuse, nameOf } from './misuse-launch.mjs';
import { reportsIn } from './sanitizer-reports.mjs';

const root = join(fileURLToPath(import.meta.url), '..', '..');
const tools = ['racecheck', 'memcheck', 'synccheck', 'initcheck'];
const families = {
  order: 'order of stages',
  quitting: 'quits',
  roles: 'roles',
  groups: 'groups',
  deadlocks: 'deadlocks',
  races: 'races',
  memory: 'memory',
  published: 'published examples',
  barriers: 'barriers',
  warps: 'warps and grids',
  advice: 'advice',
};

/** The corpus as one file, which Node 20 loads by itself and quickly. */
async function bundleCorpus(folder) {
  const lines = Object.keys(families).map((file) => `import * as ${file} from './${file}.ts';`);
  const contents = `
    import { launchOf } from './misuse.ts';
    ${lines.join('\n')}
    const families = { ${Object.keys(families).join(', ')} };
    export { launchOf };
    export const corpus = Object.entries(families).flatMap(([family, lists]) =>
      Object.values(lists).flat().map((misuse) => ({ ...misuse, family })));`;
  const here = {
    name: 'this-package',
    setup({ onResolve }) {
      onResolve({ filter: /^warpstage$/ }, () => ({ path: built('index.js'), external: true }));
      onResolve({ filter: /^#warpstage\// }, ({ path }) => ({
        path: built(path.slice('#warpstage/'.length)),
        external: true,
      }));
    },
  };
  const outfile = join(folder, 'corpus.mjs');
  await build({
    stdin: { contents, resolveDir: join(root, 'test', 'misuse'), loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile,
    plugins: [here],
    logLevel: 'error',
  });
  return outfile;
}

function built(path) {
  return pathToFileURL(join(root, 'dist', path)).href;
}

const isAdvice = ({ code }) => code.startsWith('WS71');

async function measure(folder) {
  const deadline = performance.now() + 1000 * Number(process.env.WARPSTAGE_COMPARE_SECONDS ?? 600);
  const results = join(folder, 'launches.jsonl');
  const work = join(folder, 'work');
  mkdirSync(work, { recursive: true });
  writeFileSync(join(folder, 'machine.json'), JSON.stringify(machineHere()));
  const bundle = await bundleCorpus(work);
  const { corpus } = await import(pathToFileURL(bundle).href);
  const faulty = corpus.flatMap((misuse, i) => (isAdvice(misuse) ? [] : [`${i}`]));
  const mended = corpus.map((_, i) => `${i}m`);
  const done = readLaunches(results);
  const fate = (tool, number) => done.find((one) => one.tool === tool && one.number === number)?.fate;
  let jobs = 0;

  /** Runs launches in one process, and again from behind the one that stopped it. */
  async function run({ tool, numbers, seconds }) {
    let rest = numbers;
    while (rest.length > 0 && performance.now() < deadline) {
      const name = join(work, String(jobs++));
      const begin = performance.now();
      const fates = await watch({ tool, numbers: rest, seconds, name, bundle, deadline });
      const took = ((performance.now() - begin) / 1000).toFixed(1);
      console.log(`${tool.padEnd(10)} ${fates.size} of ${rest.length} launches in ${took} s`);
      const said = readFileSync(`${name}.log`, 'utf8');
      const reported = reportsIn(said);
      appendFileSync(join(folder, 'said.txt'), `#### ${tool} ${rest.join(' ')}\n${shortened(said)}\n`);
      for (const [number, outcome] of fates) {
        const launch = { tool, number, ...outcome, reports: reported.get(nameOf(number)) ?? [] };
        appendFileSync(results, `${JSON.stringify(launch)}\n`);
        done.push(launch);
      }
      // A process in which nothing began is not tried again with the same launch first.
      rest = fates.size === 0 ? rest.slice(1) : rest.filter((number) => !fates.has(number));
    }
  }

  const jobsOf = (tool, numbers, size, seconds) =>
    chunks(
      numbers.filter((number) => fate(tool, number) === undefined),
      size,
    ).map((list) => ({ tool, numbers: list, seconds }));
  await inParallel([...jobsOf('alone', faulty, 3, 4), ...jobsOf('alone', mended, 24, 4)], 40, run);
  // A tool takes long to start, so what ends by itself shares a process; what does not needs one of its own.
  const ends = (number) => fate('alone', number) === 'ended';
  const all = [...faulty, ...mended];
  const [calm, rough] = [all.filter(ends), all.filter((number) => !ends(number))];
  await inParallel(
    [
      ...tools.flatMap((tool) => jobsOf(tool, calm, 70, 10)),
      ...tools.flatMap((tool) => jobsOf(tool, rough, 1, 5)),
    ],
    20,
    run,
  );
}

function readLaunches(file) {
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];
}

/** The GPU, its driver, and the version of the tools. */
function machineHere() {
  const said = (command, ...argv) => spawnSync(command, argv, { encoding: 'utf8' }).stdout?.trim() ?? '';
  const [gpu, driver] = said('nvidia-smi', '--query-gpu=name,driver_version', '--format=csv,noheader').split(
    ', ',
  );
  const sanitizer = /Version ([\d.]+)/i.exec(said('compute-sanitizer', '--version'))?.[1];
  return { gpu, driver, sanitizer };
}

const help = spawnSync('compute-sanitizer', ['--help'], { encoding: 'utf8' }).stdout ?? '';

/** The tools at their most thorough, as far as this version has the options. */
function optionsOf(tool) {
  const more = {
    racecheck: ['--racecheck-deadlock-timeout', '1000'],
    initcheck: ['--initcheck-address-space', 'all'],
  };
  const [option, value] = more[tool] ?? [];
  const known = option !== undefined && help.includes(option) ? [option, value] : [];
  return ['--print-limit', '10000', '--show-backtrace', 'no', '--launch-timeout', '0', ...known];
}

/** The fates of launches in one process, which is killed when one of them hangs. */
async function watch({ tool, numbers, seconds, name, bundle, deadline }) {
  const progress = `${name}.progress`;
  writeFileSync(progress, '');
  const log = openSync(`${name}.log`, 'w');
  const launch = [process.execPath, join(root, 'scripts', 'launch-misuse.mjs'), bundle, progress, ...numbers];
  const [command, ...argv] =
    tool === 'alone' ? launch : ['compute-sanitizer', '--tool', tool, ...optionsOf(tool), ...launch];
  const child = spawn(command, argv, { cwd: root, stdio: ['ignore', log, log], detached: true });
  let ended = false;
  child.on('error', () => {
    ended = true;
  });
  child.on('exit', () => {
    ended = true;
  });
  const exit = async (milliseconds) => {
    for (const end = performance.now() + milliseconds; !ended && performance.now() < end; ) await sleep(50);
    return ended;
  };
  let [seen, since] = ['', performance.now()];
  while (!(await exit(100))) {
    const now = readFileSync(progress, 'utf8');
    if (now !== seen) [seen, since] = [now, performance.now()];
    const running = now.split('\n').at(-2)?.startsWith('B ');
    const late = performance.now() - since > 1000 * (running ? seconds : 25);
    if (!late && performance.now() < deadline) continue;
    // The launched program alone first: then the tool says what it has found.
    const pid = Number(/^P (\d+)/.exec(now)?.[1]);
    if (pid > 0) kill(pid);
    await exit(2500);
    kill(-child.pid);
    await exit(1000);
    break;
  }
  closeSync(log);
  const fates = new Map();
  for (const line of readFileSync(progress, 'utf8').split('\n')) {
    const [, kind, number, rest] = /^([BE]) (\S+) ?(.*)$/.exec(line) ?? [];
    if (kind === 'B') fates.set(number, { fate: 'hung' });
    else if (kind === 'E') fates.set(number, JSON.parse(rest));
  }
  // What was still running when the time was up has no fate.
  const last = [...fates].at(-1);
  if (last?.[1].fate === 'hung' && performance.now() - since < 1000 * seconds) fates.delete(last[0]);
  return fates;
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** Lists of at most so many; neighbours, which are likely to hang alike, in different ones. */
function chunks(list, size) {
  const count = Math.ceil(list.length / size);
  return Array.from({ length: count }, (_, i) => list.filter((_, k) => k % count === i));
}

/** The first lines that a tool said of each kind, without what each thread did. */
function shortened(text) {
  const lines = text.split('\n').filter((line) => !/ by thread | Address 0x| and is /.test(line));
  return [...new Set(lines)].slice(0, 120).join('\n');
}

async function inParallel(list, width, work) {
  const rest = [...list];
  const worker = async () => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

async function tell(folder) {
  const work = join(folder, 'work');
  mkdirSync(work, { recursive: true });
  const bundle = await import(pathToFileURL(await bundleCorpus(work)).href);
  const { corpus, launchOf } = bundle;
  const { check } = await import('../dist/checker/index.js');
  const { open } = await import('../dist/index.js');
  const interpreter = await open('cpu', { target: 'interpreter' });
  const expected = await Promise.all(corpus.map((_, i) => launchMisuse(interpreter, bundle, `${i}m`)));
  await interpreter.close();
  const launches = readLaunches(join(folder, 'launches.jsonl'));
  const of = (tool, number) => launches.find((one) => one.tool === tool && one.number === number);
  const underTools = (number) => Object.fromEntries(tools.map((tool) => [tool, verdictOf(of(tool, number))]));
  const misuses = corpus.flatMap((misuse, i) => {
    if (isAdvice(misuse)) return [];
    const { findings } = check(misuse.kernel, launchOf(misuse, false), { schedules: misuse.timed ? 32 : 8 });
    const { family, name, row } = misuse;
    const found = findings.some(({ code }) => code === misuse.code);
    return [
      {
        ...{ family, name, row, code: misuse.code, checker: found },
        alone: endOf(of('alone', `${i}`), expected[i]),
        ...underTools(`${i}`),
      },
    ];
  });
  const mended = corpus.map(({ family, name }, i) => ({
    ...{ family, name, alone: endOf(of('alone', `${i}m`), expected[i]) },
    ...underTools(`${i}m`),
  }));
  const machine = JSON.parse(readFileSync(join(folder, 'machine.json'), 'utf8'));
  const file = join(root, 'bench', 'results', 'checker-compared.json');
  writeFileSync(file, `${JSON.stringify({ machine, misuses, mended }, null, 2)}\n`);
  console.log(tableOf(misuses, mended));
  for (const { name, checker } of misuses) if (!checker) console.log(`not found by the checker: ${name}`);
  for (const { name, alone, ...under } of mended) {
    if (alone !== 'right result') console.log(`mended, ${alone}: ${name}`);
    for (const tool of tools) if (under[tool]?.reports.length > 0) console.log(`mended, ${tool}: ${name}`);
  }
}

/** How a launch alone ended; a result is right if it is what the interpreter has for the mended twin. */
function endOf(launch, expected) {
  if (launch?.fate !== 'ended') return launch?.fate ?? null;
  return launch.result === expected.result ? 'right result' : 'wrong result';
}

/** How a launch under a tool ended, and what the tool said of it; null if it was not launched. */
function verdictOf(launch) {
  return launch === undefined ? null : { fate: launch.fate, reports: launch.reports };
}

/** Markdown: a row a family; for each tool what it found, of how many that were launched under it. */
function tableOf(misuses, mended) {
  const twins = new Map(mended.map((one) => [one.name, one]));
  const finds = (tool, one) =>
    one[tool]?.reports.some((report) => !twins.get(one.name)[tool]?.reports.includes(report)) ?? false;
  const count = (list, test) => String(list.filter(test).length);
  const ofTool = (tool) => (list) => {
    const launched = list.filter((one) => one[tool] !== null);
    return launched.length === 0
      ? '–'
      : `${count(launched, (one) => finds(tool, one))} of ${launched.length}`;
  };
  const columns = {
    faults: (list) => String(list.length),
    checker: (list) => count(list, ({ checker }) => checker),
    ...Object.fromEntries(tools.map((tool) => [tool, ofTool(tool)])),
    'any tool': (list) => count(list, (one) => tools.some((tool) => finds(tool, one))),
    'alone: hangs': (list) => count(list, ({ alone }) => alone === 'hung'),
    stops: (list) => count(list, ({ alone }) => alone === 'failed' || alone === 'refused'),
    'wrong result': (list) => count(list, ({ alone }) => alone === 'wrong result'),
    'right result': (list) => count(list, ({ alone }) => alone === 'right result'),
  };
  const rowOf = (title, list) => [title, ...Object.values(columns).map((cell) => cell(list))];
  const kinds = Object.entries(families).filter(([family]) => family !== 'advice');
  const rows = [
    ['', ...Object.keys(columns)],
    ['---', ...Object.keys(columns).map(() => '---:')],
    ...kinds.map(([family, title]) =>
      rowOf(
        title,
        misuses.filter((one) => one.family === family),
      ),
    ),
    rowOf('**all**', misuses),
  ];
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
}

const [command, folder] = process.argv.slice(2);
if (command === 'measure' && folder !== undefined) await measure(folder);
else if (command === 'tell' && folder !== undefined) await tell(folder);
else {
  console.error('usage: node scripts/compare-sanitizer.mjs measure|tell FOLDER');
  process.exitCode = 2;
}

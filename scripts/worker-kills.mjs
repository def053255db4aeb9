// node scripts/worker-kills.mjs [--kills N] [--pieces N] [--workers N] [--seed N] [--servers N] [--job NAME] [--save]: a run over a
// queue whose workers are killed (SIGKILL) at random moments, and replaced, N times (200). Its output must have the bytes of a
// run in one process, and no piece may be committed twice. --servers kills the server as well, so many times. --job passes is a
// sequence, with so many pieces in each pass. --save writes bench/results/worker-kills.json.
//
// `npm run test:long` does the same with fewer kills. Build first.

import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { OwnServer } from '../dist/internals/queue/server.js';

const program = join(import.meta.dirname, '../dist/cli/main.js');

/** Jobs of which a piece takes as long as it is told; sums of integers are those of one process, however rows are cut. */
const module = `import { job, kernel, sequence } from 'warpstage';
const mixed = kernel({ x: 'readonly i32[]', y: 'i32[]', steps: 'i32', seed: 'i32' }, ({ x, y, steps, seed }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= y.length) return;
  let v = x[i]! + seed;
  for (let k = 0; k < steps; k++) v = v * 1664525 + 1013904223;
  y[i] = v;
});
const added = kernel({ x: 'readonly i32[]', sum: 'i32[]', steps: 'i32' }, ({ x, sum, steps }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= x.length) return;
  let v = x[i]!;
  for (let k = 0; k < steps; k++) v = v * 1664525 + 1013904223;
  cuda.atomicAdd(sum, 0, v);
});
const settings = { steps: 1000 };
export const mix = job({ kernel: mixed, inputs: { x: {} }, outputs: { y: {} }, settings: { ...settings, seed: 0 } });
const add = job({
  kernel: added, inputs: { x: {} }, accumulators: { sum: { combine: 'sum' } }, settings, finish: ({ sum }) => sum[0],
});
export const passes = sequence([add, { job: mix, settings: (seed) => ({ seed }) }]);
`;
const rowsOfPiece = 64;

/** Numbers from 0 to 1, the same for a seed. */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Runs, and kills. Gives what came of it; `problems` is empty where all is as it must be. */
export async function stormOfKills({ kills, pieces, workers, seed, servers = 0, steps, job = 'mix' }) {
  const folder = mkdtempSync(join(tmpdir(), 'worker-kills-'));
  const at = (name) => join(folder, name);
  const random = randomOf(seed);
  const problems = [];
  const began = performance.now();
  const server = await OwnServer.start();
  const env = { ...process.env, WARPSTAGE_QUEUE: server.url };
  const start = (args) => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.told = '';
    child.printed = '';
    child.stderr.on('data', (part) => {
      child.told += part;
    });
    child.stdout.on('data', (part) => {
      child.printed += part;
    });
    child.ended = new Promise((resolve) => child.on('close', (code) => resolve(code)));
    return child;
  };
  const team = new Set();
  const hire = () => {
    const child = start(['worker', '--threads', '1', '--quiet']);
    team.add(child);
    void child.ended.then(() => team.delete(child));
  };
  try {
    writeFileSync(at('mix.ts'), module);
    writeFileSync(
      at('x.i32'),
      new Uint8Array(Int32Array.from({ length: pieces * rowsOfPiece }, () => random() * 2 ** 31).buffer),
    );
    const about = ['--job', job, '--set', `steps=${steps}`, '--quiet'];
    const whole = start(['run', 'mix.ts', 'x.i32', 'whole.i32', ...about]);
    if ((await whole.ended) !== 0) throw new Error(whole.told);
    const queue = ['--queue', '--pieces', `${pieces}`, '--tries', '100', '--ack-wait', '1s'];
    const run = start(['run', 'mix.ts', 'x.i32', 'y.i32', '--json', ...about, ...queue]);
    let code;
    void run.ended.then((ended) => {
      code = ended;
    });
    for (let i = 0; i < workers; i++) hire();

    const seen = new Map();
    const look = () => {
      for (const name of readdirSync(folder).filter((one) =>
        /^y\.i32\.(pass-1\.sum\.)?\d+-of-\d+$/.test(one),
      )) {
        const about = statSync(at(name), { bigint: true, throwIfNoEntry: false });
        if (about === undefined) continue;
        const stamp = `${about.ino} ${about.mtimeNs} ${about.size}`;
        if ((seen.get(name) ?? stamp) !== stamp) problems.push(`${name} was committed twice`);
        seen.set(name, stamp);
      }
    };
    let [killed, killedServers] = [0, 0];
    while (code === undefined) {
      look();
      await sleep(50 + random() * 500);
      if (killed < kills && team.size > 0) {
        const victim = [...team][Math.floor(random() * team.size)];
        victim.kill('SIGKILL');
        killed++;
        if (killedServers < servers && killed % Math.ceil(kills / servers) === 0) {
          process.kill(server.pid, 'SIGKILL');
          killedServers++;
        }
      }
      while (team.size < workers) hire();
    }
    if (code !== 0) problems.push(`the run ended with ${code}: ${run.told}`);
    if (killed < kills) problems.push(`there was time for ${killed} kills only`);
    const bytes = (name) => (existsSync(at(name)) ? readFileSync(at(name)) : Buffer.alloc(0));
    if (!bytes('y.i32').equals(bytes('whole.i32')))
      problems.push('the output has other bytes than that of one process');
    const report = code === 0 ? JSON.parse(run.printed).report : undefined;
    for (const child of team) child.kill('SIGTERM');
    const codes = await Promise.all([...team].map(({ ended }) => ended));
    if (codes.some((one) => one !== 143)) problems.push(`workers ended with ${codes}`);
    const left = readdirSync(folder).filter(
      (name) => !['mix.ts', 'x.i32', 'whole.i32', 'y.i32'].includes(name),
    );
    // What a worker was writing when it was killed; nobody takes it for a piece.
    const unfinished = left.filter((name) => name.includes('.partial') || name.startsWith('.'));
    if (left.length > unfinished.length)
      problems.push(`left: ${left.filter((name) => !unfinished.includes(name))}`);
    const seconds = Math.round((performance.now() - began) / 1000);
    return {
      ...{
        pieces,
        workers,
        seed,
        kills: killed,
        serverKills: killedServers,
        seconds,
        unfinished: unfinished.length,
      },
      repeated: report?.repeated,
      problems,
    };
  } finally {
    for (const child of team) child.kill('SIGKILL');
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: {
      ...{ kills: { type: 'string', default: '200' }, pieces: { type: 'string', default: '1000' } },
      ...{ workers: { type: 'string', default: '4' }, seed: { type: 'string', default: '1' } },
      ...{ servers: { type: 'string', default: '0' }, steps: { type: 'string', default: '10000000' } },
      job: { type: 'string', default: 'mix' },
      save: { type: 'boolean', default: false },
    },
  });
  const { save, job, ...numbers } = values;
  const result = await stormOfKills({
    job,
    ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value)])),
  });
  console.log(result);
  if (save) {
    const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
    mkdirSync('bench/results', { recursive: true });
    writeFileSync('bench/results/worker-kills.json', `${JSON.stringify({ machine, ...result }, null, 2)}\n`);
  }
  process.exitCode = result.problems.length === 0 ? 0 : 1;
}

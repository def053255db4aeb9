// node scripts/long-stream.mjs [--gib N] [--limit 300MiB] [--save]: N GiB (64) of f32 that a process makes go through the command by
// pipes, under a limit of memory, and every number that comes out is looked at. Says what the command held resident over
// time: its peak, and how much more it held at the end than after the first tenth. --save also writes
// bench/results/long-stream.json. `npm run build` goes before it.

import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    gib: { type: 'string', default: '64' },
    limit: { type: 'string', default: '300MiB' },
    save: { type: 'boolean', default: false },
  },
});
const total = Number(values.gib) * 2 ** 30;
/** What is made again and again: so long that no chunk begins where another did. */
const period = 1_000_003;

const source = `
  const numbers = Float32Array.from({ length: ${period} }, (_, i) => i);
  const bytes = Buffer.from(numbers.buffer);
  (async () => {
    for (let left = ${total}; left > 0; left -= bytes.length)
      if (!process.stdout.write(left < bytes.length ? bytes.subarray(0, left) : bytes))
        await new Promise((go) => process.stdout.once('drain', go));
  })();`;
const settings = ['--set', 'a=2', '--set', 'b=1'];
const ways = ['--dtype', 'f32', '--max-memory', values.limit, '--quiet', '--raw'];
const args = ['dist/cli/main.js', 'run', 'examples/affine.ts', '-', '-', ...ways, ...settings];

const maker = spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
const command = spawn(process.execPath, args, { stdio: [maker.stdout, 'pipe', 'inherit'] });
maker.stdout.destroy();

/** MiB that the command holds resident: now, and at most. */
function resident() {
  const status = readFileSync(`/proc/${command.pid}/status`, 'utf8');
  return ['VmRSS', 'VmHWM'].map((name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)[1]) / 1024);
}

const samples = [];
let [seen, wrong, peak] = [0, 0, 0];
const sampling = setInterval(() => {
  try {
    const [now, most] = resident();
    peak = most;
    samples.push({ share: seen / total, mebibytes: Math.round(now) });
  } catch {
    // It has ended.
  }
}, 1000);

const began = performance.now();
let rest = Buffer.alloc(0);
for await (const piece of command.stdout) {
  const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
  const whole = bytes.length & ~3;
  const numbers = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + whole));
  let position = (seen / 4) % period;
  for (const number of numbers) {
    if (number !== Math.fround(2 * position + 1)) wrong += 1;
    position = position + 1 === period ? 0 : position + 1;
  }
  seen += whole;
  rest = bytes.subarray(whole);
}
clearInterval(sampling);
const code = await new Promise((done) =>
  command.exitCode === null ? command.once('exit', done) : done(command.exitCode),
);

const tenth = samples.find(({ share }) => share >= 0.1)?.mebibytes;
const result = {
  machine: { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version },
  gibibytes: total / 2 ** 30,
  limit: values.limit,
  ...{ code, bytesOut: seen + rest.length, wrong, seconds: Math.round((performance.now() - began) / 1000) },
  ...{ peak: Math.round(peak), afterTenth: tenth, atEnd: samples.at(-1)?.mebibytes },
};
console.log(JSON.stringify(result, null, 2));
if (values.save) writeFileSync('bench/results/long-stream.json', `${JSON.stringify(result, null, 2)}\n`);
process.exitCode = code === 0 && seen === total && wrong === 0 ? 0 : 1;

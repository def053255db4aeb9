// node scripts/schedules-on-gpu.mjs [--out DIR] [--dist DIR] [--rounds 15] [--only NAME,NAME] [--json]: schedules of streams
// and events by warpstage beside the same in C++ (bench/cuda/schedules.cu, built here by nvcc), in one run.
//
// Each side has a process of its own, which first compares what every schedule leaves; a schedule that leaves something wrong
// has no figure. Then both are asked for one measurement after the other, so that a clock that drifts slows both alike.
// Prints the median milliseconds and the median of the ratios of neighbours, above 1 where warpstage is faster: between two
// events of the default stream, and of the host until all is done. Writes DIR/schedules.json. Needs a GPU, nvcc, the built
// package, koffi and acorn. Ends with 1 if a result is wrong. `--without-cpp`, `--device` and `--unit BYTES` for a MiB are to
// try it elsewhere.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const self = fileURLToPath(import.meta.url);
const options = {
  out: { type: 'string', default: '.' },
  dist: { type: 'string', default: join(self, '..', '..', 'dist') },
  rounds: { type: 'string', default: '15' },
  only: { type: 'string' },
  device: { type: 'string', default: 'cuda' },
  unit: { type: 'string', default: String(2 ** 20) },
  json: { type: 'boolean', default: false },
  'without-cpp': { type: 'boolean', default: false },
  worker: { type: 'boolean', default: false },
};
const { values: flags } = parseArgs({ options });
const unit = Number(flags.unit);
const [block, small] = [256, 16 * 256];
const elements = Math.max((256 * unit) / 4, 1000 * small);
const names = [
  'ring-2',
  'ring-3',
  'ring-6',
  'ring-2-small',
  'ring-6-small',
  'ring-6-timed',
  'fork-join',
  'gather',
  'chain',
  'graph',
  'launches',
  'launches-scalars',
  'launches-offsets',
  'launches-1000-offsets',
  'launches-8-streams',
];

if (flags.worker) await work();
else await main();

/** The schedules: what issues each, and in how many elements it leaves `3 * in + 1`, of the host or of the device. */
function schedulesOn({ device, kernel }, { input, output, x, y }) {
  const scale = kernel(
    { y: 'f32[]', x: 'readonly f32[]', a: 'f32' },
    ({ y, x, a }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      y[i] = a * x[i] + 1;
    },
    { name: 'scale' },
  );
  const scaleFrom = kernel(
    { y: 'f32[]', x: 'readonly f32[]', a: 'f32', begin: 'index' },
    ({ y, x, a, begin }, cuda) => {
      const i = begin + cuda.thisGrid().threadRank();
      y[i] = a * x[i] + 1;
    },
    { name: 'scaleFrom' },
  );
  const streams = Array.from({ length: 20 }, () => device.createStream());
  const untimed = Array.from({ length: 64 }, () => device.createEvent({ timing: false }));
  const timed = Array.from({ length: 64 }, () => device.createEvent());
  const toDevice = (at, count, stream) =>
    stream.memcpyAsync(x.subarray(at, at + count), input.subarray(at, at + count));
  const toHost = (at, count, stream) =>
    stream.memcpyAsync(output.subarray(at, at + count), y.subarray(at, at + count));
  const compute = (at, count, stream) => {
    const launch = { grid: count / block, block };
    stream.launch(scale, launch, { y: y.subarray(at, at + count), x: x.subarray(at, at + count), a: 3 });
  };

  /** Chunks through `depth` buffers: one stream copies in, one computes, one copies out, ordered by events. */
  const ring = (bytes, chunks, depth, events) => {
    const count = bytes / 4 / chunks;
    const [read, run, write] = streams;
    for (let chunk = 0; chunk < chunks; ++chunk) {
      const slot = chunk % depth;
      const at = slot * count;
      const [copied, computed, written] = [events[slot], events[depth + slot], events[2 * depth + slot]];
      if (chunk >= depth) read.waitEvent(written);
      toDevice(at, count, read);
      read.record(copied);
      run.waitEvent(copied);
      compute(at, count, run);
      run.record(computed);
      write.waitEvent(computed);
      toHost(at, count, write);
      write.record(written);
    }
  };
  /** A copy in, kernels on its parts in 8 streams, a copy out behind them all. */
  const forkJoin = (turns) => {
    const count = (16 * unit) / 4;
    const part = count / 8;
    for (let turn = 0; turn < turns; ++turn) {
      toDevice(0, count, streams[0]);
      streams[0].record(untimed[0]);
      for (let s = 1; s <= 8; ++s) {
        streams[s].waitEvent(untimed[0]);
        compute((s - 1) * part, part, streams[s]);
        streams[s].record(untimed[s]);
      }
      for (let s = 1; s <= 8; ++s) streams[0].waitEvent(untimed[s]);
      toHost(0, count, streams[0]);
    }
  };
  /** 16 streams copy a part in and compute with it; another gathers what they have done, and they wait for that. */
  const gather = (turns) => {
    const part = unit / 4;
    for (let turn = 0; turn < turns; ++turn) {
      for (let s = 0; s < 16; ++s) {
        if (turn > 0) streams[s].waitEvent(untimed[16]);
        toDevice(s * part, part, streams[s]);
        compute(s * part, part, streams[s]);
        streams[s].record(untimed[s]);
      }
      for (let s = 0; s < 16; ++s) streams[16].waitEvent(untimed[s]);
      toHost(0, 16 * part, streams[16]);
      streams[16].record(untimed[16]);
    }
  };
  /** Small kernels, each in the next of 16 streams, behind the one before it. */
  const chain = (links) => {
    for (let link = 0; link < links; ++link) {
      const s = link % 16;
      if (link > 0) streams[s].waitEvent(untimed[(link - 1) % 16]);
      compute(0, small, streams[s]);
      streams[s].record(untimed[s]);
    }
  };
  const forked = streams[0].capture(() => {
    streams[0].record(untimed[0]);
    for (let s = 1; s <= 4; ++s) {
      streams[s].waitEvent(untimed[0]);
      for (let k = 0; k < 8; ++k) compute((s - 1) * small, small, streams[s]);
      streams[s].record(untimed[s]);
      streams[0].waitEvent(untimed[s]);
    }
  });
  const launches = (count, launch) => {
    for (let i = 0; i < count; ++i) launch(i);
  };
  const at = (i) => (i % 64) * small;
  return {
    'ring-2': { issue: () => ring(1024 * unit, 64, 2, untimed), count: 2 * 4 * unit, onHost: true },
    'ring-3': { issue: () => ring(1024 * unit, 64, 3, untimed), count: 3 * 4 * unit, onHost: true },
    'ring-6': { issue: () => ring(1024 * unit, 64, 6, untimed), count: 6 * 4 * unit, onHost: true },
    'ring-2-small': { issue: () => ring(256 * unit, 256, 2, untimed), count: (2 * unit) / 4, onHost: true },
    'ring-6-small': { issue: () => ring(256 * unit, 256, 6, untimed), count: (6 * unit) / 4, onHost: true },
    'ring-6-timed': { issue: () => ring(256 * unit, 256, 6, timed), count: (6 * unit) / 4, onHost: true },
    'fork-join': { issue: () => forkJoin(20), count: 4 * unit, onHost: true },
    gather: { issue: () => gather(20), count: (16 * unit) / 4, onHost: true },
    chain: { issue: () => chain(1000), count: small },
    graph: { issue: () => launches(50, () => forked.launch(streams[0])), count: 4 * small },
    launches: { issue: () => launches(1000, () => compute(0, small, streams[0])), count: small },
    'launches-scalars': {
      // The last 64 leave what is compared.
      issue: () =>
        launches(1000, (i) => {
          const a = 3 + Math.trunc((999 - i) / 64);
          streams[0].launch(scaleFrom, { grid: small / block, block }, { y, x, a, begin: at(i) });
        }),
      count: 64 * small,
    },
    'launches-offsets': {
      issue: () => launches(1000, (i) => compute(at(i), small, streams[0])),
      count: 64 * small,
    },
    'launches-1000-offsets': {
      issue: () => launches(1000, (i) => compute(i * small, small, streams[0])),
      count: 1000 * small,
    },
    'launches-8-streams': {
      issue: () => launches(1000, (i) => compute(at(i), small, streams[i % 8])),
      count: 64 * small,
    },
  };
}

/** Answers as the program in C++ does. */
async function work() {
  const { kernel, open } = await import(pathToFileURL(resolve(flags.dist, 'index.js')).href);
  const device = await open(flags.device);
  const [x, y] = [device.alloc('f32', elements), device.alloc('f32', elements)];
  const [input, output] = [device.allocPinned('f32', elements), device.allocPinned('f32', elements)];
  const given = input.array.map((_, i) => i % 1021);
  input.array.set(given);
  device.defaultStream.memcpyAsync(x, input);
  await device.synchronize();
  const schedules = schedulesOn({ device, kernel }, { input, output, x, y });
  const [start, stop] = [device.createEvent(), device.createEvent()];
  const { defaultStream } = device;

  const answers = {
    check: async ({ issue, count, onHost }) => {
      defaultStream.memsetAsync(y, 0);
      output.array.fill(0);
      issue();
      await device.synchronize();
      if (!onHost) defaultStream.memcpyAsync(output, y);
      await device.synchronize();
      const left = output.array;
      for (let i = 0; i < count; ++i) if (left[i] !== 3 * given[i] + 1) return `wrong at ${i}`;
      return 'right';
    },
    run: async ({ issue }) => {
      const begin = performance.now();
      defaultStream.record(start);
      issue();
      defaultStream.record(stop);
      await device.synchronize();
      return `${stop.elapsedTime(start).toFixed(4)} ${(performance.now() - begin).toFixed(4)}`;
    },
  };
  for await (const line of createInterface({ input: process.stdin })) {
    const [what, name] = line.split(' ');
    console.log(await answers[what](schedules[name]));
  }
  await device.close();
}

/** A process that answers lines. */
function processOf(command, ...words) {
  const child = spawn(command, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(question) {
      child.stdin.write(`${question}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`${command} ${words.join(' ')} ended at ${question}`);
      return value;
    },
    end: () => child.stdin.end(),
  };
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

/** Measures one side after the other; the times of both, between events and of the host. */
async function timesOf(sides, name) {
  const times = sides.map(() => []);
  for (let round = -3; round < Number(flags.rounds); ++round) {
    for (const [position, side] of sides.entries()) {
      const answer = (await side.ask(`run ${name}`)).split(' ').map(Number);
      if (round >= 0) times[position].push(answer);
    }
  }
  return times;
}

async function main() {
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-schedules-'));
  const words = ['--device', flags.device, '--unit', flags.unit, '--dist', flags.dist];
  const sides = [processOf(process.execPath, self, '--worker', ...words)];
  if (!flags['without-cpp']) {
    const source = join(self, '..', '..', 'bench', 'cuda', 'schedules.cu');
    const program = join(folder, 'schedules');
    execFileSync('nvcc', ['-O3', '-std=c++17', '-arch=native', '-o', program, source]);
    sides.push(processOf(program));
  }
  const say = (line) => {
    if (!flags.json) console.log(line);
  };
  const rows = [];
  let wrong = 0;
  try {
    for (const name of flags.only?.split(',') ?? names) {
      const left = [];
      for (const side of sides) left.push(await side.ask(`check ${name}`));
      if (left.some((one) => one !== 'right')) {
        wrong += 1;
        say(`${name}: ${left.join(', in C++ ')}`);
        continue;
      }
      const [own, cpp = own] = await timesOf(sides, name);
      const of = (times, which) => median(times.map((time) => time[which]));
      const ratio = (which) => median(own.map((time, round) => cpp[round][which] / time[which]));
      const [events, host] = [0, 1].map((which) => ({
        warpstage: of(own, which),
        cpp: of(cpp, which),
        ratio: ratio(which),
      }));
      rows.push({ name, events, host });
      const inWords = ({ warpstage, cpp: theirs, ratio: of_ }) =>
        `${warpstage.toFixed(3)} ms, C++ ${theirs.toFixed(3)}, ratio ${of_.toFixed(3)}`;
      say(`${name.padEnd(22)} events ${inWords(events)}; host ${inWords(host)}`);
    }
  } finally {
    for (const side of sides) side.end();
    rmSync(folder, { recursive: true });
  }
  mkdirSync(flags.out, { recursive: true });
  writeFileSync(
    join(flags.out, 'schedules.json'),
    JSON.stringify({ rounds: Number(flags.rounds), rows }, null, 1),
  );
  if (flags.json) console.log(JSON.stringify(rows));
  process.exitCode = wrong > 0 ? 1 : 0;
}

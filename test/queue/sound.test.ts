// Sound over a queue, and by shards: WAV in, WAV and .npy out, which are what one process writes, to the byte, whatever the
// type, the channels and the cut; and what WAV cannot hold is refused before anything is dealt.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allPieces } from '#warpstage/queue/deal.js';
import { OwnServer } from '#warpstage/queue/server.js';
import { outcomeOf, runHere, start } from '../cli/support.ts';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { wavFile } from '../formats/wav-file.ts';
import { namesIn, temporaryDirectory } from '../overlap/support.ts';
import { atLength } from '../support/thorough.ts';
import { connect, hasServer, until } from './support.ts';

/** Rows in their order and as sums of neighbours, so that pieces read across their cuts; or another type of `loud`. */
const module = (
  element: string,
  channels: number,
  more = '',
) => `import { existsSync, rmSync } from 'node:fs';
import { job, kernel } from 'warpstage';
const mix = kernel(
  { loud: '${element}[]', level: 'f32[]', x: 'readonly ${element}[]' },
  ({ loud, level, x }, cuda) => {
    for (let i = cuda.thisGrid().threadRank(); i < loud.length; i += cuda.thisGrid().size()) {
      loud[i] = x[i + ${channels}]!;
      level[i] = cuda.f32(x[i]!) / 2 + cuda.f32(x[i + ${2 * channels}]!);
    }
  },
);
export const sound = job({
  kernel: mix,
  inputs: { x: { width: ${channels}, halo: [1, 1] } },
  outputs: { loud: { width: ${channels} }, level: { width: ${channels} } },
  ${more}
});
`;
const types = { u8: [1, 8], i16: [1, 16], i32: [1, 32], f32: [3, 32] } as const;

interface Sound {
  readonly element: keyof typeof types;
  readonly channels: number;
  readonly rows: number;
}

function folderWith({ element, channels, rows }: Sound, more = '') {
  const folder = temporaryDirectory();
  const at = (name: string) => join(folder, name);
  const [tag, bits] = types[element];
  const data = Buffer.alloc((rows * channels * bits) / 8);
  for (let i = 0; i < rows * channels; i++) {
    const value = (i * 7919) % 251;
    if (element === 'f32') data.writeFloatLE(value / 8, 4 * i);
    else data.writeIntLE(value % 127, (i * bits) / 8, bits / 8);
  }
  writeFileSync(at('x.wav'), wavFile({ data, tag, bits, channels }));
  writeFileSync(at('sound.ts'), module(element, channels, more));
  const line = (name: string) => ['run', at('sound.ts'), at('x.wav'), at(`${name}.wav`), at(`${name}.npy`)];
  const bytes = (name: string) =>
    ['wav', 'npy'].map((ending) => readFileSync(at(`${name}.${ending}`)).toString('hex'));
  return { folder, at, line, bytes };
}

const sounds = fc.record({
  element: fc.constantFrom('u8' as const, 'i16' as const, 'i32' as const, 'f32' as const),
  channels: fc.integer({ min: 1, max: 3 }),
  rows: fc.integer({ min: 1, max: 400 }),
});

describe('sound by shards', () => {
  test('is put together to what one process writes', { timeout: randomLimit(3) }, async () => {
    const shards = fc.record({ sound: sounds, of: fc.integer({ min: 1, max: 4 }) });
    await fc.assert(
      fc.asyncProperty(shards, async ({ sound, of }) => {
        const { folder, at, line, bytes } = folderWith(sound);
        expect((await runHere(...line('whole'), '--quiet')).code).toBe(0);
        for (let n = 1; n <= of; n++) {
          const { code, stderr } = await runHere(...line('y'), '--quiet', '--shard', `${n}/${of}`);
          expect(code, stderr).toBe(0);
        }
        const merged = await runHere('merge', at('y.wav'), at('y.npy'), '--remove');
        expect(merged.code, merged.stderr).toBe(0);
        expect(bytes('y')).toEqual(bytes('whole'));
        // The head says a rate of 44,100, as the input's does, and the end has a byte behind an odd length.
        expect(bytes('y')[0]).toContain('44ac0000');
        expect(bytes('y')[0]!.length % 4).toBe(0);
        expect(namesIn(folder).filter((name) => name.includes('-of-'))).toEqual([]);
      }),
      randomRuns(3),
    );
  });

  test('of a format that cannot hold the output is refused before it is computed', async () => {
    const { folder, at } = folderWith({ element: 'u8', channels: 1, rows: 10 });
    for (const [loud, level, message] of [
      ['y.png', 'y.npy', 'shape (10)'],
      ['y.wav', 'y.png', 'the kernel writes f32'],
    ] as const) {
      const line = ['run', at('sound.ts'), at('x.wav'), at(loud), at(level), '--shard', '1/2'];
      const { code, stderr } = await runHere(...line);
      expect([code, stderr]).toEqual([2, expect.stringContaining('WS5012')]);
      expect(stderr).toContain(message);
    }
    expect(namesIn(folder)).toEqual(['sound.ts', 'x.wav']);
  });
});

describe.runIf(hasServer)('sound over a queue', () => {
  let server: OwnServer;
  beforeAll(async () => {
    server = await OwnServer.start();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** Runs a command line over the queue, with a worker in this process. */
  async function overQueue(...line: string[]) {
    const running = runHere(...line, '--queue', server.url, '--json');
    await using connection = await connect(server.url);
    let ended = false;
    void running.then(() => {
      ended = true;
    });
    const isDealt = async () => (await connection.streams.streams.names(allPieces).next()).length > 0;
    await until(async () => ended || (await isDealt()));
    if (!ended) await runHere('worker', server.url, '--within', '/', '--idle', '0.3s', '--threads', '1');
    return running;
  }

  test('is what one process writes', { timeout: randomLimit(2) }, async () => {
    const cuts = fc.record({ sound: sounds, pieces: fc.integer({ min: 1, max: 6 }) });
    await fc.assert(
      fc.asyncProperty(cuts, async ({ sound, pieces }) => {
        const { folder, line, bytes } = folderWith(sound);
        expect((await runHere(...line('whole'), '--rate', '8000', '--quiet')).code).toBe(0);
        const { code, stderr } = await overQueue(...line('y'), '--pieces', `${pieces}`, '--rate', '8000');
        expect(code, stderr).toBe(0);
        expect(bytes('y')).toEqual(bytes('whole'));
        expect(namesIn(folder).filter((name) => name.includes('-of-'))).toEqual([]);
      }),
      randomRuns(2),
    );
  });

  test('that a WAV file cannot hold is refused before anything is dealt', async () => {
    const { folder, at } = folderWith({ element: 'f32', channels: 2, rows: 10 });
    writeFileSync(at('x.f32'), new Uint8Array(80));
    writeFileSync(
      at('wide.ts'),
      `import { map } from 'warpstage';
export const wide = map({ y: 'u32', x: 'f32' }, ({ x }, cuda) => cuda.u32(x));\n`,
    );
    const without = [at('sound.ts'), at('x.f32'), at('y.wav'), at('y.npy')];
    for (const [line, message] of [
      [without, 'nothing says how many rows a second it has'],
      [[at('wide.ts'), at('x.wav'), at('y.wav')], 'and the kernel writes u32'],
    ] as const) {
      const { code, stderr } = await overQueue('run', ...line);
      expect(code).toBe(2);
      expect(JSON.parse(stderr)).toMatchObject({ code: 'WS5012' });
      expect(stderr).toContain(message);
    }
    expect(namesIn(folder)).toEqual(['sound.ts', 'wide.ts', 'x.f32', 'x.wav']);
  });

  test.runIf(atLength)('of which a worker is killed is what one process writes', async () => {
    const poison = `launch: ({ rows, offset }) => {
    if (offset >= 100 && existsSync('poison')) {
      rmSync('poison');
      process.kill(process.pid, 'SIGKILL');
    }
    return { grid: Math.ceil(rows / 256), block: 256 };
  },`;
    const { folder, at, line, bytes } = folderWith({ element: 'u8', channels: 3, rows: 333 }, poison);
    expect((await runHere(...line('whole'), '--quiet')).code).toBe(0);
    writeFileSync(at('poison'), '');
    const options = ['--workers', '2', '--pieces', '8', '--ack-wait', '1s', '--json'];
    const { code, stderr } = await outcomeOf(start([...line('y'), ...options], { cwd: folder }));
    expect(code, stderr).toBe(0);
    expect(existsSync(at('poison'))).toBe(false);
    expect(bytes('y')).toEqual(bytes('whole'));
    expect(namesIn(folder).filter((name) => name.includes('-of-'))).toEqual([]);
  });
});

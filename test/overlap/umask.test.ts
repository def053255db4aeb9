// A run with resume gives its output the rights of one before it gives it the name. A process that ends in between leaves
// what others may write to, where they may write to outputs; the next run goes on with that, and with nothing looser.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { root } from '../cli/support.ts';

/** Three files of a store, and a bit. */
const x = Int32Array.from({ length: 3.2 * 2 ** 20 }, (_, i) => Math.imul(i, 7919));
const tripled = Buffer.from(x.map((one) => 3 * one).buffer);

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'warpstage-test-'));
  writeFileSync(at('x.i32'), new Uint8Array(x.buffer));
  writeFileSync(at('run.mjs'), program);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));
const at = (name: string) => join(directory, name);

/** A run that may be killed before a name is given. Prints the rows that it took over, or the code of its error. */
const program = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { map, open, run } from ${JSON.stringify(join(root, 'dist/index.js'))};

const { input, output, umask, isKilled } = JSON.parse(process.argv[2]);
process.umask(umask);
const { renameSync } = fs;
fs.renameSync = (...given) => {
  if (isKilled) process.kill(process.pid, 'SIGKILL');
  renameSync(...given);
};
syncBuiltinESMExports();
const now = performance.now.bind(performance);
let ahead = 0;
performance.now = () => now() + (ahead += 1000);
const tripled = map({ y: 'i32', x: 'i32' }, ({ x }) => 3 * x);
const device = await open('cpu', { threads: 1 });
const said = await run(tripled, { input, output, device, chunk: 300_000, resume: true }).then(
  ({ report }) => report.resumed.rows,
  ({ code }) => code,
);
console.log(JSON.stringify(said));
await device.close();
`;

function start(output: string, umask: number, isKilled = false): number | string | undefined {
  const given = JSON.stringify({ input: at('x.i32'), output: at(output), umask, isKilled });
  const child = spawnSync(process.execPath, [at('run.mjs'), given], { encoding: 'utf8' });
  expect(child.signal, child.stderr).toBe(isKilled ? 'SIGKILL' : null);
  return isKilled ? undefined : JSON.parse(child.stdout);
}

/** The elements of an output, of whichever kind. */
function written(output: string): Buffer {
  if (!output.endsWith('.zarr')) return readFileSync(at(output));
  const names = readdirSync(at(output)).filter((name) => name !== 'zarr.json');
  return Buffer.concat(names.sort().map((name) => readFileSync(at(join(output, name)))));
}
const mode = (name: string) => statSync(at(name)).mode & 0o777;
const hidden = () => readdirSync(directory).filter((name) => name.startsWith('.'));
const isWhole = (output: string) => written(output).subarray(0, tripled.length).equals(tripled);

describe.each(['y.zarr', 'y.i32'])('%s that a process left when it was complete', (output) => {
  const rights = output.endsWith('.zarr') ? 0o777 : 0o666;
  const partial = `.${output}.partial`;

  test('is gone on with by who gives outputs such rights, and by nobody else', () => {
    start(output, 0o002, true);
    expect(mode(partial)).toBe(rights & ~0o002);
    expect(start(output, 0o022)).toBe('WS5013');
    expect(mode(partial)).toBe(rights & ~0o002);
    chmodSync(at(partial), rights);
    expect(start(output, 0o002)).toBe('WS5013');
    expect(mode(partial)).toBe(rights);
    chmodSync(at(partial), rights & ~0o002);
    expect(start(output, 0o002)).toBeGreaterThan(0);
    expect(isWhole(output)).toBe(true);
    expect(mode(output)).toBe(rights & ~0o002);
    expect(hidden()).toEqual([]);
  });

  test('is gone on with where a group may write to what it takes the place of', () => {
    expect(start(output, 0o022)).toBe(0);
    const before = rights & 0o770;
    chmodSync(at(output), before);
    start(output, 0o022, true);
    expect(mode(partial)).toBe(before);
    expect(start(output, 0o022)).toBeGreaterThan(0);
    expect(isWhole(output)).toBe(true);
    expect(mode(output)).toBe(before);
    expect(hidden()).toEqual([]);
  });
});

// The HTTP server of the examples: results, refusals, back pressure, clients that go; at length under load, too.

import { once } from 'node:events';
import { Agent, type IncomingMessage, type Server, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Device, type DeviceArray, job, kernel, open } from 'warpstage';
import { affine } from '../../examples/affine.ts';
import { serverOf } from '../../examples/server/server.ts';
import { atLength, isFirst } from '../support/thorough.ts';
import { underLoad } from './server-under-load.ts';

/** Fails in its second chunk. */
const wild = job({
  kernel: kernel({ y: 'f32[]', x: 'readonly f32[]', first: 'index' }, ({ y, x, first }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i] = x[i + first]!;
  }),
  inputs: { x: {} },
  outputs: { y: {} },
  offset: 'first',
});

let device: Device;
let server: Server;
let port: number;
const agent = new Agent({ keepAlive: true, maxSockets: 32 });
beforeAll(async () => {
  device = await open('cpu', { memory: 32 << 20, threads: 2 });
  server = serverOf({ device, jobs: { affine, wild } });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterAll(async () => {
  agent.destroy();
  server.closeAllConnections();
  server.close();
  await device.close();
});
afterEach(() => expect.poll(() => device.memory.allocations).toBe(0));

const numbers = (length: number, first = 0) => Float32Array.from({ length }, (_, i) => (first + i) % 4096);
const bytesOf = (x: Float32Array) => new Uint8Array(x.buffer);
const begun = (path: string) => send({ port, path, method: 'POST', agent, host: '127.0.0.1' });

async function post(path: string, body: Uint8Array): Promise<{ status: number | undefined; body: Buffer }> {
  const request = begun(path);
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode, body: await buffer(response) };
}

test.runIf(isFirst)('many clients at once each get their own', async () => {
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, i) => post(`/affine?a=2&b=${i}`, bytesOf(numbers(i * 5000, i)))),
  );
  for (const [i, { status, body }] of answers.entries()) {
    expect(status).toBe(200);
    expect(body.equals(bytesOf(numbers(i * 5000, i).map((x) => 2 * x + i)))).toBe(true);
  }
});

/** Arrays that leave nothing of the device's memory. */
function filled(): DeviceArray[] {
  const taken: DeviceArray[] = [];
  for (let bytes = 16 << 20; bytes >= 1024; ) {
    try {
      taken.push(device.alloc('u8', bytes));
    } catch {
      bytes /= 2;
    }
  }
  return taken;
}

describe.runIf(isFirst)('what fails', () => {
  test('before the first part is answered by a status', async () => {
    for (const path of ['/other', '//', '/constructor'])
      expect(await post(path, new Uint8Array())).toMatchObject({ status: 404 });
    const ragged = await post('/affine', new Uint8Array(7));
    expect([ragged.status, String(ragged.body)]).toEqual([
      400,
      expect.stringContaining('no whole number of f32'),
    ]);
    expect((await post('/affine?c=1', new Uint8Array(8))).status).toBe(400);
    const taken = filled();
    expect((await post('/affine', bytesOf(numbers(100_000)))).status).toBe(503);
    for (const array of taken) array.free();
    expect((await post('/affine', bytesOf(numbers(100_000)))).status).toBe(200);
  });

  test('later cuts the connection', async () => {
    const request = begun('/wild');
    request.on('error', () => {});
    request.write(bytesOf(numbers(20_000)));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    request.end(bytesOf(numbers(20_000)));
    await expect(buffer(response)).rejects.toThrow('aborted');
  });
});

test.runIf(isFirst)('a client that does not read holds its own job back and nobody else', async () => {
  const piece = bytesOf(numbers(1 << 16));
  const pieces = 96;
  const request = begun('/affine?a=3');
  let sent = 0;
  const sending = (async () => {
    for (; sent < pieces; sent++) if (!request.write(piece)) await once(request, 'drain');
    request.end();
  })();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  // A clock of its own: others' requests, until nothing more of this one was taken meanwhile.
  for (let before = -1; before !== sent; ) {
    before = sent;
    for (let turn = 0; turn < 4; turn++)
      expect((await post('/affine', piece)).body.length).toBe(piece.length);
  }
  expect(sent).toBeLessThan(90);
  const all = await buffer(response);
  await sending;
  expect(all.length).toBe(pieces * piece.length);
  expect(all.subarray(-piece.length).equals(bytesOf(numbers(1 << 16).map((x) => 3 * x)))).toBe(true);
});

test.runIf(isFirst)('a client that goes ends its job', async () => {
  const request = begun('/affine');
  request.on('error', () => {});
  request.write(bytesOf(numbers(50_000)));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  await once(response, 'data');
  expect(device.memory.allocations).toBeGreaterThan(0);
  request.destroy();
});

test.runIf(atLength)(
  '200 clients: no error, each served, memory flat',
  async () => {
    const { result, fewest, before, after, text } = await underLoad(200, 16);
    console.log(text);
    const { errors, timeouts, non2xx, mismatches } = result;
    expect({ errors, timeouts, non2xx, mismatches }).toEqual({
      errors: 0,
      timeouts: 0,
      non2xx: 0,
      mismatches: 0,
    });
    expect(fewest).toBe(16);
    expect(after.used - before.used).toBeLessThan(4 << 20);
    expect(after.resident).toBeLessThan(1.2 * before.resident);
  },
  300_000,
);

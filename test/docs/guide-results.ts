// What the blocks of the guides do when they are run: code behind each, whose `shown` is what a reader would see, and what
// that must be. They run in a folder with the files that make-guide-files.ts makes.

/** Code behind a block, by the name of its module. */
export const shown: Readonly<Record<string, string>> = {
  'gpu-1.ts': 'export const shown = residentBlocks > 0 && limitedBy !== undefined;',
  'porting-1.ts': `
    import { check as checkIt } from 'warpstage/check';
    export const shown = checkIt(axpy, {
      grid: 2,
      block: 32,
      arguments: { y: new Float32Array(50).fill(1), x: new Float32Array(50).fill(2), a: 3 },
    }).verdict;`,
  'jobs-1.ts': `
    import { readFileSync as read } from 'node:fs';
    export const shown = [...new Float32Array(new Uint8Array(read('y.npy').subarray(-12)).buffer)];`,
  'jobs-2.ts': `
    import { run as runIt } from 'warpstage';
    const ran = await runIt(mixed, { input: ['a.npy', 'b.npy'], settings: { gain: 2 } });
    export const shown = [(await runIt(mean, { input: 'bytes.raw' })).value, ...ran.outputs.y!];`,
  'jobs-3.ts': `
    import { run as runIt } from 'warpstage';
    const blurred = await runIt(blur, { input: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9), settings: { width: 3 } });
    export const shown = [...blurred.outputs.y!].map((value) => Math.round(9 * value));`,
  'jobs-4.ts': 'export const shown = value;',
  'jobs-5.ts': 'export const shown = totals;',
  'jobs-6.ts': `
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const answer = await fetch(\`http://127.0.0.1:\${port}\`, { method: 'POST', body: new Float32Array([1, 2, 3]) });
    export const shown = [...new Float32Array(await answer.arrayBuffer())];
    server.close();
    await cpu.close();`,
  'jobs-7.ts': 'export const shown = [...report.devices.map(({ name }) => name), report.rows];',
  'formats-1.ts': `
    import { map as mapIt, run as runIt } from 'warpstage';
    const same = mapIt({ y: 'f32', x: 'f32' }, ({ x }) => x);
    await runIt(same, { input: Float32Array.of(1, 2, 3), output: 'out.vec' });
    export const shown = [...(await runIt(same, { input: 'out.vec' })).outputs.y!];`,
  'formats-2.ts': `
    import { map as mapIt, run as runIt } from 'warpstage';
    const added = mapIt({ y: 'i32', a: 'i32', b: 'i32' }, ({ a, b }) => a + b);
    export const shown = [...(await runIt(added, { input: 'two.strips' })).outputs.y!];`,
  'checker-1.ts':
    'export const shown = [verdict, ...findings.map(({ severity }) => severity), typeof report()];',
  'checker-2.ts': `
    import { check as checkIt } from 'warpstage/check';
    export const shown = checks.map((one) => checkIt(one.kernel, one.launch as never, one.options).verdict);`,
  'timelines-1.ts': `
    import { readFileSync as read } from 'node:fs';
    export const shown = read('timeline.html', 'utf8').includes('my schedule');`,
  'timelines-2.ts': `
    import { withStaging as staged } from '../../examples/guide/staging.ts';
    const arrays = { globalOut: device.alloc('i32', 256), globalIn: device.alloc('i32', 256) };
    device.defaultStream.launch(staged, { grid: 2, block: 32 }, { ...arrays, batchCount: 4 });
    await device.synchronize();
    export const shown = spans.some(({ stages }) => stages !== undefined && stages.spans.length > 0);`,
  'timelines-3.ts': 'export const shown = [spans.length > 0, page.includes("stages of block 0")];',
  'models-1.ts': 'export const shown = device.properties.name;',
  'models-2.ts': `
    import { kernel as kernelOf } from 'warpstage';
    const idle = kernelOf({ y: 'f32[]' }, () => {});
    const times: number[] = [];
    device.recorder = ({ started, ended }) => times.push(ended - started);
    device.defaultStream.launch(idle, { grid: 1, block: 32 }, { y: device.alloc('f32', 1) });
    await device.synchronize();
    export const shown = times.map((time) => Math.round(time * 100) / 100);`,
};

/** What is shown, by module. Those of GPUs, and of pages, are not here: see guides-run.test.ts. */
export const results: Readonly<Record<string, unknown>> = {
  'porting-1.ts': 'clean',
  'jobs-1.ts': [6, 8, 10],
  'jobs-2.ts': [2, 22, 44, 66],
  'jobs-3.ts': [21, 27, 33, 39, 45, 51, 57, 63, 69],
  'jobs-4.ts': { mean: 3 },
  'jobs-5.ts': [6, 14, 10],
  'jobs-6.ts': [3, 6, 9],
  'jobs-7.ts': ['cpu', 'model', 5],
  'gpu-1.ts': true,
  'formats-1.ts': [1, 2, 3],
  'formats-2.ts': [11, 22, 33, 44, 55],
  'checker-1.ts': ['clean', 'advice', 'string'],
  'checker-2.ts': ['clean', 'clean'],
  'timelines-1.ts': true,
  'timelines-2.ts': true,
  'timelines-3.ts': [true, true],
  'models-1.ts': 'Tesla C2050',
  'models-2.ts': [0.35],
};

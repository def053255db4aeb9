// A whole process: a GPU is opened, saxpy compiled and launched, its result fetched and checked.
// Prints when each step was done, in milliseconds since the process began.

const marks = { node: performance.now() };
const mark = (name) => {
  marks[name] = performance.now();
};

const { kernel, open } = await import('warpstage');
mark('import');
const saxpy = kernel(
  { y: 'f32[]', x: 'readonly f32[]', a: 'f32' },
  ({ y, x, a }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i] = a * x[i] + y[i];
  },
  { name: 'saxpy' },
);
const count = 1 << 20;
const x = new Float32Array(count);
for (let i = 0; i < count; ++i) x[i] = i % 1000;
const y = new Float32Array(count).fill(1);
mark('data');
{
  const device = await open('cuda');
  mark('open');
  const [dx, dy] = [device.alloc('f32', count), device.alloc('f32', count)];
  mark('alloc');
  const stream = device.createStream();
  stream.memcpyAsync(dx, x);
  stream.memcpyAsync(dy, y);
  mark('copy in');
  stream.launch(saxpy, { grid: count / 256, block: 256 }, { y: dy, x: dx, a: 2 });
  mark('launch');
  stream.memcpyAsync(y, dy);
  mark('copy out');
  await stream.synchronize();
  mark('synchronise');
  for (let i = 0; i < count; ++i) if (y[i] !== 2 * (i % 1000) + 1) throw new Error('the results differ');
  mark('check');
  await device.close();
  mark('close');
}
console.log(JSON.stringify(marks));

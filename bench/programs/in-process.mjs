// node in-process.mjs INPUT OUTPUT: y = 2 * x + 1 by `run`, in one process; prints the seconds of the run.
import { map, run } from '../../dist/index.js';

const [input, output] = process.argv.slice(2);
const affine = map({ y: 'f32', x: 'f32', a: 'constant f32', b: 'constant f32' }, ({ x, a, b }) => a * x + b);
const began = performance.now();
await run(affine, { input, output, settings: { a: 2, b: 1 } });
console.log((performance.now() - began) / 1000);

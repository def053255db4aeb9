// Runs under a limit of memory, one after the other, in a process of their own: what else a process has counts.
// Prints what came of them. Takes the input's path.

import { run, type WarpstageError } from 'warpstage';
import { affine } from '../overlap/jobs.ts';

const [, , input] = process.argv;
const options = { input: input!, output: '/dev/null', depth: 2 };
const messageOf = (error: WarpstageError) => error.message;
const MiB = 2 ** 20;

async function main(): Promise<void> {
  const refused = await run(affine, { ...options, maxMemory: '50MiB' }).catch(
    (error: WarpstageError) => error.hint!,
  );
  const [, enough] = /allow at least ([\d,]+) MiB/.exec(refused as string)!;
  const least = Number(enough!.replace(',', '')) * MiB;
  // A process keeps some of what its first runs needed.
  const maxMemory = least + 96 * MiB;
  const chunks: number[] = [];
  for (let i = 0; i < 6; i++) chunks.push((await run(affine, { ...options, maxMemory })).report.chunkBytes);
  const tight = { ...options, maxMemory: least + 16 * MiB, chunk: '16MiB' };
  const tooMuch = await run(affine, tight).then(() => '', messageOf);
  const roomy = await run(affine, { ...options, maxMemory: '1TiB', chunk: '16MiB' });
  console.log(JSON.stringify({ chunks, tooMuch, rows: roomy.report.rows }));
}
main();

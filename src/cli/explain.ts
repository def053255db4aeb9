// `warpstage emit --explain`: how a kernel will run on each target, and why that way.

import type { Specialised } from '../compiler/specialise.ts';
import type { Range } from '../diagnostics/source.ts';
import { locationOf } from '../diagnostics/source.ts';

/** A few lines for people. `architecture` is the compute capability times ten. */
export async function explain({ program, sources }: Specialised, architecture: number): Promise<string> {
  const { explainWasm } = await import('../targets/wasm/compile.ts');
  const { chooseLowerings } = await import('../targets/legalise/lowering.ts');
  const { onlyCopiesMeet } = await import('../targets/legalise/only-copies.ts');
  const { blockUniformPipelines } = await import('../targets/legalise/synchronisation.ts');
  const placeOf = (range: Range) => {
    const location = locationOf(sources, range);
    return location === undefined ? '' : ` (line ${location.line}, column ${location.column})`;
  };
  const { mode, vectorised, obstacle, done } = explainWasm(program);
  const ways = {
    regions: `regions: all threads of a block run from one meeting to the next${vectorised ? ', several in a vector' : ''}`,
    states: 'states: each thread stops and goes on by itself',
  };
  const why = obstacle === null ? '' : `, since ${obstacle.reason}${placeOf(obstacle.range)}`;
  const alignments = program.parameters.map(() => 16);
  const options = { architecture, alignments, blockUniform: blockUniformPipelines(program) };
  const choices = chooseLowerings(program, options);
  const isTold = choices.some(({ lowering }) => lowering === 'bulk' || lowering === 'barriers');
  const spared = onlyCopiesMeet(program, alignments)
    ? 'copies are all that threads have to be ordered by: some barriers and arrivals are left out'
    : 'threads may meet elsewhere than in copied stages: every barrier and arrival stays';
  return [
    `kernel ${program.name}, blocks of ${program.block.join(' x ')} threads`,
    `WebAssembly: ${ways[mode]}${why}`,
    ...done.map((line) => `  ${line}`),
    `CUDA, sm_${architecture}:`,
    ...choices.map(({ lowering, why: reason }, id) => {
      return `  pipeline ${program.pipelines[id]!.name}: ${lowering}, since ${reason}`;
    }),
    ...(choices.length === 0 ? ['  no pipelines'] : []),
    ...(isTold ? [`  ${spared}`] : []),
    '',
  ].join('\n');
}

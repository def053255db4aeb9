// The checker: what one schedule of the guide's unified kernel costs under all its observers, and how
// that compares with the interpreter alone, which nobody observes.

import type { Kernel } from 'warpstage';
import { check } from 'warpstage/check';
import { withStagingScopeThread } from '../../examples/guide/staging-scope-thread.ts';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';
import type { Suite } from '../main.ts';
import { inTurn } from '../measure.ts';
import { interpreted } from './interpreted.ts';

const block = 256;
const batchCount = 64;
const stagesCount = 4;
const elements = block * batchCount;

const kernels = { unified: withStagingUnified, 'thread scope': withStagingScopeThread } as const;

function work(name: keyof typeof kernels) {
  return async () => {
    const kernel = kernels[name];
    const launch = () => ({
      grid: 1,
      block,
      arguments: {
        globalOut: new Int32Array(elements),
        globalIn: Int32Array.from({ length: elements }, (_, i) => i),
        batchCount,
        stagesCount,
      },
    });
    const remembered = { bytes: 0 };
    const once = (delivery: 'eager' | 'late' | 'random') => () => {
      const { verdict, memory } = check(kernel, launch(), { delivery, schedules: 1 });
      if (verdict !== 'clean') throw new Error(`${name} is not clean: ${verdict}`);
      remembered.bytes = Math.max(remembered.bytes, memory);
    };
    const rows = await inTurn(
      {
        suite: 'checker',
        work: `${name}, ${block} threads, ${stagesCount} stages, ${batchCount} batches`,
        bytes: 0,
      },
      {
        'checked, eager': once('eager'),
        'checked, late': once('late'),
        'checked, random': once('random'),
        'interpreter alone': () => interpreted(kernel as Kernel, launch()),
      },
      5,
    );
    return rows.map((row) => ({ ...row, bytes: remembered.bytes }));
  };
}

export const suite: Suite = { unified: work('unified'), 'thread scope': work('thread scope') };

// Where a program that its block runs says that the kernel stops.

import type { CoreCall, CoreOperation } from '../../compiler/ir-core.ts';
import { barrierFaults, barrierMisuseOf, barrierName } from '../barrier-misuse.ts';
import { differentCounts, misuseOf, oneSided } from '../pipeline-misuse.ts';
import { deadlockAtStage, deadlockOfAll, waitsAtBarrier } from '../waiting.ts';
import { arrayOf, compileExpression, compileIndex } from './expressions.ts';
import { barrierMisuse, KernelFault, pipelineMisuse } from './fault.ts';
import type { ObservedProgram } from './observer.ts';
import { effect, type Step } from './step.ts';

type Stop = Extract<
  CoreOperation,
  {
    kind:
      | 'stuckAtStage'
      | 'stuckAtBarrier'
      | 'countsDiffer'
      | 'oneSided'
      | 'pipelineMisused'
      | 'barrierMisused';
  }
>;

export function compileStop(program: ObservedProgram, stop: Stop, { range }: CoreCall): Step {
  const { pipelines, barriers } = program;
  switch (stop.kind) {
    case 'stuckAtStage': {
      const stage = compileExpression(program, stop.stage);
      const what = { pipeline: pipelines[stop.pipeline]!, verb: stop.verb, range };
      return effect((thread) => {
        const { index, threads } = thread.block;
        throw new KernelFault(deadlockAtStage(index, threads.length, what, stage(thread) as number));
      });
    }
    case 'stuckAtBarrier': {
      const declaration = barriers[stop.barrier]!;
      const [at, phase] = [compileExpression(program, stop.at), compileExpression(program, stop.phase)];
      return effect((thread) => {
        const { index, threads } = thread.block;
        const name = barrierName(declaration, at(thread) as number);
        const awaited = phase(thread) as number;
        throw new KernelFault(
          deadlockOfAll(index, threads.length, { group: declaration.group, range }, (progress) =>
            waitsAtBarrier(name, awaited, progress),
          ),
        );
      });
    }
    case 'countsDiffer': {
      const [elements, index] = [arrayOf(stop.array), compileIndex(program, stop.index)];
      const threads = compileExpression(program, stop.threads);
      const { name } = pipelines[stop.pipeline]!;
      return effect((thread) => {
        const notes = elements(thread).bits as BigInt64Array;
        const first = index(thread);
        const given = [...notes.subarray(first, first + Number(threads(thread)))].filter(Boolean);
        const counts = given.map((note) => Number(BigInt.asIntN(64, note ^ (1n << 63n))));
        throw pipelineMisuse(thread, range, differentCounts(name, counts));
      });
    }
    case 'oneSided': {
      const [producers, threads] = [stop.producers, stop.threads].map((each) =>
        compileExpression(program, each),
      );
      const { name } = pipelines[stop.pipeline]!;
      return effect((thread) => {
        throw pipelineMisuse(
          thread,
          range,
          oneSided(name, Number(producers!(thread)), Number(threads!(thread))),
        );
      });
    }
    case 'pipelineMisused': {
      const state = compileExpression(program, stop.state);
      const { name } = pipelines[stop.pipeline]!;
      return effect((thread) => {
        throw pipelineMisuse(thread, range, misuseOf(state(thread) as number, stop.verb, name));
      });
    }
    case 'barrierMisused': {
      const declaration = barriers[stop.barrier]!;
      const [at, first, second] = [stop.at, stop.first, stop.second].map((each) =>
        compileExpression(program, each),
      );
      return effect((thread) => {
        const [index, a, b] = [at, first, second].map((evaluate) => Number(evaluate!(thread)));
        const fault = barrierFaults[stop.fault];
        throw barrierMisuse(thread, range, barrierMisuseOf(declaration, fault, index!, a!, b!));
      });
    }
    default:
      return stop satisfies never;
  }
}

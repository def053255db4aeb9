// What the checker finds in a kernel of the corpus, with the lines of the file.

import { specialise } from '#warpstage/compiler/specialise.js';
import { locationOf } from '#warpstage/diagnostics/source.js';
import { parseSchema } from '#warpstage/kernel/parameters.js';
import type { DeviceFunction } from '#warpstage/kernel/schema.js';
import type { Finding } from '#warpstage/targets/checker/finding.js';
import { combineObservers } from '#warpstage/targets/checker/observers.js';
import { protocolRules } from '#warpstage/targets/checker/protocol/protocol.js';
import {
  createInterpreterRunner,
  type Delivery,
  interpreterExecutable,
} from '#warpstage/targets/interpreter/runner.js';
import { extent3, type HostArray, runProgram } from '../support/run-program.ts';
import { launchOf, type Misuse } from './misuse.ts';

export interface Found {
  readonly code: string;
  readonly message: string;
  readonly line: number;
  readonly other: readonly number[];
}

export function findingsOf(misuse: Misuse, mended: boolean, delivery: Delivery, advice = false): Found[] {
  const { kernel } = misuse;
  const launch = launchOf(misuse, mended);
  const constants: Record<string, number | boolean> = {};
  const functions: Record<string, DeviceFunction> = {};
  const data: Record<string, HostArray | number> = {};
  for (const { kind, name } of parseSchema(kernel.schema)) {
    const value = launch.arguments[name];
    if (value === undefined) continue;
    if (kind === 'constant') constants[name] = value as never;
    else if (kind === 'function') functions[name] = value as never;
    else data[name] = value as never;
  }
  const block = extent3(launch.block);
  const { program, sources } = specialise(kernel, { block, indexType: 'i32', constants, functions });
  const found = new Map<string, Found>();
  const report = ({ code, message, place, related }: Finding) => {
    const { line } = locationOf(sources, place.range);
    const other = related.map(({ range }) => locationOf(sources, range).line);
    const key = `${code} ${line}`;
    if (!found.has(key)) found.set(key, { code, message, line, other });
  };
  const observer = combineObservers(protocolRules({ report }, { advice }));
  const { fault } = runProgram(
    {
      name: 'checker',
      compile: (compiled) => interpreterExecutable(compiled, delivery),
      createRunner: (executable, context) =>
        createInterpreterRunner(executable as never, context, { observer }),
    },
    program,
    { grid: launch.grid, arguments: data },
  );
  const told = [...found.values()];
  if (fault !== null && fault.kind !== 'deadlock') {
    const code = fault.kind === 'misuse' ? fault.code : fault.kind === 'out-of-range' ? 'WS3001' : 'WS3003';
    const { line } = locationOf(sources, fault.range);
    const message = 'message' in fault ? fault.message : '';
    if (code !== 'WS3006' || !told.some((one) => one.line === line))
      told.push({ code, message, line, other: [] });
  }
  return told;
}

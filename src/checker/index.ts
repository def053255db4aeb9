// warpstage/check: kernels under the checker.

import '../diagnostics/disposal.ts';

export type { FormatOptions } from '../diagnostics/render.ts';
export type { HostShape } from '../kernel/shaped.ts';
export type { ArrayPart, FindingStage, Severity } from '../targets/checker/finding.ts';
export type { OutputKind } from '../targets/checker/outputs.ts';
export { type CheckCase, checkCase } from './case.ts';
export { type CheckResult, check, type Verdict } from './check.ts';
export { expectClean } from './expect-clean.ts';
export type {
  ArrayOfLength,
  ArrayOfShape,
  CheckArgument,
  CheckArguments,
  CheckedShapeOf,
  CheckLaunch,
} from './launch.ts';
export type { CheckOptions } from './options.ts';
export type { CheckedPlace, CheckFinding } from './report.ts';
export { type StageTraceOptions, traceStages } from './trace-stages.ts';

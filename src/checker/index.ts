// warpstage/check: kernels under the checker.

export { type CheckCase, checkCase } from './case.ts';
export { type CheckResult, check, type Verdict } from './check.ts';
export { expectClean } from './expect-clean.ts';
export type { ArrayOfLength, CheckArguments, CheckLaunch } from './launch.ts';
export type { CheckOptions } from './options.ts';
export type { CheckedPlace, CheckFinding } from './report.ts';
export { type StageTraceOptions, traceStages } from './trace-stages.ts';

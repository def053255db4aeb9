// The files that describe virtual devices.
//
// A file has the fields of EngineModel. It may start from a preset (`"like": "h200"`) and then
// needs only what differs. Every field is checked, and every wrong one is reported at once. Files of the first version
// say less of kernels: for them only bytes and operations count, as they did then.

import { type Issue, WarpstageError } from '../../diagnostics/error.ts';
import type { EngineModel } from './engines.ts';
import { plainKernels } from './kernel-times.ts';
import { presetNamed, presets } from './presets.ts';

/** Of the files that are written here; those without a version are of the first. */
const version = 2;

/** Checks what a device file says. */
export function parseModel(path: string, text: string): EngineModel {
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch (error) {
    throw new WarpstageError(
      { code: 'WS4003', message: `the device file ${path} is not JSON: ${(error as Error).message}` },
      { cause: error },
    );
  }
  return checkModel(path, fields);
}

type Check = readonly [expected: string, holds: (value: unknown) => boolean];

const isRate = (value: unknown) => typeof value === 'number' && value > 0;
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 1;
const rate: Check = ['a number of bytes a millisecond, above 0', isRate];
const count: Check = ['a whole number from 1 on', isCount];
const truth: Check = ['true or false', (value) => typeof value === 'boolean'];

const time: Check = [
  'a number of milliseconds, 0 or above',
  (value) => typeof value === 'number' && value >= 0,
];

const factor: Check = ['a number from 1 on', (value) => typeof value === 'number' && value >= 1];

const checks: Readonly<Record<keyof EngineModel, Check>> = {
  name: ['a text', (value) => typeof value === 'string' && value !== ''],
  computeCapability: [
    "a text such as '9.0'",
    (value) => typeof value === 'string' && /^\d+\.\d+$/.test(value),
  ],
  copyEngines: count,
  kernelsAtOnce: count,
  hardwareQueues: count,
  copyQueues: count,
  delayedSignal: truth,
  bothWays: factor,
  bothWaysOut: factor,
  besideKernels: factor,
  bothWaysOverhead: time,
  hostToDevice: rate,
  deviceToHost: rate,
  pageableHostToDevice: rate,
  pageableDeviceToHost: rate,
  hostCacheBytes: ['a number of bytes, 0 or above', (value) => typeof value === 'number' && value >= 0],
  hostCacheRate: rate,
  memoryRate: rate,
  operationRate: ['a number of operations a millisecond, above 0, or null for no limit', isRate],
  clockRate: [
    'a number of cycles a millisecond, above 0, or null if chains of operations take no time',
    isRate,
  ],
  memoryLatency: time,
  cacheBytes: ['a number of bytes, 0 or above', (value) => typeof value === 'number' && value >= 0],
  cacheRate: ['a number of bytes a millisecond, above 0, or null for no limit', isRate],
  cacheLatency: time,
  firstCacheBytes: ['a number of bytes, 0 or above', (value) => typeof value === 'number' && value >= 0],
  firstCacheLatency: time,
  blockTime: time,
  blockRate: ['a number of blocks a millisecond, above 0, or null for no limit', isRate],
  copyRate: rate,
  setRate: rate,
  hostToDeviceOverhead: time,
  deviceToHostOverhead: time,
  kernelOverhead: time,
  startTime: time,
  timingTime: time,
  switchTime: time,
  signalTime: time,
  issueTime: time,
  launchTime: time,
  eventTime: time,
  issueAfterWait: factor,
  threadsAtOnce: count,
  multiProcessors: count,
  memory: ['a number of bytes, at least 65536', (value) => isCount(value) && (value as number) >= 65536],
};

/** Fields in which null stands for infinity, which JSON lacks. */
const unlimited: ReadonlySet<string> = new Set<keyof EngineModel>([
  'operationRate',
  'clockRate',
  'cacheRate',
  'blockRate',
]);

/** What was not said in the first version, where it is not that of another field. */
const firstVersion: Partial<EngineModel> = {
  besideKernels: 1,
  hostCacheBytes: 0,
  hostCacheRate: 1,
  ...plainKernels,
};

/** Checks what a device file says. */
export function checkModel(path: string, given: unknown): EngineModel {
  const issues: Issue[] = [];
  const wrong = (message: string, hint?: string) =>
    issues.push({ code: 'WS4007', message: `${path}: ${message}`, ...(hint === undefined ? {} : { hint }) });
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new WarpstageError({ code: 'WS4007', message: `${path}: a device file holds one JSON object` });
  }
  const { like, version: written = 1, ...own } = given as Record<string, unknown>;
  if (!isCount(written) || (written as number) > version) {
    wrong(`\`version\` must be a whole number from 1 to ${version}, and is ${shown(written)}`);
  }
  const base = like === undefined ? undefined : presetNamed(like);
  if (like !== undefined && base === undefined) {
    wrong(`\`like\` must be one of ${Object.keys(presets).join(', ')}, and is ${shown(like)}`);
  }
  const fields: Record<string, unknown> = { ...(base ?? firstVersion) };
  for (const [name, value] of Object.entries(own)) {
    if (Object.hasOwn(checks, name)) {
      fields[name] = unlimited.has(name) && value === null ? Number.POSITIVE_INFINITY : value;
    } else wrong(`there is no field \`${name}\``, `the fields are like, ${Object.keys(checks).join(', ')}`);
  }
  if (Object.hasOwn(own, 'bothWays') && !Object.hasOwn(own, 'bothWaysOut'))
    fields.bothWaysOut = fields.bothWays;
  if (base === undefined) {
    fields.copyRate ??= fields.memoryRate;
    fields.setRate ??= fields.memoryRate;
  }
  for (const [name, [expected, holds]] of Object.entries(checks)) {
    if (!Object.hasOwn(fields, name)) {
      wrong(`the field \`${name}\` is missing`, `give ${expected}, or begin with "like": "h200"`);
    } else if (!holds(fields[name])) {
      wrong(`\`${name}\` must be ${expected}, and is ${shown(own[name])}`);
    }
  }
  if (issues.length > 0) throw new WarpstageError(issues);
  return fields as unknown as EngineModel;
}

/** The text of a device file. */
export function modelText(model: EngineModel): string {
  const plain = Object.fromEntries(
    Object.keys(checks).map((name) => {
      const value = model[name as keyof EngineModel];
      return [name, value === Number.POSITIVE_INFINITY ? null : value];
    }),
  );
  return `${JSON.stringify({ version, ...plain }, null, 2)}\n`;
}

/** A value of the file as a message shows it: not a whole page of it. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

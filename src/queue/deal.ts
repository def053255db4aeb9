// What a run says to its workers, and they to it; and under which names this lies on the server.
//
// A run has two streams: `warpstage-ID` has a message for each piece that is to be computed, which goes away when it is
// acknowledged; `warpstage-ID-news` has the deal, what workers say, and the server's own note of a piece that was delivered
// too often. ID is the outputs' place, so that a second run of the same outputs finds, and ends, what a first one left. Each
// pass of a sequence has streams of its own: a worker that still asks for pieces of one gets none of the next.
// What is read here may be anything.

import { createHash } from 'node:crypto';
import { packageVersion } from '../diagnostics/package-version.ts';
import type { Conversion, Dtype } from '../formats/dtype.ts';
import type { SettingValue } from '../overlap/job.ts';
import type { Facts } from '../overlap/journal/text.ts';

/** A file of a deal. */
export interface DealtFile {
  readonly file: string;
  readonly format?: string;
  readonly dtype?: Dtype;
  /** Rows a second, of an output. */
  readonly rate?: number;
}

/** The input of a run: of one name, in the order of the declaration, or by name. */
export type DealtInput = DealtFile | readonly DealtFile[] | Readonly<Record<string, readonly DealtFile[]>>;

/** Which pass of a sequence pieces are of. */
export interface DealtPass {
  /** Counted from 1. */
  readonly number: number;
  readonly of: number;
  /** Settings that the value of the pass before gave. */
  readonly computed: Readonly<Record<string, string>>;
}

/** The work that pieces are of. Paths are absolute. */
export interface Deal {
  /** Of this run alone, whatever it has in common with another. */
  readonly run: string;
  readonly version: string;
  readonly module: string;
  /** Of the module's text. */
  readonly moduleSum: string;
  /** As the module exports it; of a sequence, one of its passes. */
  readonly job: string;
  readonly pass?: DealtPass;
  readonly input: DealtInput;
  /** Of a reduction, what the pieces of its accumulators are named after. */
  readonly outputs: readonly DealtFile[];
  /** Beside what their pieces lie. */
  readonly places: readonly string[];
  /** Of a reduction, what these names begin with. */
  readonly journal?: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly column?: readonly string[];
  readonly nulls?: number;
  readonly convert?: Conversion;
  readonly rows?: number;
  readonly chunk?: number | string;
  readonly depth?: number;
  readonly fsync: boolean;
  /** Pieces in all. */
  readonly of: number;
  /** How often a piece is tried. */
  readonly tries: number;
  /** Milliseconds without a sign of life after which another worker gets a piece. */
  readonly ackWait: number;
  /** What is computed, as each piece says it too. */
  readonly work: Facts;
  /** The versions of URLs that all pieces are of. */
  readonly versions: Facts;
}

/** What a worker says. */
export type News =
  | {
      readonly kind: 'done';
      readonly piece: number;
      readonly worker: string;
      /** Whether it was there already, and is the same. */
      readonly again: boolean;
    }
  | {
      readonly kind: 'failed';
      readonly piece: number;
      readonly worker: string;
      readonly code: string;
      readonly message: string;
      /** Whether it is not tried again. */
      readonly final: boolean;
    }
  | { readonly kind: 'refused'; readonly worker: string; readonly message: string };

/** The one consumer of a run's pieces, which all workers share. */
export const consumer = 'workers';
/** All streams of pieces, whatever run they are of. */
export const allPieces = 'warpstage.*.*.piece.*';
/** The deals of all runs. */
export const allDeals = 'warpstage.*.*.deal';

/** The deals of all runs of the same outputs. */
export const dealsOf = ({ outputs }: QueueNames) => `warpstage.${outputs}.*.deal`;

/**
 * What the streams and subjects of a run are called. No two runs share one: what is said or acknowledged too late, of a run
 * that is over, reaches nobody.
 */
export function namesOf(outputs: string, run: string) {
  return namesOfKey(outputs, shortSum(run));
}

function namesOfKey(outputs: string, key: string) {
  const pieces = `warpstage-${outputs}-${key}`;
  const subject = `warpstage.${outputs}.${key}`;
  return {
    outputs,
    pieces,
    news: `${pieces}-news`,
    piece: (n: number | '*') => `${subject}.piece.${n}`,
    deal: `${subject}.deal`,
    said: `${subject}.said`,
    exhausted: `$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.${pieces}.${consumer}`,
  };
}

export type QueueNames = ReturnType<typeof namesOf>;

/** The names of the run that a stream is of; undefined for another stream. */
export function namesOfStream(stream: string): QueueNames | undefined {
  const [, outputs, key] = /^warpstage-([0-9a-f]{16})-([0-9a-f]{16})(?:-news)?$/.exec(stream) ?? [];
  return outputs === undefined ? undefined : namesOfKey(outputs, key!);
}

/** The piece of a subject. */
export function pieceOfSubject(subject: string): number | undefined {
  const [, n] = /^warpstage\.[0-9a-f]{16}\.[0-9a-f]{16}\.piece\.([1-9]\d{0,5})$/.exec(subject) ?? [];
  return n === undefined ? undefined : Number(n);
}

/** What pieces are of, in words. */
export function workInWords({ job, pass }: Pick<Deal, 'job' | 'pass'>): string {
  return pass === undefined ? job : `${job} (pass ${pass.number} of ${pass.of})`;
}

export function idOfOutputs(places: readonly string[]): string {
  return shortSum(places.join('\0'));
}

function shortSum(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

export function sumOfModule(text: Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}

export function settingsAsText(settings: Readonly<Record<string, SettingValue>>): Record<string, string> {
  const text = (value: SettingValue) => (typeof value === 'bigint' ? `${value}n` : String(value));
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, Object.is(value, -0) ? '-0' : text(value)]),
  );
}

export function settingsOfText(texts: Readonly<Record<string, string>>): Record<string, SettingValue> {
  const value = (text: string) => {
    if (text === 'true' || text === 'false') return text === 'true';
    return /^-?\d+n$/.test(text) ? BigInt(text.slice(0, -1)) : Number(text);
  };
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, value(text)]));
}

/** Whether an input is a list of files; Array.isArray tells nothing of one that may not be changed. */
export function isList(input: DealtInput): input is readonly DealtFile[] {
  return Array.isArray(input);
}

export function isOneFile(input: Exclude<DealtInput, readonly DealtFile[]>): input is DealtFile {
  return typeof input.file === 'string';
}

/** The files of an input. */
export function filesOfInput(input: DealtInput): readonly DealtFile[] {
  if (isList(input)) return input;
  return isOneFile(input) ? [input] : Object.values(input).flat();
}

/** The deal that a message holds; undefined for none that this version understands. */
export function parseDeal(text: string): Deal | undefined {
  const deal = parseObject(text) as Partial<Deal> | undefined;
  if (deal === undefined || deal.version !== packageVersion()) return undefined;
  const isText = (value: unknown): value is string => typeof value === 'string';
  const isTexts = (value: unknown) => isObject(value) && Object.values(value).every(isText);
  const isCount = (value: unknown, most: number) =>
    Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most;
  const isFile = (value: unknown) =>
    isObject(value) && isText(value.file) && (value.rate === undefined || isCount(value.rate, 2 ** 32));
  const areTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
  const isFiles = (value: unknown) => Array.isArray(value) && value.every(isFile);
  const isInput = (value: unknown) =>
    isFile(value) || isFiles(value) || (isObject(value) && Object.values(value).every(isFiles));
  const isPass = (value: unknown) =>
    isObject(value) &&
    isCount(value.of, 1000) &&
    isCount(value.number, value.of as number) &&
    isTexts(value.computed);
  const isWhole =
    isText(deal.run) &&
    isText(deal.module) &&
    isText(deal.moduleSum) &&
    isText(deal.job) &&
    (deal.pass === undefined || isPass(deal.pass)) &&
    (deal.journal === undefined || isText(deal.journal)) &&
    isInput(deal.input) &&
    isFiles(deal.outputs) &&
    areTexts(deal.places) &&
    isTexts(deal.settings) &&
    isTexts(deal.work) &&
    isTexts(deal.versions) &&
    isCount(deal.of, 999_999) &&
    isCount(deal.tries, 1000) &&
    isCount(deal.ackWait, 2 ** 31);
  return isWhole ? (deal as Deal) : undefined;
}

/** What a worker's message says; undefined for anything else. */
export function parseNews(text: string): News | undefined {
  const news = parseObject(text) as (News & { readonly piece?: unknown }) | undefined;
  if (news === undefined || typeof news.worker !== 'string') return undefined;
  if (news.kind === 'refused') return typeof news.message === 'string' ? news : undefined;
  if (!Number.isSafeInteger(news.piece)) return undefined;
  if (news.kind === 'done') return news;
  return news.kind === 'failed' && typeof news.message === 'string' ? news : undefined;
}

/** The place in the stream of pieces that a note of the server is about. */
export function exhaustedPlace(text: string): number | undefined {
  const note = parseObject(text);
  return Number.isSafeInteger(note?.stream_seq) ? (note!.stream_seq as number) : undefined;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

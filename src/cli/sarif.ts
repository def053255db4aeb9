// Findings as SARIF 2.1.0, the format in which GitHub and editors take the results of an analysis.
//
// Paths are relative to the folder that the command ran in, which is taken to be the root of the
// repository; regions count columns in UTF-16 units, as everything here does. A finding keeps its
// fingerprint while its line keeps its text, so that it is not new only because it moved.

import { createHash } from 'node:crypto';
import { relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Log, Notification, ReportingDescriptor, Result, Location as SarifLocation } from 'sarif';
import type { CheckFinding } from '../checker/report.ts';
import type { Code } from '../diagnostics/codes.ts';
import type { Issue, Location } from '../diagnostics/error.ts';
import { linesOf } from '../diagnostics/lines.ts';
import { helpOf } from './error-help.ts';

/** A finding of the checker, or a mistake that the compiler found. */
export type SarifFinding = Issue & Partial<Pick<CheckFinding, 'severity' | 'threads' | 'schedules'>>;

/** What a run of the checker has to tell. */
export interface SarifContent {
  readonly version: string;
  /** Paths are relative to it. */
  readonly folder: string;
  /** The user's module: where findings are put that no file is known of. */
  readonly module: string;
  readonly findings: readonly SarifFinding[];
  /** Why some of it is not known. */
  readonly inconclusive: readonly Issue[];
}

/** The log of one run. */
export function sarifLog({ version, folder, module, findings, inconclusive }: SarifContent): Log {
  const rules = [...new Set([...findings, ...inconclusive].map(({ code }) => code))].sort();
  const locate = (location: Location | undefined) => locationOf(location, folder, module);
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'warpstage', version, rules: rules.map(ruleOf) } },
        columnKind: 'utf16CodeUnits',
        originalUriBaseIds: { [root]: { uri: `${pathToFileURL(folder).href}/` } },
        invocations: [
          {
            executionSuccessful: inconclusive.length === 0,
            toolExecutionNotifications: inconclusive.map(
              (issue): Notification => ({
                level: 'error',
                descriptor: { id: issue.code },
                message: { text: textOf(issue) },
                locations: [locate(issue.location)],
              }),
            ),
          },
        ],
        results: findings.map((finding) => resultOf(finding, rules.indexOf(finding.code), locate)),
      },
    ],
  };
}

const root = 'SRCROOT';

function ruleOf(code: Code): ReportingDescriptor {
  const { title, text, markdown } = helpOf(code);
  return {
    id: code,
    shortDescription: { text: title },
    help: { text, markdown },
    defaultConfiguration: { level: code.startsWith('WS71') ? 'note' : 'error' },
  };
}

function resultOf(
  finding: SarifFinding,
  ruleIndex: number,
  locate: (location: Location | undefined) => SarifLocation,
): Result {
  return {
    ruleId: finding.code,
    ruleIndex,
    level: finding.severity === 'advice' ? 'note' : 'error',
    message: { text: textOf(finding) },
    locations: [locate(finding.location)],
    relatedLocations: (finding.related ?? []).map(({ label, location }, id) => ({
      id,
      ...locate(location),
      message: { text: label },
    })),
    partialFingerprints: { 'warpstage/v1': fingerprintOf(finding) },
    properties: { threads: finding.threads, schedules: finding.schedules },
  };
}

function textOf({ message, hint }: Issue): string {
  return hint === undefined ? message : `${message}. To mend it: ${hint}`;
}

function locationOf(location: Location | undefined, folder: string, module: string): SarifLocation {
  const { file = module, line, column, length } = location ?? { line: 1, column: 1, length: 1 };
  const path = relative(folder, file);
  const inside = path !== '' && !path.startsWith('..') && !/^[A-Za-z]:/.test(path);
  const uri = path.split(sep).map(encodeURIComponent).join('/');
  return {
    physicalLocation: {
      artifactLocation: inside ? { uri, uriBaseId: root } : { uri: pathToFileURL(file).href },
      region: { startLine: line, startColumn: column, endLine: line, endColumn: column + length },
    },
  };
}

function fingerprintOf({ code, message, location }: SarifFinding): string {
  const line = location === undefined ? '' : (linesOf(location.text)[location.line - 1]?.trim() ?? '');
  // Values differ from run to run, what is between them does not.
  const words = message.replaceAll(/\d+/g, '#');
  return createHash('sha256').update([code, words, line].join('\n')).digest('hex').slice(0, 32);
}

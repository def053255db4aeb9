// The text of an error, made of its issues.

import type { Issue } from './error.ts';

/** Renders issues, each with its code frame and hint. */
export function renderIssues(issues: readonly Issue[]): string {
  return issues.map((issue) => `${issue.code}: ${issue.message}`).join('\n');
}

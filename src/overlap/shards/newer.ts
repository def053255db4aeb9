// Whether pieces are of the inputs as they are now: a piece says what was computed, and not of which bytes. Where all machines
// see the same files, the times say that: an input that was changed after a piece is another one than the piece's.

import { stat } from 'node:fs/promises';
import { problem, unreadable } from '../../diagnostics/problem.ts';

/** Throws WS5015 for a piece that is older than the last change of an input, of whatever kind. */
export async function checkNewer(pieces: readonly string[], inputs: readonly string[]): Promise<void> {
  const changed = await Promise.all(
    inputs.map(async (input) => ({ input, at: (await timesOf(input)).ctimeNs })),
  );
  for (const piece of pieces) {
    const { mtimeNs } = await timesOf(piece);
    const other = changed.find(({ at }) => at > mtimeNs);
    if (other === undefined) continue;
    throw problem(
      'WS5015',
      `${piece} is older than the last change of ${other.input}`,
      `if ${other.input} has other numbers now, remove the pieces; else bring them up to date: touch ${piece}`,
    );
  }
}

async function timesOf(path: string) {
  try {
    return await stat(path, { bigint: true });
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

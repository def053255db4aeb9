// Threads of a block in words, by their ranks: what errors and findings call them.

/** `thread 3`, `threads 0 to 4, 7`: runs as ranges, and no more than a few of them. */
export function threadsInWords(ranks: readonly number[]): string {
  const runs: [first: number, last: number][] = [];
  for (const rank of ranks) {
    const run = runs.at(-1);
    if (run !== undefined && rank === run[1] + 1) run[1] = rank;
    else runs.push([rank, rank]);
  }
  const shown = runs
    .slice(0, 4)
    .map(([first, last]) => (first === last ? `${first}` : `${first} to ${last}`));
  const more = runs.length > shown.length ? ` and others, ${ranks.length} in all` : '';
  return ranks.length === 1 ? `thread ${shown[0]}` : `threads ${shown.join(', ')}${more}`;
}

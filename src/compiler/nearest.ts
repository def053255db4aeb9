// "Did you mean": the name nearest to one that does not exist.

/**
 * The candidate that differs least from `name`, if it differs little, but does differ; CUDA's spelling counts as
 * ours. `rank` is near to `threadRank` too, but not `n` to `y`.
 */
export function nearestName(name: string, candidates: readonly string[]): string | null {
  const wanted = plain(name);
  let best: string | null = null;
  let least = Math.floor(wanted.length * 0.4) + 1;
  for (const candidate of candidates) {
    if (candidate === name) continue;
    const distance = editDistance(wanted, plain(candidate), least);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  const isPart = (candidate: string) =>
    candidate !== name && wanted.length > 3 && plain(candidate).endsWith(wanted);
  return best ?? candidates.find(isPart) ?? null;
}

/** The candidate that is `name` but for underscores and case: `__syncthreads` is our `syncthreads`. */
export function sameName(name: string, candidates: readonly string[]): string | undefined {
  return candidates.find((candidate) => plain(candidate) === plain(name));
}

/** `__make_pipeline` and `makePipeline` are alike. */
function plain(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

/** How many letters must be put in, taken out or changed; at least `limit` counts as `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const change = previous[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(change, previous[column]! + 1, current[column - 1]! + 1));
    }
    previous = current;
  }
  return previous[b.length]!;
}

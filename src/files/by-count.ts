// The order in which people count: part 2 before part 10, the same on every machine.

/** Orders paths as people count, folder by folder: numbers in them by their values, other characters by their codes. */
export function byCount(a: string, b: string): number {
  const [one, other] = [a.split(/[/\\]/), b.split(/[/\\]/)];
  for (let i = 0; i < Math.min(one.length, other.length); i++) {
    const order = compareNames(one[i]!, other[i]!);
    if (order !== 0) return order;
  }
  return one.length - other.length || compare(a, b);
}

function compareNames(a: string, b: string): number {
  const [one, other] = [partsOf(a), partsOf(b)];
  for (let i = 0; i < Math.min(one.length, other.length); i++) {
    const [x, y] = [one[i]!, other[i]!];
    // Numbers stand at odd places.
    const order = (i % 2 === 1 ? x.length - y.length : 0) || compare(x, y);
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

/** What is between numbers, and the numbers without their zeros in front. */
function partsOf(name: string): string[] {
  return name.split(/(\d+)/).map((part, i) => (i % 2 === 1 ? part.replace(/^0+(?=\d)/, '') : part));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

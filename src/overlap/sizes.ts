// Sizes as people write them: `8MiB`, `500kB`, `8M`.

const units: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
  ki: 2 ** 10,
  mi: 2 ** 20,
  gi: 2 ** 30,
  ti: 2 ** 40,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

/** A number with its unit; undefined where the text is none. */
export interface Size {
  readonly amount: number;
  readonly hasUnit: boolean;
}

/** Reads a number, with a unit in bytes. */
export function sizeOf(text: string): Size | undefined {
  const [, digits, unit] = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text) ?? [];
  const scale = unit === undefined ? undefined : units[unit.toLowerCase()];
  return scale === undefined ? undefined : { amount: Number(digits) * scale, hasUnit: unit !== '' };
}

// Counts as people read them.

/** A count with its thousands set apart, for example `3,000,000`. */
export function count(value: number): string {
  // The first call of toLocaleString loads the system's languages, which takes longer than all else that a report does.
  return Number.isSafeInteger(value)
    ? String(value).replaceAll(/\B(?=(\d{3})+$)/g, ',')
    : value.toLocaleString('en-US');
}

/** A count of things, for example `1 row` or `3,000 rows`. */
export function counted(value: number, singular: string): string {
  return `${count(value)} ${singular}${value === 1 ? '' : 's'}`;
}

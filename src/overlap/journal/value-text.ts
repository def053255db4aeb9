// Values as text: two of them have one text only if a job cannot tell them apart.
//
// JSON is not enough for that: it writes NaN and both infinities as null and -0 as 0, leaves functions out,
// and makes the same of a typed array and an object with numbered fields. Here each kind of value has a form
// that no other kind has. A field that is undefined counts as absent, as everywhere in a declaration.
// Functions are distinguished by their text; what they capture cannot be seen.

/** The text of a value as a declaration holds it. */
export function valueText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'bigint':
      return `${value}n`;
    case 'function':
      return `function ${JSON.stringify(String(value))}`;
    case 'object':
      return value === null ? 'null' : objectText(value);
    default:
      return String(value);
  }
}

function objectText(value: object): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if (ArrayBuffer.isView(value)) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return `${nameOf(value)} ${bytes.toString('hex')}`;
  }
  if (value instanceof Date) return `Date ${valueText(value.getTime())}`;
  if (value instanceof RegExp) return `RegExp ${value}`;
  if (value instanceof Map || value instanceof Set) return `${nameOf(value)} ${objectText([...value])}`;
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .map(([name, field]) => `${JSON.stringify(name)}: ${valueText(field)}`);
  return `${nameOf(value)} {${fields.join(', ')}}`;
}

/** What kind of object it is; objects without a class are like literals. */
function nameOf(value: object): string {
  return (value.constructor as { readonly name?: string } | undefined)?.name ?? 'Object';
}

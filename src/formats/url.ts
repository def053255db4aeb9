// Files that are named by a URL: of http or https, or `s3://bucket/key`, an object of S3 or of a store that speaks as it does.

/** Whether a name is such a URL. */
export function isUrl(name: string): boolean {
  return /^https?:\/\//i.test(name) || isObject(name);
}

/** Whether a name is that of an object of S3. */
export function isObject(name: string): boolean {
  return /^s3:\/\//i.test(name);
}

/** The path in a URL, whose ending tells the format; any other name as it is, and so is an object's, whose key has no query. */
export function pathInName(name: string): string {
  if (!isUrl(name) || isObject(name)) return name;
  const path = name.replace(/[?#].*$/s, '');
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** What follows the path of a URL, which may be a secret. */
export function queryOf(url: string): string {
  return isObject(url) ? '' : (/\?([^#]*)/.exec(url)?.[1] ?? '');
}

/** A URL as messages have it: without who asks, and without what follows the path, which may be a secret. */
export function shownUrl(url: string): string {
  const text = url.replace(/^((?:https?|s3):\/\/)[^/?#]*@/i, '$1');
  return isObject(text) ? text : text.replace(/#.*$/s, '').replace(/\?.+$/s, '?…');
}

// Files that are named by a URL of http or https.

/** Whether a name is such a URL. */
export function isUrl(name: string): boolean {
  return /^https?:\/\//i.test(name);
}

/** The path in a URL, whose ending tells the format; any other name as it is. */
export function pathInName(name: string): string {
  if (!isUrl(name)) return name;
  const path = name.replace(/[?#].*$/s, '');
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** What follows the path of a URL, which may be a secret. */
export function queryOf(url: string): string {
  return /\?([^#]*)/.exec(url)?.[1] ?? '';
}

/** A URL as messages have it: without who asks, and without what follows the path, which may be a secret. */
export function shownUrl(url: string): string {
  const text = url.replace(/^(https?:\/\/)[^/?#]*@/i, '$1').replace(/#.*$/s, '');
  return text.replace(/\?.+$/s, '?…');
}

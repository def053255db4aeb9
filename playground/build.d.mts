/** The files of the playground, by their names. */
export function buildPlayground(): Promise<Map<string, string>>;

// Made by the build of package.json.
export declare const version: string;

// Made by the build of worker.ts and all that it imports: the script of a web worker.
export declare const text: string;

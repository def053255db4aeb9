// Made by the build of interpreting-worker.ts and all that it imports: the script of a worker thread.
export declare const text: string;

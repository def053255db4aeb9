// Made by the build of thread.ts and all that it imports: the script of the thread of the callbacks.
export declare const text: string;

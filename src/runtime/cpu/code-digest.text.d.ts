// Made by the build: what all code of this package hashes to.
export declare const digest: string;

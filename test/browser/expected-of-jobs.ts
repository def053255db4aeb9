// What the jobs of jobs-in-page.ts give, wherever they run, and what a browser says of those that are about files.

const doubled = { length: 10_000, sum: 9_990_000, last: 1998 };

export const expectedOfJobs = {
  arrays: { length: 10_000, sum: 14_985_000, last: 2997, chunks: 12 },
  given: { length: 10_000, sum: 14_985_000, last: 2996 },
  converted: [Math.fround(0.2), 2, 4],
  pinned: doubled,
  streamed: { ...doubled, ends: ['closed'], bytesOut: 40_000 },
  parts: [...Array<number>(11).fill(900), 100],
  left: [true, false, false, false],
  response: doubled,
  generated: doubled,
  mapped: { length: 10_000, sum: -8000, last: -1 },
  reduced: 4_995_000,
  followed: { length: 10_000, sum: 24_975_000, last: 4995 },
  virtual: { ...doubled, copies: [12, 12, 12, 12, 12] },
  interrupted: 'WS5009: the job was stopped before its end; nothing of its output is left',
  unfinished: ['Error: the job was stopped before its end'],
  cancelled: true,
  ragged:
    "WS5003: the stream given for 'x' has 7 bytes, which is no whole number of f32 elements (4 bytes each)",
  untyped:
    "WS5005: the array given for 'x' holds f64, and parameter 'x' of the kernel is f32[]: values would be rounded",
};

const noFiles = 'and a browser opens no files by their paths';
const noOption = (name: string) =>
  `WS4007: run has no option '${name}' in a browser, where it reads and writes no files`;

export const refusals: readonly string[] = [
  `WS5005: input 'x' is to be read from x.npy, ${noFiles}`,
  `WS5005: input 'x' is to be read from x.npy, ${noFiles}`,
  `WS5006: output 'y' is to be written to y.npy, ${noFiles}`,
  `WS5006: output 'y' is to be written to y.npy, ${noFiles}`,
  ...['resume', 'shard', 'checksum', 'fsync', 'overwrite', 'maxMemory'].map(noOption),
  "WS4003: there is no device 'cuda' in a browser",
];

// The catalogue of error codes: every error that warpstage raises has one.
//
// The first digit says whose words were wrong: 1 the kernel's text, 2 a launch, 3 a running
// kernel, 4 memory, streams and devices, 5 a job and its data, 6 the command line. What the checker
// finds begins with 7, its advice with 71.
// A code never changes its meaning; messages may.

/** What each error code stands for, in a few words; the message of an error adds the values. */
export const codes = {
  // 1xxx: the kernel's text
  WS1001: 'syntax that a kernel cannot be parsed from',
  WS1002: 'a name captured from outside the kernel',
  WS1003: 'an intrinsic or member that does not exist',
  WS1004: 'values whose types do not go together',
  WS1005: 'a division of two integers',
  WS1006: 'a construct that kernels do not support',
  WS1007: 'recursion',
  WS1008: 'a shared array whose size is not the same for all threads and known at launch',
  WS1009: 'a call with wrong arguments',
  WS1010: 'an invalid schema',
  WS1011: 'source text rewritten by a coverage tool',
  WS1012: 'an assignment to something that cannot change',
  WS1013: 'a value that must be known when the kernel is compiled',
  WS1014: 'generated CUDA code that its compiler rejects',
  WS1015: 'a kernel that warpstage itself fails to compile',
  // 2xxx: a launch
  WS2001: 'a launch argument that is missing, unknown or of the wrong kind',
  WS2002: 'an array of another element type than the kernel declares',
  WS2003: 'a grid or block that is empty or too large',
  WS2004: 'more shared memory than a block may have',
  WS2005: 'an argument of another device',
  WS2006: 'a launch that must be cooperative, or cannot be',
  // 3xxx: a running kernel
  WS3001: 'an access outside its array',
  WS3002: 'a deadlock',
  WS3003: 'an integer division by zero',
  WS3004: 'a kernel that was cancelled',
  WS3005: 'an asynchronous copy with invalid operands',
  WS3006: 'a wrong use of a pipeline',
  WS3007: 'a budget of steps or memory that ran out',
  WS3008: 'a pipeline whose other threads are gone',
  WS3009: 'a wrong use of a barrier',
  WS3010: "a wrong use of a warp's lanes",
  WS3011: 'a lowered program that breaks a rule of the hardware',
  // 4xxx: memory, streams and devices
  WS4001: 'out of memory',
  WS4002: 'use after free',
  WS4003: 'an unknown or unavailable device',
  WS4004: 'a copy whose operands do not fit each other',
  WS4005: 'an event that was not recorded',
  WS4006: 'a device that was closed or lost',
  WS4007: 'an invalid argument',
  WS4008: 'a host function that threw',
  WS4009: 'a wrong use of a stream that is being captured',
  WS4010: 'a copy that reads a result before it is there',
  // 5xxx: a job and its data
  WS5001: 'a module without a job',
  WS5002: 'a module that could not be loaded',
  WS5003: 'an input that cannot be read',
  WS5004: 'an input in a format or layout that is not supported',
  WS5005: 'an input whose data does not fit the job',
  WS5006: 'an output that cannot be written',
  WS5007: 'an invalid job',
  WS5008: 'a setting that the job does not have or that is out of range',
  WS5009: 'a job that was interrupted',
  WS5010: 'a run that cannot be resumed',
  WS5011: 'an output that another run is writing',
  WS5012: 'an output in a format that is not written',
  WS5013: 'an unfinished output that this run cannot go on with',
  // 6xxx: the command line
  WS6001: 'wrong usage of the command line',
  // 7xxx: what the checker finds
  WS7001: 'a data race between threads',
  WS7002: 'an access that races with an asynchronous copy in flight',
  WS7003: 'a read of memory that was never written',
  WS7004: 'an output element that was never written',
  WS7005: 'an output element that was written twice',
  WS7006: 'an overflow of index arithmetic',
  WS7007: 'a use of a pipeline after quit',
  WS7008: 'a verb of the other role',
  WS7009: 'a group whose threads do not act together',
  WS7010: 'a commit without acquire',
  WS7011: 'a release without wait',
  WS7012: 'a copy that is never committed',
  WS7013: 'a copy that is still on its way at the end',
  WS7014: 'a quit while other threads go on',
  WS7015: 'a shared state that is still owned',
  WS7016: 'several threads that make the same copy',
  WS7017: 'a timed wait of no duration',
  WS7018: 'too many commits outstanding',
  WS7019: 'a wrong use of a barrier',
  // 71xx: advice, about what is right, but slower than it need be or undefined in CUDA's own words
  WS7101: 'a copy that is too narrow to be asynchronous',
  WS7102: 'a copy that overlaps with nothing',
  WS7103: 'lanes of one warp that part at a pipeline',
  WS7104: 'a shared pipeline in which all threads take part',
  WS7105: 'threads that synchronise at different places',
  WS7106: 'an exchange without all the lanes that it names',
} as const;

/** An error code of the catalogue, for example `'WS1002'`. */
export type Code = keyof typeof codes;

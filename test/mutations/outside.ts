// Mutations of what people see and what lies on their disks: `timeline`, `cli`, `files`, `diagnostics`.

import { mutationsOf } from './mutation.ts';

export const mutations = [
  ...mutationsOf(
    'src/timeline/overlap.ts',
    ['test/timeline/report.test.ts', 'test/timeline/chrome-trace.test.ts', 'test/timeline/overlap.test.ts'],
    [
      {
        name: 'spans that overlap on an engine count twice',
        from: 'busy += Math.max(0, span.ended - Math.max(span.started, until));',
        to: 'busy += span.ended - span.started;',
        why: 'an engine is busy for more than the whole time',
      },
      {
        name: 'the end of an engine is that of its last span to start',
        from: 'until = Math.max(until, span.ended);',
        to: 'until = span.ended;',
        why: 'a long span that holds a short one counts in part twice',
      },
      {
        name: 'threads that wait count as work',
        from: '    if (isWaiting(engine.name)) continue;\n',
        to: '',
        why: 'a kernel that waits for its copies seems to be bound by waiting',
      },
      {
        name: 'what was hidden counts the longest stage too',
        from: 'const hideable = serial - longest;',
        to: 'const hideable = serial;',
        why: 'a perfect overlap of two equal stages seems half as good',
      },
      {
        name: 'the least busy engine bounds',
        from: 'if (bound === null || engine.busy > bound.busy) bound = engine;',
        to: 'if (bound === null || engine.busy < bound.busy) bound = engine;',
        why: 'the verdict names the wrong stage',
      },
      {
        name: 'the stages of several devices are the less busy of them',
        from: 'busy: Math.max(busy, engine.busy),',
        to: 'busy: Math.min(busy, engine.busy),',
        why: 'a run on two GPUs seems idle',
        tests: [
          'test/timeline/report.test.ts',
          'test/overlap/several-devices.test.ts',
          'test/timeline/overlap.test.ts',
        ],
      },
    ],
  ),
  ...mutationsOf(
    'src/timeline/verdict.ts',
    ['test/timeline/overlap.test.ts', 'test/timeline/report.test.ts'],
    [
      {
        name: 'every busiest stage bounds',
        from: 'bound === null || nearness < bindsFrom',
        to: 'bound === null',
        why: 'a stage that worked 2 % of the time is said to bound the run',
      },
      {
        name: 'what could not be hidden is reported as hidden',
        from: 'others < worthHiding * wall || achieved === 0',
        to: 'achieved === 0',
        why: 'a run with one stage is praised for its overlap',
      },
    ],
  ),
  ...mutationsOf(
    'src/timeline/what-if.ts',
    ['test/timeline/what-if.test.ts'],
    [
      {
        name: 'the critical path goes by the first of its causes',
        from: 'best === undefined || spans[position]!.ended > spans[best]!.ended ? position : best',
        to: 'best === undefined || spans[position]!.ended < spans[best]!.ended ? position : best',
        why: 'the path names operations that could have been later',
      },
      {
        name: 'every engine is faster',
        from: '(span.engine === engine ? factor : 1)',
        to: 'factor',
        why: 'each what-if promises the same',
      },
      {
        name: 'gaps before an operation vanish when another is faster',
        from: 'readyNow + span.started - ready;',
        to: 'readyNow;',
        why: 'a what-if promises time that the host needs',
      },
    ],
  ),
  ...mutationsOf(
    'src/cli/exit-codes.ts',
    ['test/cli/failures.test.ts', 'test/cli/usage.test.ts', 'test/cli/shell.test.ts'],
    [
      {
        name: 'an unknown name is an error of the kernel',
        from: '  WS6001: 2,\n',
        to: '',
        why: 'a script cannot tell a wrong option from a failed job',
      },
      {
        name: 'an unreadable input is an error of the kernel',
        from: '  WS5003: 3,\n',
        to: '',
        why: 'a script cannot tell a damaged file from a failed job',
      },
      {
        name: 'a full device is an error of the kernel',
        from: '  WS4001: 75,\n',
        to: '',
        why: 'a batch system does not try again what may pass',
      },
      {
        name: 'an error without a code of its own is success',
        from: 'return ofErrors[code] ?? 1;',
        to: 'return ofErrors[code] ?? 0;',
        why: 'a failed job exits with 0',
      },
    ],
  ),
  ...mutationsOf(
    'src/cli/values.ts',
    ['test/cli/values.test.ts', 'test/cli/usage.test.ts'],
    [
      {
        name: 'a count may be zero',
        from: 'count >= 1 && Number.isSafeInteger(count)',
        to: 'count >= 0 && Number.isSafeInteger(count)',
        why: '--threads 0 is taken',
      },
      {
        name: 'a seed has 33 bits',
        from: 'seed < 2 ** 32',
        to: 'seed < 2 ** 33',
        why: 'two seeds give one order of random numbers',
      },
      {
        name: 'blocks of more than 1024 threads are taken',
        from: '|| x * y * z > 1024',
        to: '|| x * y * z > 4096',
        why: 'the device refuses what the option took',
      },
      {
        name: 'a setting beyond all numbers is infinite',
        from: 'if (Math.abs(number) === Infinity && !/^[-+]?Infinity$/.test(text)) {',
        to: 'if (Math.abs(number) > Infinity) {',
        why: '--set a=1e99 becomes infinite in silence',
      },
    ],
  ),
  ...mutationsOf(
    'src/cli/write-whole.ts',
    ['test/cli/trace.test.ts', 'test/cli/overwriting.test.ts', 'test/cli/write-whole.test.ts'],
    [
      {
        name: 'a written file loses the rights it had',
        from: 'about === undefined ? 0o666 : Number(about.mode) & 0o777',
        to: '0o666',
        why: 'a private trace is readable by everybody after it was written again',
      },
      {
        name: 'a file that failed is left beside its place',
        from: 'await rm(partial, { force: true });\n      throw error;',
        to: 'throw error;',
        why: 'each failed run leaves a file',
      },
      {
        name: 'what a killed process has written of a file stays',
        from: 'await removeLeftovers(dirname(place));',
        to: '',
        why: 'each killed run leaves a file beside its trace, for ever',
      },
      {
        name: 'a device is replaced by a file',
        from: 'return about !== undefined && !about.isFile();',
        to: 'return false;',
        why: '--trace /dev/null replaces the device, where the user may',
      },
    ],
  ),
  ...mutationsOf(
    'src/files/own-file.ts',
    ['test/overlap/strangers.test.ts', 'test/overlap/resume.test.ts', 'test/files/own-file.test.ts'],
    [
      {
        name: 'a partial output of another name is gone on with',
        from: "if (about.nlink > 1) return 'it is a file of another name as well';\n",
        to: '',
        why: 'a run writes into another file of the user, which somebody linked there',
      },
      {
        name: 'links are followed to partial outputs',
        from: '(constants.O_NOFOLLOW ?? 0) | ',
        to: '',
        why: 'a run writes into the file that a link of another user names',
      },
      {
        name: 'a partial output that others may write to is gone on with',
        from: '(about.mode & writable & ~allowed) === 0 ? undefined',
        to: '(about.mode & 0o002 & ~allowed) === 0 ? undefined',
        why: 'users of the group change results unseen',
      },
    ],
  ),
  ...mutationsOf(
    'src/files/own-folder.ts',
    ['test/files/own-folder.test.ts'],
    [
      {
        name: 'folders that the group may write to are closed',
        from: 'const writableByOthers = 0o022;',
        to: 'const writableByOthers = 0o002;',
        why: 'another user of the group puts code there that is run later',
      },
      {
        name: 'a sticky folder of anybody leads on',
        from: '(belongsTo(about, [0]) && (about.mode & sticky) !== 0)',
        to: '(about.mode & sticky) !== 0',
        why: 'the owner of such a folder replaces what is in it',
      },
      {
        name: 'links of anybody are followed',
        from: 'if (!belongsTo(about, [0]) || ++links > mostLinks) return null;',
        to: 'if (++links > mostLinks) return null;',
        why: 'another user leads the cache to a folder of theirs',
      },
      {
        name: 'links are followed without end',
        from: '++links > mostLinks',
        to: '++links > 2 ** 30',
        why: 'a link to itself stops the command for ever',
      },
    ],
  ),
  ...mutationsOf(
    'src/files/overwriting.ts',
    ['test/overlap/overwriting.test.ts', 'test/cli/overwriting.test.ts'],
    [
      {
        name: 'an output may be an input',
        from: "if (input !== undefined) return { path, other: input, kind: 'read' };",
        to: '',
        why: 'a run overwrites what it still reads',
      },
      {
        name: 'two outputs may be one file',
        from: "if (before !== undefined) return { path, other: before, kind: 'written' };",
        to: '',
        why: 'of two outputs one is lost',
      },
      {
        name: 'what is written may lie in a folder that is read',
        from: "if (input !== undefined) return { path, other: input, kind: 'read', lies: 'within' };",
        to: '',
        why: 'a trace takes the place of a chunk of the input',
      },
      {
        name: 'an input may lie in a folder that an output takes the place of',
        from: "if (path !== undefined) return { path, other, kind: 'read', lies: 'around' };",
        to: '',
        why: 'a run removes its input when it has ended',
      },
    ],
  ),
  ...mutationsOf(
    'src/cli/names-beside.ts',
    ['test/cli/overwriting.test.ts'],
    [
      {
        name: 'a trace may be called as a piece of an output',
        from: '...endings.flatMap((ending) => places.map((place) => place + ending)),',
        to: '',
        why: 'it takes the place of what another run has computed',
      },
      {
        name: 'a log may be called as the journal of a pass',
        from: 'unfinishedFiles(waiting, true, passes)',
        to: 'unfinishedFiles(waiting, true)',
        why: 'what a run is to go on with is written over',
      },
      {
        name: 'a log may be called as a part of a file that waits',
        from: 'part: places[i] === path ? undefined : names[i]',
        to: 'part: undefined',
        why: 'what a run is to go on with is written over',
      },
    ],
  ),
  ...mutationsOf(
    'src/files/stamps.ts',
    ['test/overlap/changed-inputs.test.ts'],
    [
      {
        name: 'files that are replaced while they are read stay the same',
        from: 'if (change === undefined) continue;',
        to: 'if (change !== undefined || change === undefined) continue;',
        why: 'an output mixes two states of its input, and exit status 0',
      },
      {
        name: 'a time of writing that is set back hides what was written',
        from: 'now.changed !== before.changed && now.outside === before.outside',
        to: 'now.changed < before.changed',
        why: 'an output mixes two states of its input, and exit status 0',
      },
    ],
  ),
  ...mutationsOf(
    'src/diagnostics/lines.ts',
    ['test/diagnostics/source.test.ts', 'test/diagnostics/render.test.ts'],
    [
      {
        name: 'columns count from 0',
        from: 'return { line, column: offset - start + 1 };',
        to: 'return { line, column: offset - start };',
        why: 'each place in a message is one column off',
      },
      {
        name: 'a carriage return ends no line',
        from: '/\\r\\n|[\\n\\r\\u2028\\u2029]/g',
        to: '/\\r\\n|[\\n\\u2028\\u2029]/g',
        why: 'lines of old files are counted otherwise than by V8',
        tests: [
          'test/diagnostics/source.test.ts',
          'test/diagnostics/render.test.ts',
          'test/diagnostics/lines.test.ts',
        ],
      },
    ],
  ),
  ...mutationsOf(
    'src/diagnostics/frame.ts',
    ['test/diagnostics/render.test.ts'],
    [
      {
        name: 'wide characters count as one column',
        from: 'width += wide.test(segment) ? 2 : 1;',
        to: 'width += 1;',
        why: 'carets stand beside what they mean',
      },
      {
        name: 'control characters reach the terminal',
        from: ".replace(/[\\p{Cc}\\p{Cs}\\p{Bidi_Control}]/gu, '\\ufffd')",
        to: '',
        why: 'a kernel’s text moves the cursor, or shows another text than it is',
      },
    ],
  ),
  ...mutationsOf(
    'src/diagnostics/sourcemap.ts',
    ['test/diagnostics/original.test.ts'],
    [
      {
        name: 'the first line of a script begins at its first column',
        from: '(line === script.startLine ? script.startColumn : 0)',
        to: '0 * line',
        why: 'places in kernels on the first line of a wrapped script are off',
      },
      {
        name: 'what lies between two entries of a map is its entry',
        from: 'text.startsWith(between, originalStart) ? between.length : 0',
        to: '0',
        why: 'carets stand at the beginning of the expression before',
      },
    ],
  ),
  ...mutationsOf(
    'src/cli/run-checks.ts',
    ['test/overlap/file-lists.test.ts'],
    [
      {
        name: 'the last file of a pattern may be the output',
        from: 'if (behindEachOther > 1) await refuseLastOfInputs(behindEachOther, outputs);',
        to: '',
        why: 'where the output is forgotten, the last input is written over',
      },
    ],
  ),
];

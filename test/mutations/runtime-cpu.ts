// Mutations of `runtime/cpu`: the command table, the worker pool, the engines' loop and the dispatcher.

import { mutationsOf } from './mutation.ts';

const streams = ['test/runtime/streams.test.ts', 'test/runtime/failures.test.ts'];
const steps = [
  'test/runtime/command-table.test.ts',
  'test/runtime/worker-pool.test.ts',
  'test/runtime/engine-loop.test.ts',
];
const withDelays = [
  ...steps,
  ...streams,
  'delayed:test/runtime/any-failures.test.ts',
  'delayed:test/runtime/streams.test.ts',
];

export const mutations = [
  ...mutationsOf(
    'src/runtime/cpu/command-table.ts',
    [...steps, ...streams],
    [
      {
        name: 'tickets never advance',
        from: 'const use = ((Atomics.load(this.#words, word) >>> useShift) + 1) & useMask;',
        to: 'const use = (Atomics.load(this.#words, word) >>> useShift) & useMask;',
        why: 'an order that was left in a queue is taken for the next command of its slot',
      },
      {
        name: 'a ticket of a former use reads as the present one',
        from: 'word >>> useShift === Math.floor(ticket / slotCount) ? word & stateMask : State.failed',
        to: 'word & stateMask',
        why: 'a command that was cancelled is taken for the one that has its slot now',
      },
      {
        name: 'an opened slot keeps its watchers',
        from: 'Atomics.store(this.#words, word, (use << useShift) | State.pending);',
        to: 'Atomics.store(this.#words, word, (use << useShift) | (Atomics.load(this.#words, word) & flagMask & ~stateMask) | State.pending);',
        why: 'engines are woken by commands that they do not wait for',
        equivalent: 'a wake-up too many is looked into and slept through: no result depends on it',
      },
      {
        name: 'a change that another thread forestalled is not tried again',
        from: 'if (Atomics.compareExchange(this.#words, word, old, next) !== old) continue;',
        to: 'if (Atomics.compareExchange(this.#words, word, old, next) !== old) return false;',
        why: 'a command that completes while its watcher arrives stays running for ever',
        tests: withDelays,
      },
      {
        name: 'a change of state forgets the watchers',
        from: 'const next = (old & ~stateMask) | to;',
        to: 'const next = (old & ~(stateMask | flagMask)) | to;',
        why: 'an engine sleeps though what it waits for is complete',
      },
      {
        name: 'a completion wakes no engine',
        from: 'if (watchers & (firstEngineBit << engine)) this.signal(engine);',
        to: '',
        why: 'a stream that goes from one engine to another stands still',
      },
      {
        name: 'an engine sleeps without the count it has seen',
        from: 'Atomics.wait(this.#words, engine, seen);',
        to: 'Atomics.wait(this.#words, engine, Atomics.load(this.#words, engine));',
        why: 'a signal that comes between the look and the sleep is lost, and the engine sleeps for ever',
        tests: withDelays,
      },
      {
        name: 'the main thread reads its signal after it has looked',
        from: 'const seen = Atomics.load(this.#words, mainSignalWord);\n    if (!isComplete(this.watchFromMain(ticket))) Atomics.wait(this.#words, mainSignalWord, seen, timeout);',
        to: 'if (!isComplete(this.watchFromMain(ticket)))\n      Atomics.wait(this.#words, mainSignalWord, Atomics.load(this.#words, mainSignalWord), timeout);',
        why: 'a completion between the two is slept through, for up to 20 seconds',
        tests: withDelays,
      },
      {
        name: 'the times of a command are those of its neighbour',
        from: 'return this.#times[2 * slotOf(ticket) + 1]!;',
        to: 'return this.#times[2 * slotOf(ticket)]!;',
        why: 'every span of the timeline has no length',
      },
    ],
  ),
  ...mutationsOf(
    'src/runtime/cpu/web/mail.ts',
    ['test/runtime/mail.test.ts'],
    [
      {
        name: 'what does not fit into the ring is lost',
        from: 'sent += part;',
        to: 'sent = bytes.length;',
        why: 'a long line, and all reports behind it, cannot be read',
      },
      {
        name: 'a report goes beyond the end of the ring',
        from: 'Math.min(free, bytes.length - sent, capacity - at)',
        to: 'Math.min(free, bytes.length - sent)',
        why: 'a thread fails wherever a report ends the ring',
      },
      {
        name: 'what lies at the end of the ring is taken twice',
        from: 'Atomics.store(this.#words, Word.read, (read + part) | 0);',
        to: 'Atomics.store(this.#words, Word.read, (read + part - 1) | 0);',
        why: 'bytes come again, and no report behind them can be read',
      },
      {
        name: 'the bell is rung for every report',
        from: 'if (Atomics.exchange(this.#words, Word.rung, 1) === 0) this.#ringBell();',
        to: 'this.#ringBell();',
        why: 'a kernel that prints sends a message for each line',
      },
      {
        name: 'a negative zero is zero',
        from: '!Number.isFinite(value) || Object.is(value, -0)',
        to: '!Number.isFinite(value)',
        why: 'an error shows another value than the kernel had',
      },
      {
        name: 'orders are not counted',
        from: 'Atomics.add(this.#words, Word.posted, 1);',
        to: '',
        why: 'a thread sleeps before an order that is on its way',
      },
    ],
  ),
  ...mutationsOf('src/runtime/cpu/worker-pool.ts', withDelays, [
    {
      name: 'a launch is closed without a look at who is inside',
      from: 'if (gate === closed) break;',
      to: 'break;',
      why: 'the next launch overwrites what a helper still reads',
    },
    {
      name: 'a closed launch lets helpers in',
      from: 'if (gate & closed) return false;',
      to: '',
      why: 'a helper that wakes up late works on a launch that is over',
    },
    {
      name: 'two threads may take the same blocks',
      from: 'if (Atomics.compareExchange(words, Word.next, first, first + share) === first) {',
      to: 'if (Atomics.exchange(words, Word.next, first + share) >= 0) {',
      why: 'blocks run twice, or not at all',
    },
    {
      name: 'the last one to leave wakes nobody',
      from: 'if (Atomics.sub(this.#words, Word.gate, 1) - 1 === closed) Atomics.notify(this.#words, Word.gate);',
      to: 'Atomics.sub(this.#words, Word.gate, 1);',
      why: 'the lead sleeps for ever where a helper works longest',
    },
    {
      name: 'blocks that wait for each other are shared out',
      from: 'this.#members === 1 || words[Word.together] !== 0;',
      to: 'this.#members === 1;',
      why: 'the blocks of a cooperative launch run in ranges of which none is the whole grid',
      tests: [
        'test/runtime/worker-pool.test.ts',
        'test/runtime/cooperative.test.ts',
        'test/warps/grid.test.ts',
      ],
    },
    {
      name: 'a halted launch goes on',
      from: 'if (left <= 0 || Atomics.load(words, Word.halted) !== 0) return null;',
      to: 'if (left <= 0) return null;',
      why: 'a kernel that failed runs all its blocks, and each reports its fault',
    },
    {
      name: 'the next launch begins as halted as the last',
      from: '    words[Word.halted] = 0;\n',
      to: '',
      why: 'after one fault no launch runs to its end',
    },
    {
      name: 'all members share one arena',
      from: '(this.#words[Word.arena]! >>> 0) + member * stride',
      to: '(this.#words[Word.arena]! >>> 0)',
      why: 'the shared memory of two blocks is one',
      tests: [
        'test/runtime/worker-pool.test.ts',
        'test/runtime/kernels.test.ts',
        'test/runtime/lifetime.test.ts',
      ],
    },
    {
      name: 'a helper sleeps though it was called',
      from: 'Atomics.wait(this.#words, Word.calls, seen);',
      to: 'Atomics.wait(this.#words, Word.calls, Atomics.load(this.#words, Word.calls));',
      why: 'a call between the look and the sleep is lost: the launch runs with one thread fewer',
    },
  ]),
  ...mutationsOf(
    'src/runtime/cpu/computing.ts',
    ['test/runtime/kernels.test.ts', 'test/runtime/lifetime.test.ts'],
    [
      {
        name: 'a fault halts nothing',
        from: 'if (fault === null) continue;\n    pool.halt();\n',
        to: 'if (fault === null) continue;\n',
        why: 'the launch counts as done although it failed',
        tests: ['test/runtime/failures.test.ts'],
      },
      {
        name: 'a helper does not look again once it is inside',
        from: 'if (isStill) work(',
        to: 'work(',
        why: 'the blocks of a launch are run by the executable of the one before',
        tests: ['test/runtime/worker-pool.test.ts'],
      },
      {
        name: 'a helper works without the executable of the stages',
        from: 'if (!this.#executables.has(id) || (stages !== null && !this.#executables.has(stages))) return null;',
        to: 'if (!this.#executables.has(id)) return null;',
        why: 'a helper that has not heard of an executable yet fails the launch',
        equivalent:
          'a runner of an executable that is not there cannot be made, which is caught: the helper stays out all the same',
        tests: ['test/runtime/stages.test.ts', 'delayed:test/runtime/streams.test.ts'],
      },
    ],
  ),
  ...mutationsOf(
    'src/runtime/cpu/engine-loop.ts',
    [...steps, ...streams],
    [
      {
        name: 'an engine looks at its signals after its queue',
        from: '    const seen = table.signals(engine);\n',
        to: '    let seen = 0;\n',
        why: 'it never sleeps: a thread spins for as long as the device is open',
        equivalent: 'what it costs is time alone; no result depends on it',
      },
    ],
  ),
  ...mutationsOf(
    'src/runtime/cpu/engine-queue.ts',
    [...steps, ...streams],
    [
      {
        name: 'commands of one priority come in the reverse order',
        from: 'queue[at - 1]!.priority > order.priority',
        to: 'queue[at - 1]!.priority >= order.priority',
        why: 'of two streams, the one that came last is always served first',
        tests: [...steps, ...streams],
      },
      {
        name: 'what depends on a failed command runs',
        from: "else if (state !== State.done) return 'never';",
        to: '',
        why: 'a copy out writes the results of a kernel that failed',
      },
      {
        name: 'an engine takes what waits',
        from: "if (!isComplete(state)) readiness = 'later';",
        to: "if (!isComplete(state)) readiness = 'now';",
        why: 'a kernel reads its input before it was copied',
      },
      {
        name: 'a command that was skipped is not reported',
        from: 'if (!cancelled) table.advance(order.ticket, State.pending, State.skipped, notifyMain);',
        to: '',
        why: 'a synchronisation waits for ever for what will never run',
      },
      {
        name: 'an engine runs what was cancelled',
        from: 'if (!table.advance(next.ticket, State.pending, State.running, notifyMain)) return true;',
        to: 'table.advance(next.ticket, State.pending, State.running, notifyMain);',
        why: 'a cancelled launch writes its arrays all the same',
        tests: withDelays,
      },
    ],
  ),
  ...mutationsOf(
    'src/runtime/cpu/dispatcher.ts',
    [...streams, 'test/runtime/any-failures.test.ts'],
    [
      {
        name: 'a slot is free while a command waits for it',
        from: 'if (flight.dependents === 0) this.#freeSlots.push(slotOf(ticket));',
        to: 'this.#freeSlots.push(slotOf(ticket));',
        why: 'what depends on a command sees the state of the next one in its slot',
        tests: [...streams, 'test/runtime/late-reports.test.ts', 'delayed:test/runtime/streams.test.ts'],
      },
      {
        name: 'slots of commands that others waited for are lost',
        from: '        this.#freeSlots.push(slotOf(dependency.ticket));\n',
        to: '        void dependency;\n',
        why: 'after a thousand commands the main thread waits for ever',
        tests: ['test/runtime/every-device.test.ts'],
      },
      {
        name: 'a failed dependency does not fail a command before it is sent',
        from: 'const failure = failedOf(command.dependencies)?.failure ?? aborted(work);',
        to: 'const failure = aborted(work);',
        why: 'a command that depends on a failure runs',
        equivalent:
          'the queue settles a command that depends on a failure, and gives the dispatcher none such',
      },
      {
        name: 'a signal that was aborted before the launch cancels nothing',
        from: 'const failure = failedOf(command.dependencies)?.failure ?? aborted(work);\n    if',
        to: 'const failure = failedOf(command.dependencies)?.failure ?? null;\n    if',
        why: 'a launch runs although it was cancelled before it began',
      },
      {
        name: 'after a cancelled command its engine drops the rest',
        from: '        this.#engines.post(engine, flight.order!);\n      }\n    }',
        to: '      }\n    }',
        why: 'other streams wait for ever after one launch was cancelled',
      },
      {
        name: 'the faults of a launch are not heard before it is settled',
        from: "if (work.kind === 'launch' || state === State.failed) this.#engines.drain();",
        to: '',
        why: 'a fault is reported as an unknown reason',
      },
    ],
  ),
  ...mutationsOf(
    'src/runtime/cpu/host-commands.ts',
    ['test/runtime/host-functions.test.ts', 'test/runtime/foreign-events.test.ts'],
    [
      {
        name: 'host functions run before what they wait for',
        from: 'if (before.length === 0) call();',
        to: 'call();',
        why: 'a host function reads what is not copied yet, and is called twice',
      },
      {
        name: 'a wait for another device is over without its failure',
        from: 'flight.thrown = failureOfWait(command, work);',
        to: 'flight.thrown = null;',
        why: 'what comes behind an event of a device that failed is carried out',
      },
    ],
  ),
  ...mutationsOf('src/runtime/cancellations.ts', streams, [
    {
      name: 'one abort is a failure for each launch',
      from: '      failures.set(work.name, failure);\n',
      to: '',
      why: 'a stream of cancelled launches is reported a thousand times',
    },
    {
      name: 'cancelled launches are stopped before what waits is dropped',
      from: '[...(cancellations ?? [])].reverse()',
      to: '[...(cancellations ?? [])]',
      why: 'a launch that is to be cancelled begins when the one before it is stopped',
      tests: ['test/runtime/cancellations.test.ts'],
    },
  ]),
  ...mutationsOf(
    'src/runtime/cpu/flight.ts',
    ['test/runtime/host-functions.test.ts', 'test/runtime/foreign-events.test.ts'],
    [
      {
        name: 'a function that has been called holds up what is behind it',
        from: 'if (settled || clear.has(command)) continue;',
        to: 'if (clear.has(command)) continue;',
        why: 'a copy is refused though nothing holds it up',
      },
      {
        name: 'a function far in front of a command is not seen',
        from: 'for (const dependency of dependencies) seen.add(dependency);',
        to: '',
        why: 'the thread that would call a function waits for what is behind it, for ever',
      },
      {
        name: 'a function holds nothing up',
        from: '} else if (assignment === null) return true;',
        to: '}',
        why: 'the thread that would call a function waits for what is behind it, for ever',
      },
      {
        name: 'what another device waits for is not looked at',
        from: 'if (dispatcher.isBehindFunction?.(commands, clear)) return true;',
        to: '',
        why: 'a thread waits for a function that another device is behind, for ever',
      },
      {
        name: 'what is known to be clear is looked at again',
        from: 'for (const { command } of seen) clear.add(command);',
        to: '',
        why: 'a question costs more and more',
        equivalent: 'it costs time alone: each command is looked at again',
      },
    ],
  ),
];

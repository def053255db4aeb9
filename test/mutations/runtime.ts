// Mutations of `runtime`: the order of streams, what a device remembers, memory, and the model of a GPU.

import { mutationsOf } from './mutation.ts';

const order = ['test/runtime/order.test.ts', 'test/runtime/streams.test.ts'];
const failing = [
  'test/runtime/order.test.ts',
  'test/runtime/failures.test.ts',
  'test/runtime/any-failures.test.ts',
];
const simulation = [
  'test/model/simulation.test.ts',
  'test/model/any-schedule.test.ts',
  'test/model/device.test.ts',
];

export const mutations = [
  ...mutationsOf('src/runtime/queue.ts', order, [
    {
      name: 'a wait for an event replaces what the stream waits for',
      from: 'stream.frontier = outstanding(this.#before(stream), points);',
      to: 'stream.frontier = outstanding(points.length > 0 ? nothing : this.#before(stream), points);',
      why: 'what was issued to the stream before the wait is not waited for',
    },
    {
      name: 'non-blocking streams wait for the default stream',
      from: '    if (stream.blocking) {\n      others',
      to: '    if (stream !== this.defaultStream) {\n      others',
      why: 'a stream that was made to go its own way stands still',
    },
    {
      name: 'the default stream waits for streams that do not block',
      from: '(other) => (other.blocking ? other.frontier : [])',
      to: '(other) => other.frontier',
      why: 'the default stream waits for what it should not know of',
    },
    {
      name: 'failed commands are as good as done',
      from: "return commands.length === 0 || commands[0]!.status === 'done' ? nothing : commands;",
      to: "return commands.length === 0 || commands[0]!.status !== 'queued' ? nothing : commands;",
      why: 'what depends on two commands runs though one of them failed',
      tests: failing,
    },
    {
      name: 'the end of a graph is its last command alone',
      from: 'const ends = commands.filter((_, position) => !awaited.has(position));',
      to: 'const ends = commands.slice(-1);',
      why: 'a synchronisation returns while a branch of the graph still runs',
      tests: ['test/runtime/graphs.test.ts', ...order],
    },
    {
      name: 'a graph does not wait for its stream',
      from: 'const waits = dependencies.length === 0 ? before :',
      to: 'const waits = dependencies.length === 0 ? nothing :',
      why: 'a graph reads what the stream has not copied yet',
      tests: ['test/runtime/graphs.test.ts', ...order],
    },
    {
      name: 'a synchronisation waits for the first command only',
      from: 'if (--left === 0) resolve();',
      to: 'resolve();',
      why: 'a synchronisation returns while commands of other streams run',
      tests: failing,
      equivalent: 'the loop around it looks again, and waits for those that are left',
    },
  ]),
  ...mutationsOf('src/runtime/failures.ts', failing, [
    {
      name: 'what a cancelled command left is not waited for',
      from: 'for (const command of all) for (const left of command.left) all.add(left);',
      to: '',
      why: 'destroy returns in a millisecond while a copy goes on for a second, and an array reads 0',
    },
    {
      name: 'closing throws what was thrown',
      from: '!this.#thrown.has(failure) && !known.has(failure),',
      to: '!known.has(failure),',
      why: 'one failure is thrown twice',
    },
    {
      name: 'closing throws what a synchronisation is about to throw',
      from: '!this.#thrown.has(failure) && !known.has(failure),',
      to: '!this.#thrown.has(failure),',
      why: 'one failure is thrown by close and by the call that waits for it',
    },
    {
      name: 'closing throws nothing',
      from: 'if (error !== null) throw error;',
      to: '',
      why: 'a failed launch vanishes where nothing synchronises',
    },
    {
      name: 'several failures are the first of them',
      from: 'failures.flatMap(({ issues }) => issues)',
      to: 'failures[0]!.issues',
      why: 'of two failed streams one is never heard of',
    },
  ]),
  ...mutationsOf(
    'src/runtime/extents.ts',
    ['test/kernel/flat-grid.test.ts'],
    [
      {
        name: 'a grid of planes counts as one of a row',
        from: 'return height === 1 && depth === 1;',
        to: 'return height === 1;',
        why: 'every plane does the work of the first',
      },
    ],
  ),
  ...mutationsOf(
    'src/runtime/bind.ts',
    ['test/kernel/flat-grid.test.ts'],
    [
      {
        name: 'code for a grid of one row serves any grid',
        from: "      ...(flatGrid ? ['flat'] : []),\n",
        to: '',
        why: 'a launch of several rows takes the code of a former one of one row',
      },
    ],
  ),
  ...mutationsOf(
    'src/runtime/recent-launches.ts',
    ['test/runtime/remembered-launches.test.ts'],
    [
      {
        name: 'a remembered launch keeps its signal',
        from: 'if (work.signal !== (configuration.signal ?? null)) return null;',
        to: '',
        why: 'a launch is cancelled by the signal of the one before',
      },
      {
        name: 'a remembered launch has any offset of its arrays',
        from: '    a.offset === b.offset &&\n',
        to: '',
        why: 'a launch writes to another part of the array',
      },
      {
        name: 'a remembered launch has any length of its arrays',
        from: '    a.length === b.length &&\n',
        to: '',
        why: 'a fault beyond the end of a part is not found',
      },
      {
        name: 'a remembered launch has any grid',
        from: '!sameExtent(recent.grid, configuration.grid) || !sameExtent(recent.block, configuration.block)',
        to: '!sameExtent(recent.block, configuration.block)',
        why: 'a launch runs too many blocks, or too few',
      },
      {
        name: 'a remembered launch has an extent of any axes',
        from: 'a.every((size, axis) => size === b[axis])',
        to: 'a[0] === b[0]',
        why: 'a grid of 4 by 2 runs as the 4 by 8 before it',
      },
      {
        name: 'a remembered launch uses memory that was freed',
        from: 'for (const allocation of allocations) if (allocation.freed) return null;\n',
        to: '',
        why: 'a kernel writes to memory that belongs to another array by now',
      },
      {
        name: 'a wide index goes with the code of a narrow one',
        from: "return type !== 'index' || isWide(value as number) === isWide(former as number);",
        to: 'return true;',
        why: 'an index of 2^31 wraps to a negative one',
      },
      {
        name: 'a scalar that sizes shared memory varies',
        from: 'const varies = !isSized && plainTypes.includes(type);',
        to: 'const varies = plainTypes.includes(type);',
        why: 'a block has the shared memory of the launch before',
      },
      {
        name: 'a remembered launch has any pitch',
        from: '    a.pitch === b.pitch &&\n',
        to: '',
        why: 'a launch writes rows to where those of the launch before lay',
        tests: ['test/runtime/shaped-parameters.test.ts'],
      },
      {
        name: 'a remembered launch has any shape',
        from: '    sameExtent(a.shape, b.shape)\n',
        to: '    a.shape.length === b.shape.length\n',
        why: 'a launch takes the rows and columns of the launch before',
        tests: ['test/runtime/shaped-parameters.test.ts'],
      },
      {
        name: 'minus zero is zero for a remembered launch',
        from: 'if (Object.is(now, part.value)) continue;',
        to: 'if (now === part.value) continue;',
        why: '1 / -0 gives the result of 1 / 0',
      },
    ],
  ),
  ...mutationsOf(
    'src/runtime/allocator.ts',
    ['test/runtime/allocator.test.ts'],
    [
      {
        name: 'memory is taken from the largest stretch',
        from: 'size < this.#free[best]!.bytes',
        to: 'size > this.#free[best]!.bytes',
        why: 'large stretches are broken up by small arrays',
      },
      {
        name: 'freed memory is not joined with what lies behind it',
        from: 'const joinsAfter = after !== undefined && address + bytes === after.address;',
        to: 'const joinsAfter = false as boolean && after !== undefined;',
        why: 'memory falls to pieces until no large array fits',
      },
      {
        name: 'arrays of an odd length share their last bytes',
        from: 'const rounded = Math.max(alignment, Math.ceil(bytes / alignment) * alignment);',
        to: 'const rounded = Math.max(alignment, Math.floor(bytes / alignment) * alignment);',
        why: 'two arrays overlap in up to 63 bytes',
      },
      {
        name: 'freed memory counts as taken',
        from: '    this.#allocated -= bytes;\n',
        to: '',
        why: 'the statistics of memory grow for ever',
      },
    ],
  ),
  ...mutationsOf(
    'src/runtime/box.ts',
    ['test/runtime/copies.test.ts'],
    [
      {
        name: 'a box with gaps between planes is flat',
        from: '(box.depth === 1 || layout.plane === box.width * box.height)',
        to: 'true',
        why: 'a copy of a volume runs through what lies between its planes',
      },
      {
        name: 'a copy within one buffer is not safe for overlap',
        from: 'if (within) destination.copyWithin(target, begin, begin + width);',
        to: 'if (within) for (let i = 0; i < width; ++i) destination[target + i] = destination[begin + i]!;',
        why: 'a copy to a place further on repeats its beginning',
      },
      {
        name: 'rows of a box begin where planes do',
        from: 'const target = to.offset + z * to.plane + y * to.row;',
        to: 'const target = to.offset + z * to.row + y * to.plane;',
        why: 'a copy of several rows overwrites one',
      },
      {
        name: 'a long fill ends early',
        from: 'for (let at = seedEnd; at < end; at += seedBytes) {',
        to: 'for (let at = seedEnd; at + seedBytes <= end; at += seedBytes) {',
        why: 'the last 16 KiB of a memset keep what they had',
      },
    ],
  ),
  ...mutationsOf('src/runtime/event.ts', order, [
    {
      name: 'an event stands for the streams of its last wait',
      from: 'return this.#recorded?.points ?? nothing;',
      to: 'return nothing;',
      why: 'a wait for an event waits for nothing',
    },
  ]),
  ...mutationsOf('src/runtime/model/sharing.ts', simulation, [
    {
      name: 'a kernel that fits beside others waits for them',
      from: 'Math.min(load.blockShare, load.share) - 1e-9;',
      to: 'Math.min(load.blockShare, load.share) + 1e-9;',
      why: 'two kernels of half a GPU each run one after the other',
    },
  ]),
  ...mutationsOf('src/runtime/model/simulation.ts', simulation, [
    {
      name: 'copies both ways do not slow each other',
      from: 'entry.rate = 1 / (beside * (this.#otherWayRuns(entry.operation) ? slower : 1));',
      to: 'entry.rate = 1 / beside / (slower > 0 ? 1 : slower);',
      why: 'the model promises an overlap that no bus has',
    },
    {
      name: 'what is left of an operation is never taken off',
      from: 'entry.left -= (this.now - this.#settled) * entry.rate;',
      to: 'entry.left -= (this.now - this.#settled) * this.#running[0]!.rate;',
      why: 'operations that began at another rate end at the wrong time',
    },
    {
      name: 'any number of kernels runs at once',
      from: 'there.length < this.model.kernelsAtOnce && hasPlace(',
      to: 'hasPlace(',
      why: 'the model runs 200 small kernels at once, where the hardware takes 128',
    },
    {
      name: 'signals take no time',
      from: "return before.signalled + (before.engine === 'none' ? 0 : this.model.signalTime);",
      to: 'return before.signalled;',
      why: 'streams that go from engine to engine are predicted too fast',
    },
    {
      name: 'an engine waits for its own signal',
      from: 'if (before.engine === engine) return before.ended;\n',
      to: '',
      why: 'commands that follow each other on an engine are predicted too slow',
    },
    {
      name: 'a signal that is delayed is delayed by its own stream too',
      from: 'behind.operation.stream !== entry.operation.stream && behind.ended',
      to: 'behind.ended',
      why: 'a C1060 seems to overlap nothing at all',
    },
    {
      name: 'a late clock stands still',
      from: 'const due = new Set(this.#running.filter((entry) => this.#endOf(entry) <= time));',
      to: 'const due = new Set<Entry>();',
      why: 'after some hours of the model’s time a step is smaller than a tick, and nothing ends any more',
      equivalent:
        'what is left of the operation that ends next is less than two roundings of the time, and a tick is eight: it ends by that',
    },
    {
      name: 'a switch of streams costs a copy engine nothing',
      from: 'if (last !== undefined && last.operation.stream !== stream) entry.left += this.model.switchTime;',
      to: '',
      why: 'depth-first issue is predicted as fast as breadth-first',
    },
  ]),
  ...mutationsOf(
    'src/runtime/model/issue-times.ts',
    ['test/model/calibrate.test.ts'],
    [
      {
        name: 'the median is the least',
        from: 'return sorted[sorted.length >> 1]!;',
        to: 'return sorted[0]!;',
        why: 'a calibrated model is too fast by what a machine does beside',
      },
      {
        name: 'what more operations take is split the wrong way',
        from: "const [copy, launch] = [(more('in') + more('out')) / 2, more('launch')];",
        to: "const [copy, launch] = [more('in') + more('out'), more('launch')];",
        why: 'a copy seems to take twice the time to issue',
      },
    ],
  ),
];

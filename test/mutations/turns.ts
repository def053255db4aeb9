// What can go wrong where blocks take turns, loops are cut into slices for it, and roles go through one loop.

import { mutationsOf } from './mutation.ts';

export const mutations = [
  ...mutationsOf(
    'src/targets/wasm/turns.ts',
    ['test/wasm/turns.test.ts'],
    [
      {
        name: 'blocks that take turns share an arena',
        from: "code.get(at).i32(bytes).op('i32.add').set(at)",
        to: "code.get(at).i32(0).op('i32.add').set(at)",
        why: 'a block goes on with the variables and the shared arrays of another',
      },
      {
        name: 'a variable of the block is not kept from turn to turn',
        from: 'if (variable !== null) found.add(variable);',
        to: '',
        why: 'a block goes on with what another has in a variable',
      },
      {
        name: 'blocks before the one that faults do not go on',
        from: '      resume(endless);',
        to: '',
        why: 'another block than the first that faults is reported, depending on who takes turns',
      },
      {
        name: 'compiled code goes abreast with arenas of their own',
        from: "unit.forProcessor && shares !== 'all' && walks === null",
        to: 'false',
        why: 'what blocks stage lies further away than the first cache',
        tests: ['test/native/turns.test.ts'],
      },
      {
        name: 'compiled code takes no more blocks abreast than WebAssembly',
        from: "walks !== null && unit.forProcessor ? 'walks' : 'rounds'",
        to: "'rounds'",
        why: 'a matrix is fetched again from beyond the second cache for each row of blocks',
        tests: ['test/native/rows.test.ts'],
      },
      {
        name: 'compiled code puts blocks aside for pieces that it asks for itself',
        from: 'if (unit.forProcessor && !inSlices) return null;',
        to: '',
        why: 'blocks are put aside and taken up for nothing',
        tests: ['test/native/turns.test.ts'],
      },
      {
        name: 'compiled code cuts loops, and takes no turns at them',
        from: 'unit.forProcessor && !inSlices',
        to: 'unit.forProcessor',
        why: 'each block reads its short pieces to the end, and meets between them',
        tests: ['test/native/turns.test.ts'],
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/cpu/slices.ts',
    ['test/wasm/slices.test.ts'],
    [
      {
        name: 'a slice is as long as two',
        from: 'words.index(turns.bits)',
        to: 'words.index(turns.bits - 1)',
        why: 'threads have turns beyond the end of their loop',
      },
      {
        name: 'a loop with a step shorter than a block is cut too',
        from: "words.compare('greaterEqual', stepAgain(), words.index(frame.blockSize)),",
        to: "words.compare('greaterEqual', stepAgain(), words.index(1)),",
        why: 'threads leave turns out',
      },
      {
        name: 'a loop is cut whatever it begins with',
        from: 'words.index(Math.max(0, ...accesses.map(({ offset }) => -offset)))',
        to: 'words.index(-(2 ** 31))',
        why: 'another thread is the first that fails, or what is left wraps',
      },
      {
        name: 'accesses behind the counter are not looked at',
        from: 'words.index(Math.max(0, offset))',
        to: 'words.index(0)',
        why: 'another thread is the first that fails',
      },
      {
        name: 'an element behind a shared array counts as one of it',
        from: 'mostOf(program, index) < count',
        to: 'mostOf(program, index) <= count',
        why: 'a loop that may fail is cut',
      },
      {
        name: 'sums of floats are cut too',
        from: '!commutes(each) || ',
        to: '',
        why: 'a sum has another order, and so another value, in slices',
      },
      {
        name: 'a loop that threads leave early is cut',
        from: ' || mayLeave(loop)',
        to: '',
        why: 'threads come back to a loop that they left',
      },
      {
        name: 'all turns of a slice begin where the first does',
        from: "place = words.binary('add', reads(), stepAgain());",
        to: 'place = reads();',
        why: 'a thread has its first turn four times',
      },
      {
        name: 'what is left of a loop has turns in a row, too',
        from: "words.when(words.read(whole, 'bool'), [...inRow(), meet()]",
        to: "words.when(words.constant('bool', true), [...inRow(), meet()]",
        why: 'threads have turns beyond the end of their loop',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/abreast.ts',
    ['test/wasm/turns.test.ts'],
    [
      {
        name: 'blocks behind one that failed go on',
        from: '.tee(last)',
        to: '',
        why: 'a fault is lost, or that of a later block is reported',
      },
      {
        name: 'a block goes on with what the one before it left in a variable',
        from: 'for (const { variable, begin } of shadows) code.get(begin).set(variable);',
        to: '',
        why: 'what all blocks count in a round is counted once for each of them',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/cpu/abreast.ts',
    ['test/wasm/turns.test.ts'],
    [
      {
        name: 'the number of a block is the same in all',
        from: "(each.kind === 'builtin' && !each.name.startsWith('gridDim')),",
        to: "(each.kind === 'builtin' && each.name.startsWith('thread')),",
        why: 'blocks have the rounds and the values of their last neighbour',
      },
      {
        name: 'where a block branches by its number, all go the same way',
        from: 'const inside = here && isPassedAlike(each, alike);',
        to: 'const inside = here;',
        why: 'a block goes on with what another assigned where it did not',
      },
      {
        name: 'what follows from a block’s number stays that of the last',
        from: 'again: before.filter((each) => again.has(each)),',
        to: 'again: [],',
        why: 'blocks write over the elements of their neighbours',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/cpu/fresh-rounds.ts',
    ['test/wasm/turns.test.ts', 'test/wasm/zip.test.ts'],
    [
      {
        name: 'what threads keep from round to round is in an arena of all blocks',
        from: "live.every((id) => own.has(id)) ? 'all' : 'arrays'",
        to: "live.length >= 0 ? 'all' : 'arrays'",
        tests: ['test/wasm/walks.test.ts'],
        why: 'a thread goes on with a value of another block’s',
      },
      {
        name: 'elements beyond those of the round are taken for its own',
        from: 'return least >= 0 && most < length;',
        to: 'return least >= 0;',
        why: 'a round finds what another block left',
      },
      {
        name: 'rows of threads are taken for the block',
        tests: ['test/wasm/walks.test.ts'],
        from: 'else if (threads > 1) return null;',
        to: '',
        why: 'blocks find in shared memory what another left, where each has written a part of it',
      },
      {
        name: 'shared arrays in which something is left are the same in all blocks',
        tests: ['test/wasm/walks.test.ts'],
        from: "|| !new Round(program, loop).isFresh()) return 'nothing';",
        to: ") return 'nothing';",
        why: 'a block goes on with what another has left in shared memory',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/cpu/borrowing.ts',
    ['test/wasm/borrow.test.ts'],
    [
      {
        name: 'arrays that threads write to are not copied into either',
        from: "(each.kind === 'store' || (each.kind === 'call' && each.intrinsic === 'atomic'))",
        to: "each.kind === 'call' && each.intrinsic === 'atomic'",
        why: 'threads write to what a kernel only reads',
      },
      {
        name: 'what lies behind a stage is taken for a part of it',
        from: 'if (!(least >= 0 && most < length)) return null;',
        to: '',
        why: 'threads read what lies behind the source of a copy',
      },
      {
        name: 'a region reads several stages at once',
        from: 'slots.size === 0 || (slots.size === 1 && !slots.has(null))',
        to: '!slots.has(null)',
        equivalent:
          'addresses that share a local differ by literals, which are no part of what says which stage it is',
        why: 'a stage is read from where another lies',
      },
      {
        name: 'a copy of a part of a stage says where all of it is',
        from: 'filled?.length === length &&',
        to: 'filled !== null &&',
        why: 'threads read what was not copied',
      },
      {
        name: 'a copy that a block makes by shares is read where it comes from',
        from: "copy?.group.kind === 'thread'",
        to: 'copy !== null',
        why: 'threads read where the copy before it lay',
      },
      {
        name: 'copies of threads count as one whatever they copy',
        from: 'from?.coefficient !== each',
        to: 'from === null',
        why: 'threads read elements of others',
      },
      {
        name: 'copies of threads count as one wherever they copy to',
        from: 'to?.coefficient !== each',
        to: 'to === null',
        why: 'threads read elements of others',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/borrowed.ts',
    ['test/wasm/borrow.test.ts'],
    [
      {
        name: 'stages that were never filled lie anywhere',
        from: 'slot < slots; slot += 1',
        to: 'slot < 0; slot += 1',
        why: 'reading a stage that was not filled stops the thread of the device',
      },
      {
        name: 'a copy that is made is read where it comes from',
        from: 'code.get(launch.address(target));',
        to: 'code.get(launch.address(source));',
        why: 'blocks read what they have written in place of what they have copied',
      },
      {
        name: 'all stages have one place',
        from: '.i32(slots)',
        to: '.i32(1)',
        why: 'a stage is read from where another lies',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/launch-values.ts',
    ['test/wasm/borrow.test.ts'],
    [
      {
        name: 'an array that begins behind one that is written is apart from it',
        from: '          [own, other],\n',
        to: '',
        why: 'blocks read what they have written in place of what they have copied',
      },
      {
        name: 'an array that begins before one that is written is apart from it',
        from: '          [other, own],\n',
        to: '',
        why: 'blocks read what they have written in place of what they have copied',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/cpu/walking.ts',
    ['test/wasm/walks.test.ts'],
    [
      {
        name: 'blocks that read far from each other go abreast',
        from: " || growth.of(index, 'blockIdx.x') !== program.block[0]",
        to: '',
        why: 'blocks take turns for nothing, and find less in the first cache',
      },
      {
        name: 'blocks that read what follows go abreast',
        from: 'return by === null || ',
        to: 'return by !== 0 || ',
        why: 'blocks take turns for nothing, and find less in the first cache',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/cpu/anew.ts',
    ['test/wasm/walks.test.ts'],
    [
      {
        name: 'a variable that gets another value elsewhere is computed anew',
        from: 'if (variable !== null && found.get(variable) !== each) others.add(variable);',
        to: '',
        why: 'threads read the first value of a variable in place of its last',
      },
      {
        name: 'what is computed from other variables is computed anew',
        from: "each.kind === 'variable' ||",
        to: '',
        why: 'a variable has the value that follows from what others have become',
      },
      {
        name: 'a region that reads a variable of its own is left without it',
        from: ' || read.has(each.variable),',
        to: ',',
        why: 'a region reads what it never got',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/cpu/zip-writer.ts',
    ['test/wasm/zip.test.ts'],
    [
      {
        name: 'loops that begin at different numbers are one',
        from: 'producing.start !== consuming.start || ',
        to: '',
        why: 'consumers use batches other than their own',
      },
      {
        name: 'loops to different limits are one',
        from: 'if (!isSame(loop.test!,',
        to: 'if (false && !isSame(loop.test!,',
        why: 'consumers use more batches than they should',
      },
      {
        name: 'threads beyond a role do its work',
        from: 'if (this.#isAll) return statements;',
        to: 'if (this.#isAll || statements.length > 0) return statements;',
        why: 'elements are written that no thread of the kernel writes',
      },
      {
        name: 'consumers do not wait for all producers',
        from: 'return [...parts[0], meeting, ...parts[1]];',
        to: 'return parts.flat();',
        why: 'a thread reads what another has not copied yet',
      },
      {
        name: 'a fault is said of the place among a role',
        from: 'return { ...range, rankGroup: this.#ranks };',
        to: 'return range as OfRankGroup;',
        why: 'errors name another thread than the one that failed',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/cpu/zip.ts',
    ['test/wasm/zip.test.ts'],
    [
      {
        name: 'a role may use two stages in a round',
        from: '/^(acquire,commit|wait,release)$/',
        to: '/^(acquire,commit|wait,release(,wait,release)*)$/',
        why: 'consumers use stages that nobody filled',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/legalise/cpu/striding.ts',
    ['test/wasm/turns.test.ts'],
    [
      {
        name: 'blocks that wait for what others write take turns',
        from: 'return !waitsForMemory(program);',
        to: 'return true;',
        why: 'a block waits for ever for one that has no turn meanwhile',
      },
      {
        name: 'blocks that add up floats take turns',
        from: 'return anyOrder.has(operator) && !isFloat(value.type);',
        to: 'return anyOrder.has(operator);',
        why: 'a sum is another from launch to launch on one thread',
      },
      {
        name: 'what is assigned in a branch does not tell which was taken',
        from: "if (each.kind === 'if') for (const id of assignedIn([each])) add(id);",
        to: '',
        why: 'a block waits for ever for one that has no turn meanwhile',
      },
      {
        name: 'blocks that print take turns',
        from: "    case 'print':",
        to: '',
        why: 'lines of blocks come in another order',
      },
    ],
  ),
];

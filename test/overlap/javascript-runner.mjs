// Runs a kernel's text as JavaScript on the device's threads, one thread of a block after the
// other: for kernels whose threads do not wait for each other.

const views = {
  i8: Int8Array,
  u8: Uint8Array,
  i16: Int16Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
  f32: Float32Array,
  f64: Float64Array,
};

/** The fault of a kernel that wrote to the first element of an array `faulty`. */
function outOfRange(index, thread, block) {
  const range = { source: 0, start: 0, end: 1 };
  const access = { array: 'faulty', access: 'write', index, count: 1, length: 1 };
  return { kind: 'out-of-range', range, thread, block, ...access };
}

export function createRunner({ program }, { memory }) {
  const { text, constants } = JSON.parse(program.name);
  const body = new Function(`return (${text})`)();
  const [x, y, z] = program.block;
  const size = x * y * z;
  return (record, _arena, first, end) => {
    const view = new DataView(memory.buffer);
    const data = { ...constants };
    for (const [i, parameter] of program.parameters.entries()) {
      const slot = record + 16 * (i + 1);
      if (parameter.kind === 'array') {
        const View = views[parameter.element];
        data[parameter.name] = new View(
          memory.buffer,
          view.getUint32(slot, true),
          view.getUint32(slot + 4, true),
        );
      } else {
        const read = {
          i32: 'getInt32',
          u32: 'getUint32',
          bool: 'getUint32',
          f32: 'getFloat32',
          f64: 'getFloat64',
          i64: 'getBigInt64',
        };
        data[parameter.name] = Number(view[read[parameter.type]](slot, true));
      }
    }
    const blocks = view.getUint32(record, true);
    for (let block = first; block < end; block++) {
      for (let thread = 0; thread < size; thread++) {
        const cuda = {
          thisGrid: () => ({ threadRank: () => block * size + thread, size: () => blocks * size }),
          thisThreadBlock: () => ({
            threadRank: () => thread,
            size: () => size,
            groupIndex: () => ({ x: block }),
          }),
          atomicAdd: (array, i, value) => Atomics.add(array, i, value),
        };
        body(data, cuda);
        const { faulty } = data;
        if (faulty?.[0] > 0) return outOfRange(faulty[0], [thread, 0, 0], [block, 0, 0]);
      }
    }
    return null;
  };
}

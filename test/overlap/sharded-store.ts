// A Zarr array of two dimensions in shards, each with chunks in it and an index behind them, as other programs write one.

const shape = [400, 400] as const;
const shard = [200, 400] as const;
const inner = [100, 200] as const;

/** Its numbers, row by row. */
export const shardedNumbers = Int32Array.from({ length: shape[0] * shape[1] }, (_, i) => Math.imul(i, 7919));

/** Its files, by their paths: two shards of more bytes than are asked for at once. */
export function shardedFiles(): Map<string, Buffer> {
  const bytes = { name: 'bytes', configuration: { endian: 'little' } };
  const about = {
    ...{ zarr_format: 3, node_type: 'array', shape, data_type: 'int32', fill_value: 0 },
    chunk_grid: { name: 'regular', configuration: { chunk_shape: shard } },
    chunk_key_encoding: { name: 'default' },
    codecs: [
      {
        name: 'sharding_indexed',
        configuration: { chunk_shape: inner, codecs: [bytes], index_codecs: [bytes], index_location: 'end' },
      },
    ],
  };
  const files = new Map([['zarr.json', Buffer.from(JSON.stringify(about))]]);
  for (let row = 0; row < shape[0]; row += shard[0]) {
    const chunks: Buffer[] = [];
    for (let y = row; y < row + shard[0]; y += inner[0])
      for (let x = 0; x < shape[1]; x += inner[1]) chunks.push(chunkAt(y, x));
    const places = chunks.flatMap((chunk, i) => [BigInt(i * chunk.length), BigInt(chunk.length)]);
    files.set(
      `c/${row / shard[0]}/0`,
      Buffer.concat([...chunks, Buffer.from(BigUint64Array.from(places).buffer)]),
    );
  }
  return files;
}

function chunkAt(row: number, column: number): Buffer {
  const rows = Array.from({ length: inner[0] }, (_, i) => {
    const at = (row + i) * shape[1] + column;
    return Buffer.from(shardedNumbers.slice(at, at + inner[1]).buffer);
  });
  return Buffer.concat(rows);
}

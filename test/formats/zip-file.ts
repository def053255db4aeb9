// Archives as other programs write them.

import { crc32, deflateRawSync } from 'node:zlib';

/** An archive, as it is written where all sizes are known before. */
export function zip(files: Readonly<Record<string, Uint8Array>>, deflate: boolean): Buffer {
  const parts: Buffer[] = [];
  const index: Buffer[] = [];
  let at = 0;
  for (const [name, bytes] of Object.entries(files)) {
    const data = deflate ? deflateRawSync(bytes) : Buffer.from(bytes);
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt16LE(deflate ? 8 : 0, 4);
    about.writeUInt32LE(crc32(bytes), 10);
    about.writeUInt32LE(data.length, 14);
    about.writeUInt32LE(bytes.length, 18);
    about.writeUInt16LE(name.length, 22);
    parts.push(Buffer.from('PK\x03\x04', 'latin1'), about, Buffer.from(name), data);
    const more = Buffer.alloc(14);
    more.writeUInt32LE(at, 10);
    index.push(Buffer.from('PK\x01\x02\x14\0', 'latin1'), about, more, Buffer.from(name));
    at += 30 + name.length + data.length;
  }
  const all = Buffer.concat(index);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(Object.keys(files).length, 4);
  end.writeUInt16LE(Object.keys(files).length, 6);
  end.writeUInt32LE(all.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, all, Buffer.from('PK\x05\x06', 'latin1'), end]);
}

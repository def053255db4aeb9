"""Writes the stores beside this file with TensorStore: python3 make.py FOLDER. The numbers are 7 * i % 100 - 20 (or + 0)."""
import sys

import numpy as np
import tensorstore as ts

bytes_ = lambda endian='little': {'name': 'bytes', 'configuration': {'endian': endian}}
gzip = {'name': 'gzip', 'configuration': {'level': 6}}
zstd = {'name': 'zstd', 'configuration': {'level': 3}}
crc = {'name': 'crc32c'}
blosc = lambda cname, shuffle, size: {'name': 'blosc', 'configuration': {
    'cname': cname, 'clevel': 5, 'shuffle': shuffle, 'typesize': size, 'blocksize': 0}}
transpose = lambda *order: {'name': 'transpose', 'configuration': {'order': list(order)}}
shard = lambda shape, codecs, location='end': {'name': 'sharding_indexed', 'configuration': {
    'chunk_shape': shape, 'codecs': codecs, 'index_codecs': [bytes_(), crc], 'index_location': location}}
v2 = {'name': 'v2', 'configuration': {'separator': '.'}}

# A name: the element, the extents, and how it is stored. The last is how many rows are missing.
stores = [
    ('i16-7x5-big', [3, 2], [bytes_('big')], {}, 0),
    ('f64-50-gzip', [8], [bytes_(), gzip], {}, 0),
    ('u16-9x11-zstd', [4, 4], [bytes_(), zstd, crc], {'chunk_key_encoding': v2}, 0),
    ('f32-40x6-blosc', [16, 6], [bytes_(), blosc('lz4', 'shuffle', 4)], {}, 0),
    ('i64-40-bitshuffle', [64], [bytes_('big'), blosc('zstd', 'bitshuffle', 8)], {}, 0),
    ('f32-5x6x7-transposed', [2, 4, 3], [transpose(2, 0, 1), bytes_(), gzip], {}, 0),
    ('i32-9x10-shards', [6, 8], [shard([3, 4], [bytes_(), zstd])], {'fill_value': -5}, 4),
    ('u8-9x10-start', [6, 8], [shard([2, 2], [transpose(1, 0), bytes_(), crc], 'start')], {}, 0),
    ('f16-3x4x5-first', [1, 1, 5], [bytes_()], {'fill_value': 'NaN'}, 1),
    ('u64-12-missing', [5], [bytes_()], {'fill_value': 18446744073709551615}, 7),
    ('bf16-20-plain', [6], [bytes_()], {}, 0),
    ('bool-20-plain', [6], [bytes_()], {'fill_value': True}, 0),
    ('i32-8x8-nested', [8, 8], [shard([4, 8], [shard([2, 2], [bytes_('big')])])], {}, 0),
]
names = {'i': 'int', 'u': 'uint', 'f': 'float', 'bf': 'bfloat', 'bool': 'bool'}
for name, chunk, codecs, more, absent in stores:
    element, extents, _ = name.split('-')
    letters = element.rstrip('0123456789')
    dtype = names[letters] + element[len(letters):]
    shape = [int(one) for one in extents.split('x')]
    store = ts.open({'driver': 'zarr3', 'kvstore': {'driver': 'file', 'path': f'{sys.argv[1]}/{name}'}, 'metadata': {
        'shape': shape, 'data_type': dtype, 'codecs': codecs,
        'chunk_grid': {'name': 'regular', 'configuration': {'chunk_shape': chunk}}, **more}},
        create=True, delete_existing=True).result()
    numbers = np.arange(np.prod(shape)) * 7 % 100 - (0 if letters == 'u' else 20)
    if letters == 'bool':
        numbers = numbers > 30
    rows = shape[0] - absent
    store[:rows] = numbers.reshape(shape)[:rows].astype(store.dtype.numpy_dtype)

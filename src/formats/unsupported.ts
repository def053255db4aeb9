// Files that are known and not read: how they are recognised, and what makes something of them that is read.
//
// To read such a file as bare numbers would give wrong results without a word. A format that is registered for one
// of these endings or beginnings comes first.

import { basename, extname } from 'node:path';
import { pythonText } from './python-text.ts';
import { pathInName } from './url.ts';

/** A kind of file that is not read. */
export interface Unsupported {
  /** With its article: `a CSV file`. */
  readonly what: string;
  readonly endings: readonly string[];
  /** How such files begin, as Latin-1, at a position (0 by default). */
  readonly begins?: readonly (string | readonly [at: number, text: string])[];
  /** The command or line of Python that makes a file of it that is read. */
  hint(name: string): string;
}

/** The kind that a file's name tells. */
export function unsupportedName(file: string): Unsupported | undefined {
  const ending = extname(pathInName(file)).toLowerCase();
  return ending === '' ? undefined : kinds.find(({ endings }) => endings.includes(ending));
}

/** The kind that a file's beginning tells. */
export function unsupportedBeginning(beginning: Uint8Array): Unsupported | undefined {
  const text = Buffer.from(beginning).toString('latin1');
  return kinds.find(({ begins = [] }) =>
    begins.some((one) => {
      const [at, letters] = typeof one === 'string' ? ([0, one] as const) : one;
      return text.startsWith(letters, at);
    }),
  );
}

/** A line of Python that saves an array as .npy. `'%'` stands for the file's name. */
function saved(array: string): Unsupported['hint'] {
  return (name) =>
    `save it as .npy: numpy.save(${pythonText(`${stem(name)}.npy`)}, ${array.replaceAll("'%'", () => pythonText(name))})`;
}

/** A command that unpacks a file. */
function unpacked(command: string): Unsupported['hint'] {
  return (name) => `unpack it first: ${command} ${name}`;
}

/** Of a file that is read when its name says what was compressed. */
function packedHint(command: string, ending: string): Unsupported['hint'] {
  return (name) =>
    `let its name say what is in it, for example x.f32${ending}; or unpack it first: ${command} ${name}`;
}

function stem(name: string): string {
  return basename(name, extname(name));
}

const kinds: readonly Unsupported[] = [
  { what: 'a text file', endings: ['.txt'], hint: saved("numpy.loadtxt('%')") },
  {
    what: 'a document',
    endings: ['.md', '.markdown', '.rst', '.log', '.doc', '.docx', '.rtf', '.tex'],
    hint: () => 'name the file that holds the numbers',
  },
  {
    what: 'a JSON file',
    endings: ['.json', '.geojson'],
    hint: saved("numpy.array(json.load(open('%')))"),
  },
  {
    what: 'a spreadsheet',
    endings: ['.xls', '.xlsx', '.ods'],
    begins: ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'],
    hint: (name) =>
      `save it as Parquet: pandas.read_excel(${pythonText(name)}).to_parquet(${pythonText(`${stem(name)}.parquet`)})`,
  },
  {
    what: 'a Feather file of version 1',
    endings: [],
    begins: ['FEA1'],
    hint: (name) =>
      `write it anew: pyarrow.feather.write_feather(pyarrow.feather.read_table(${pythonText(name)}), ${pythonText(`${stem(name)}.arrow`)})`,
  },
  {
    what: 'an ORC file',
    endings: ['.orc'],
    hint: (name) =>
      `save it as Parquet: pandas.read_orc(${pythonText(name)}).to_parquet(${pythonText(`${stem(name)}.parquet`)})`,
  },
  {
    what: 'an Avro file',
    endings: ['.avro'],
    begins: ['Obj\x01'],
    hint: (name) =>
      `save it as Parquet: polars.read_avro(${pythonText(name)}).write_parquet(${pythonText(`${stem(name)}.parquet`)})`,
  },
  {
    what: 'a sound file',
    endings: ['.flac', '.ogg', '.mp3', '.aiff', '.aif', '.m4a', '.opus'],
    begins: ['fLaC', 'OggS', 'ID3\x03', 'ID3\x04', [8, 'AIFF']],
    hint: saved("soundfile.read('%', dtype='float32')[0]"),
  },
  {
    what: 'an image',
    endings: ['.jpg', '.jpeg', '.gif', '.bmp', '.webp', '.exr', '.pgm', '.ppm', '.avif'],
    begins: [
      '\xff\xd8\xff\xe0',
      '\xff\xd8\xff\xe1',
      '\xff\xd8\xff\xdb',
      'GIF87a',
      'GIF89a',
      [8, 'WEBPVP8'],
      'v/1\x01\x02\0\0\0',
    ],
    hint: saved("numpy.asarray(PIL.Image.open('%'))"),
  },
  {
    what: 'a film',
    endings: ['.mp4', '.mov', '.mkv', '.webm', '.avi'],
    begins: [[4, 'ftyp'], [8, 'AVI LIST'], '\x1aE\xdf\xa3'],
    hint: (name) => `have its frames unpacked: ffmpeg -i ${name} -f rawvideo -pix_fmt gray ${stem(name)}.u8`,
  },
  {
    what: 'an HDF5 file',
    endings: ['.h5', '.hdf5', '.hdf', '.he5'],
    begins: ['\x89HDF\r\n\x1a\n'],
    hint: saved("h5py.File('%')['name'][:]"),
  },
  {
    what: 'a NetCDF file',
    endings: ['.nc', '.nc4', '.cdf'],
    begins: ['CDF\x01', 'CDF\x02', 'CDF\x05'],
    hint: saved("xarray.open_dataset('%')['name'].values"),
  },
  { what: 'a Zarr store', endings: ['.zarr'], hint: saved("zarr.open('%')['name'][:]") },
  {
    what: 'a MATLAB file',
    endings: ['.mat'],
    begins: ['MATLAB 5.0 MAT-file', 'MATLAB 7.3 MAT-file'],
    hint: saved("scipy.io.loadmat('%')['name']"),
  },
  {
    what: 'a FITS file',
    endings: ['.fits', '.fit', '.fts'],
    begins: ['SIMPLE  ='],
    hint: saved("astropy.io.fits.getdata('%')"),
  },
  {
    what: 'a medical image',
    endings: ['.nii', '.dcm', '.mha', '.nrrd'],
    begins: [[128, 'DICM'], [344, 'n+1\0'], 'NRRD000'],
    hint: saved("SimpleITK.GetArrayFromImage(SimpleITK.ReadImage('%'))"),
  },
  {
    what: 'a file of tensors',
    endings: ['.safetensors'],
    begins: [[8, '{"__metadata__"']],
    hint: saved("safetensors.numpy.load_file('%')['name']"),
  },
  {
    what: 'a model',
    endings: ['.gguf', '.onnx', '.tflite', '.ckpt', '.keras'],
    begins: ['GGUF', [4, 'TFL3']],
    hint: () => "save what is to be read of it as .npy: numpy.save('x.npy', array)",
  },
  { what: 'a file of PyTorch', endings: ['.pt', '.pth'], hint: saved("torch.load('%').numpy()") },
  { what: 'a pickle of Python', endings: ['.pkl', '.pickle'], hint: saved("pickle.load(open('%', 'rb'))") },
  {
    what: 'a database',
    endings: ['.sqlite', '.sqlite3', '.db', '.duckdb'],
    begins: ['SQLite format 3\0', [8, 'DUCK']],
    hint: (name) => `save a table as Parquet: duckdb ${name} "COPY name TO '${stem(name)}.parquet'"`,
  },
  {
    what: 'compressed by gzip',
    endings: [],
    begins: ['\x1f\x8b\x08\0', '\x1f\x8b\x08\x08'],
    hint: packedHint('gunzip -k', '.gz'),
  },
  {
    what: 'compressed by Zstandard',
    endings: [],
    begins: ['\x28\xb5\x2f\xfd'],
    hint: packedHint('unzstd', '.zst'),
  },
  {
    what: 'compressed by bzip2',
    endings: ['.bz2'],
    begins: [[4, '1AY&SY']],
    hint: unpacked('bunzip2 -k'),
  },
  { what: 'compressed by xz', endings: ['.xz'], begins: ['\xfd7zXZ\0'], hint: unpacked('unxz -k') },
  { what: 'compressed by LZ4', endings: ['.lz4'], begins: ['\x04"M\x18'], hint: unpacked('unlz4 -k') },
  {
    what: 'a ZIP archive',
    endings: ['.zip'],
    begins: ['PK\x03\x04'],
    hint: unpacked('unzip'),
  },
  {
    what: 'an archive',
    endings: ['.tar', '.tgz', '.7z', '.rar'],
    begins: [[257, 'ustar'], "7z\xbc\xaf'\x1c", 'Rar!\x1a\x07'],
    hint: unpacked('tar -xf'),
  },
  {
    what: 'a PDF',
    endings: ['.pdf'],
    begins: ['%PDF-'],
    hint: () => "save what is to be read of it as .npy: numpy.save('x.npy', array)",
  },
  {
    what: 'a program',
    endings: ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.py', '.exe', '.so', '.wasm', '.html', '.xml'],
    begins: ['\x7fELF', '\0asm\x01\0\0\0', '<?xml ', '<!DOCTYPE'],
    hint: () =>
      'name the file with the data; the module comes first: warpstage run <module> <input> <output>',
  },
];

// The rule of the house: each folder of src/ imports only from those above it in this list.
// The timeline's span type may be imported by everybody, as a type.
const rooms = [
  'diagnostics',
  'files',
  'kernel',
  'compiler',
  'targets',
  'runtime',
  'checker',
  'host',
  'formats',
  'overlap',
  'timeline',
  'queue',
  'cli',
];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    ...rooms.slice(0, -1).map((room, position) => ({
      name: `${room}-imports-only-from-above`,
      severity: 'error',
      from: { path: `^src/${room}/` },
      to: { path: `^src/(${rooms.slice(position + 1).join('|')})/`, pathNot: '^src/timeline/span\\.ts$' },
    })),
    {
      name: 'lowering-knows-no-target',
      severity: 'error',
      from: { path: '^src/targets/(analysis|legalise)/' },
      to: { path: '^src/targets/(cuda|wasm|interpreter|checker)/' },
    },
    {
      name: 'no-index-inside',
      severity: 'error',
      from: { path: '^src/.+/' },
      to: { path: '^src/index\\.ts$' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
};

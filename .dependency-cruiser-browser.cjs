// What a browser loads imports nothing of Node. Types are left out: no browser sees them.

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'browsers-have-no-node',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'browsers-have-one-package',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: 'node_modules', pathNot: 'node_modules/acorn/' },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
};

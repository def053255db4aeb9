// What `npm start` says after its report.
console.error(`
What to try next:
  see the overlap         npm start -- --trace timeline.html      then open it in a browser
  without overlap         npm start -- --depth 1
  what it takes           npx warpstage run examples/flights.ts --help
  data of your own size   node examples/make-npy.mjs x.npy 64M
                          npx warpstage run examples/affine.ts x.npy y.npy --set a=2 --set b=1
  find races and misuse   npx warpstage check examples/guide/checks.ts
  more examples           examples/README.md
`);

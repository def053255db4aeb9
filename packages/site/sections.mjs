// The order of the pages: what one reads first stands first. `path` is that of a page of docs/, or of what build.mjs makes.

const page = (path, title) => ({ path, title });

export const sections = [
  { title: 'Start', pages: [page('start', 'Ten minutes')] },
  {
    title: 'Tutorial',
    pages: [
      page('tutorial/1-threads', '1. Threads, blocks and the grid'),
      page('tutorial/2-blur', '2. Blur a picture'),
      page('tutorial/3-reduction', '3. A sum of many numbers'),
      page('tutorial/4-pipeline', '4. A pipeline, and what it hides'),
      page('tutorial/5-races', '5. Find a race'),
      page('tutorial/6-streams', '6. Streams and events'),
      page('tutorial/7-files', '7. A job over a large file'),
      page('tutorial/8-gpu', '8. On a GPU'),
    ],
  },
  {
    title: 'Guides',
    pages: [
      page('porting', 'From CUDA C++'),
      page('jobs', 'Jobs'),
      page('cluster', 'Many machines'),
      page('formats', 'Formats'),
      page('checker', 'The checker'),
      page('timelines', 'Timelines'),
      page('gpu', 'GPUs'),
      page('models', 'Virtual devices'),
      page('host', 'Threads of the host'),
      page('tools', 'Tools and bundlers'),
      page('browsers', 'Browsers and the playground'),
      page('questions', 'Questions'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page('language', 'Kernel language'),
      page('intrinsics', 'Intrinsics'),
      page('reference/api/index', 'API'),
      page('reference/command-line', 'Command line'),
      page('errors', 'Errors'),
    ],
  },
  {
    title: 'Notes',
    pages: [
      page('lowering', 'What pipelines become'),
      page('performance', 'Performance'),
      page('misuse', 'Misuse and its findings'),
      page('seeds', 'What CUDA promises, and what shows it'),
    ],
  },
];

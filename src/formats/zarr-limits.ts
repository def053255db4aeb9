// What is known of every Zarr store before it is opened.

/** The file that says what a folder is. */
export const markName = 'zarr.json';

/** No longer one is read. */
export const longestMetadata = 2 ** 24;

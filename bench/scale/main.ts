/**
 * `node bench/scale/main.ts [FILE]`: fills in the measured parts of docs/explain/scale.md from the recorded run. With the output of
 * `npm run bench -- --json FILE` it records that run first.
 */
import { filledIn, readPage, readRecorded, record, writePage } from "./page.ts";

const file = process.argv[2];
if (file !== undefined) record(readRecorded(file));
writePage(filledIn(readPage(), readRecorded()));

/**
 * `node bench/scale/main.ts [FILE]`: writes docs/measured/scale.md from the recorded run. With the output of
 * `npm run bench -- --json FILE` it records that run first.
 */
import { pageOf, readRecorded, record, writePage } from "./page.ts";

const file = process.argv[2];
if (file !== undefined) record(readRecorded(file));
writePage(pageOf(readRecorded()));

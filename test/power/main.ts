/** `npm run power`: cuts the power of an agent so many times. Ends with 0 when nothing was forgotten or run twice. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { powerCuts } from "./rounds.ts";

const { values } = parseArgs({
  options: { times: { type: "string", default: "200" }, seed: { type: "string" } },
});
const times = Number(values.times);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
if (!Number.isInteger(times) || times < 1 || !Number.isInteger(seed)) {
  process.stderr.write("usage: npm run power -- [--times N] [--seed N]\n");
  process.exit(2);
}
const dir = mkdtempSync(join(tmpdir(), "edgecall-power-"));
const say = (line: string) => void process.stderr.write(`${line}\n`);
say(`seed ${seed}; files in ${dir}`);
const found = await powerCuts({ dir, times, seed, say });
console.log(JSON.stringify(found, null, 2));
const sound = found.twice.length + found.forgotten.length + found.changed.length === 0;
if (sound) rmSync(dir, { recursive: true, force: true });
process.exit(sound ? 0 : 1);

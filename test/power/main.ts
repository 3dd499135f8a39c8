/**
 * `npm run power`: cuts the power of an agent and of a bridge repeatedly. Exits with 0 when both came back each time,
 * and no call was forgotten or run twice.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bridgePowerCuts } from "./bridge.ts";
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
const agent = await powerCuts({ dir: join(dir, "agent"), times, seed, say });
const bridge = await bridgePowerCuts({ dir: join(dir, "bridge"), times, seed, say });
console.log(JSON.stringify({ agent, bridge }, null, 2));
const faults = [agent.twice, agent.forgotten, agent.changed, bridge.wrong];
const sound = faults.every(({ length }) => length === 0);
if (sound) rmSync(dir, { recursive: true, force: true });
process.exit(sound ? 0 : 1);

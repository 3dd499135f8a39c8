/** The trial itself. Only main.ts starts it, in its own namespaces. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundleCommand } from "../../local/bundles.ts";
import { writeGatewayFolder } from "../../local/home-gateway/folder.ts";
import { checkout, OWNER } from "./gateway-machine.ts";
import { type Given, LIMIT_MS } from "./given.ts";
import { buildHome, GATEWAY, HOSTS, type Home } from "./home.ts";
import { revokeAndReturn } from "./keys.ts";
import { askDoctors, takeAway } from "./looks.ts";
import { joinAll } from "./pairing.ts";
import { Person } from "./person.ts";
import { rebootEach, replaceBroker, replaceHub } from "./reboots.ts";
import { Recorder } from "./record.ts";
import { updateAndRollBack } from "./updates.ts";
import { withoutCloudflare } from "./without-cloudflare.ts";

const { debian, dir, cgroups, json } = JSON.parse(process.argv[2] ?? "") as Given;
const say = (line: string) => console.error(line);

// Mounts made here stay in this namespace. systemd-nspawn also keeps its locks in /run.
execFileSync("mount", ["--make-rprivate", "/"]);
execFileSync("mount", ["-t", "tmpfs", "tmpfs", "/run"]);
const hosts = join(dir, "hosts");
writeFileSync(
  hosts,
  Object.entries(HOSTS)
    .map(([name, address]) => `${address} ${name}\n`)
    .join(""),
);
execFileSync("mount", ["--bind", hosts, "/etc/hosts"]);

const repo = checkout(dir);
const cli = join(dir, "edgecall.cjs");
writeFileSync(cli, await bundleCommand());
const gatewayFolder = join(dir, "edgecall-gateway");
await writeGatewayFolder(gatewayFolder);
const person = new Person({ gateway: GATEWAY, token: OWNER, cli });
const { machines, model, telegram } = await buildHome({ dir, debian, cgroups, repo, gatewayFolder });
const home: Home = { machines, model, telegram, person, repo };
const recorder = new Recorder(person, say);

async function tryAll(): Promise<void> {
  await joinAll(home, recorder);
  await askDoctors(home, recorder);
  await rebootEach(home, recorder);
  await replaceBroker(home, recorder);
  await replaceHub(home, recorder);
  await revokeAndReturn(home, recorder);
  await updateAndRollBack(home, recorder);
  await takeAway(home, recorder);
  await withoutCloudflare(home, recorder);
}

async function inTime(work: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const over = () =>
    late.reject(
      new Error(`not done within ${LIMIT_MS / 60_000} minutes: '${recorder.running}' was under way`),
    );
  const timer = setTimeout(over, LIMIT_MS);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

let failed = false;
try {
  await inTime(tryAll());
} catch (error) {
  failed = true;
  say(`\n${error instanceof Error ? error.message : String(error)}`);
  for (const machine of Object.values(machines)) {
    const { out } = await machine.look(
      "journalctl --no-pager -o short-precise -n 200 | grep -v systemd | tail -n 20",
    );
    say(
      `\n── ${machine.name}\n${out}\n${readFileSync(machine.log, "utf8").split("\n").slice(-15).join("\n")}`,
    );
  }
}
if (json !== undefined) writeFileSync(json, `${JSON.stringify(recorder.json(), null, 2)}\n`);
console.log(recorder.table());
process.exit(failed ? 1 : 0);

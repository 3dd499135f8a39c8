/** A newer program from the gateway, and then a bad one, which goes back by itself. */
import { until } from "../wait.ts";
import { change, versionOf } from "./gateway-machine.ts";
import type { Home } from "./home.ts";
import { answersAgain } from "./reboots.ts";
import { type Recorder, type Seen, stopwatch } from "./record.ts";

const PATIENT = { within: 60_000, every: 100 };
const UPDATE =
  "sudo edgecall agent update http://gateway.example/edgecall.cjs --sha256 $(curl -fsS http://gateway.example/install.sh | sed -n \"s/^PROGRAM_SHA256='\\(.*\\)'/\\1/p\")";
/** What `edgecall agent run` does first. */
const RUN = "cli/agent/run.ts";

export async function updateAndRollBack(home: Home, recorder: Recorder): Promise<void> {
  const [newer, bad] = following(versionOf(home.repo));
  await recorder.step("a newer program, from the gateway", () => update(home, newer));
  await recorder.step("a bad one goes back by itself", () => rollBack(home, newer, bad));
}

async function update(home: Home, version: string): Promise<Seen> {
  const { machines, person, repo } = home;
  change(repo, version);
  await deploy(home);
  const watch = stopwatch();
  const { code, out } = await person.type(machines.eye, UPDATE);
  if (code !== 0) throw new Error(out);
  const done = watch();
  await until(async () => (await person.agent("eye"))?.version === version, {
    ...PATIENT,
    what: `the gateway sees eye with ${version}`,
  });
  await answersAgain(home, ["eye"]);
  return { times: { "the command": done, "it answers": watch() }, note: out };
}

/** It says its version, as one that is taken into use has to, and ends when it is to run. */
async function rollBack(home: Home, good: string, bad: string): Promise<Seen> {
  const { machines, person, repo } = home;
  change(repo, bad, { [RUN]: (text) => `${text}\nprocess.exit(3);\n` });
  await deploy(home);
  const watch = stopwatch();
  const { code, out } = await person.type(machines.eye, UPDATE);
  if (code === 0) throw new Error(`the bad version was taken: ${out}`);
  const back = watch();
  await answersAgain(home, ["eye"]);
  const answers = watch();
  const now = (await person.agent("eye"))?.version;
  if (now !== good) throw new Error(`eye runs ${now}`);
  return { times: { "it is back": back, "it answers": answers }, note: out };
}

/** What the gateway's owner does with a new release. */
async function deploy({ machines, person }: Home): Promise<void> {
  const { code, out } = await person.type(machines.gateway, "sudo systemctl restart gateway");
  if (code !== 0) throw new Error(out);
  await until(() => person.healthy(), { ...PATIENT, what: "the gateway answers" });
}

/** @param version `A.B.C` */
function following(version: string): [string, string] {
  const [major, minor, patch] = version.split(".").map(Number);
  return [`${major}.${minor}.${Number(patch) + 1}`, `${major}.${minor}.${Number(patch) + 2}`];
}

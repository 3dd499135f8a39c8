/**
 * A newer program comes from the gateway, on a remote command. Then comes a bad one, which is rolled back
 * automatically.
 */
import { until } from "../wait.ts";
import { change, versionOf } from "./gateway-machine.ts";
import type { Home } from "./home.ts";
import { approved } from "./pairing.ts";
import { calls } from "./person.ts";
import { answersAgain } from "./reboots.ts";
import { type Recorder, type Seen, stopwatch } from "./record.ts";

const PATIENT = { within: 120_000, every: 250 };
/** The module behind `edgecall agent run`. */
const RUN = "cli/agent/run.ts";

export async function updateAndRollBack(home: Home, recorder: Recorder): Promise<void> {
  const [newer, bad] = following(versionOf(home.repo));
  await recorder.step("a device is told to take the newer program", async () => {
    change(home.repo, newer);
    await deploy(home);
    return await updateFromAfar(home, newer);
  });
  await recorder.step("the bridge is told to take it", () => updateBridge(home, newer));
  await recorder.step("a bad one goes back by itself", async () => {
    // It prints its version, which an update requires, and exits as soon as it is to run.
    change(home.repo, bad, { [RUN]: (text) => `${text}\nprocess.exit(3);\n` });
    await deploy(home);
    return await rollBack(home, newer, bad);
  });
}

/** The update is requested in the chat. Its result arrives when the new version runs. */
async function updateFromAfar(home: Home, version: string): Promise<Seen> {
  const { person } = home;
  const asked = person.ask("update", calls("eye", "update_self"), { text: "$results" });
  await approved(home, asked, "update");
  const watch = stopwatch();
  const turn = await asked;
  await until(async () => (await person.agent("eye"))?.version === version, {
    ...PATIENT,
    what: `the gateway sees eye with ${version}`,
  });
  const online = watch();
  const outcome = await until(() => person.reads("update", `${version} is online`), {
    ...PATIENT,
    what: "the conversation has what came of it",
  });
  await answersAgain(home, ["eye"]);
  return { times: { "the new version is online": online }, note: `${turn.answer}\n${outcome}` };
}

async function updateBridge(home: Home, version: string): Promise<Seen> {
  const { person } = home;
  const watch = stopwatch();
  const { code, out, err } = await person.update("bridge");
  if (code !== 0) throw new Error(`edgecall update bridge: ended with ${code}\n${err}`);
  const done = watch();
  const now = await person.bridgeVersion();
  if (now !== version) throw new Error(`the bridge runs ${now}`);
  await answersAgain(home, ["eye", "arm"]);
  return { times: { "the command ends": done, "both devices answer": watch() }, note: out };
}

async function rollBack(home: Home, good: string, bad: string): Promise<Seen> {
  const { person } = home;
  const updating = person.update("eye");
  await approved(home, updating);
  const watch = stopwatch();
  const { code, err } = await updating;
  if (code === 0) throw new Error(`the bad version ${bad} was taken`);
  const result = watch();
  await answersAgain(home, ["eye"]);
  const now = (await person.agent("eye"))?.version;
  if (now !== good) throw new Error(`eye runs ${now}`);
  return { times: { "the command ends": result, "it answers": watch() }, note: err };
}

/** Does what the gateway's owner does with a new release. */
async function deploy(home: Home): Promise<void> {
  const { machines, person } = home;
  const { code, out } = await person.type(machines.gateway, "sudo systemctl restart gateway");
  if (code !== 0) throw new Error(out);
  await until(() => person.healthy(), { ...PATIENT, what: "the gateway answers" });
  // The bridge reconnects at its own pace, and before that no device can be reached.
  await answersAgain(home, ["eye", "arm"]);
}

/** Returns the next two versions. @param version `A.B.C` */
function following(version: string): [string, string] {
  const [major, minor, patch] = version.split(".").map(Number);
  return [`${major}.${minor}.${Number(patch) + 1}`, `${major}.${minor}.${Number(patch) + 2}`];
}

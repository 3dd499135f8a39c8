/**
 * A key is revoked, as after a theft, and then accepted again. Meanwhile everybody who asks is told why the device does
 * not answer.
 */
import { until } from "../wait.ts";
import type { Home } from "./home.ts";
import type { Machine } from "./machine.ts";
import { join } from "./pairing.ts";
import { answersAgain } from "./reboots.ts";
import { type Recorder, type Seen, stopwatch } from "./record.ts";

const PATIENT = { within: 60_000, every: 100 };

export async function revokeAndReturn(home: Home, recorder: Recorder): Promise<void> {
  await recorder.step("a device's key is revoked", () => revoke(home, "arm", "arm"));
  await recorder.step("it is let in again", () => letIn(home, "arm", "arm"));
  await recorder.step("the bridge's key is revoked", () => revoke(home, "hub", "@bridge"));
  await recorder.step("the bridge is let in again", () => letIn(home, "hub", "@bridge"));
}

/** The device is offline at once, and the model and the person at the machine are told that its key is the reason. */
async function revoke({ machines, person }: Home, machine: "arm" | "hub", key: string): Promise<Seen> {
  const watch = stopwatch();
  await person.revoke(key);
  await until(async () => !(await person.sees("arm")), { ...PATIENT, what: "arm is offline" });
  const offline = watch();
  const { calls, answer } = await person.use(`revoked-${machine}`, "arm");
  if (calls.at(-1)?.status !== "error") throw new Error(`the model got: ${answer}`);
  if (key === "arm" && !answer?.includes("revoked")) throw new Error(`the model was told: ${answer}`);
  const advice = await until(() => doctorAbout(machines[machine], key), {
    ...PATIENT,
    every: 1_000,
    what: `the doctor at ${machine} speaks of the key`,
  });
  return { times: { "it is offline": offline, "it says so itself": watch() }, note: `${answer}\n${advice}` };
}

/** Returns what the machine's doctor reports, once the report names the key. */
async function doctorAbout(machine: Machine, key: string): Promise<string | undefined> {
  const { code, out } = await machine.type(`sudo edgecall ${key === "@bridge" ? "bridge" : "agent"} doctor`);
  const lines = out.split("\n");
  const wrong = lines.filter((line, at) => /^WRONG/.test(line) || /^WRONG/.test(lines[at - 1] ?? ""));
  return code !== 0 && /revoked/.test(out) ? wrong.join("\n") : undefined;
}

/** Uses the console's "Replace" and types its command. */
async function letIn(home: Home, machine: "arm" | "hub", key: string): Promise<Seen> {
  const { times, note } = await join(home, machine, { agent: key });
  const watch = stopwatch();
  await answersAgain(home, ["eye", "arm"]);
  return { times: { ...times, "and then all answer": watch() }, ...(note && { note }) };
}

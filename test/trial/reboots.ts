/**
 * Each machine is rebooted while a question is open. Then the broker is replaced by another one, with an empty disk.
 */
import { until } from "../wait.ts";
import type { Home } from "./home.ts";
import { expectAnswer, join } from "./pairing.ts";
import { calls } from "./person.ts";
import { type Recorder, type Seen, stopwatch } from "./record.ts";

const PATIENT = { within: 120_000, every: 100 };
const BROKER = "edgecall-broker";
const BROKER_STATE = "/var/lib/edgecall-bridge/broker/state";
const DEVICES = ["eye", "arm"] as const;

export async function rebootEach(home: Home, recorder: Recorder): Promise<void> {
  for (const part of ["eye", "arm", "hub"] as const)
    await recorder.step(`reboot of ${part}, and a question meanwhile`, () => reboot(home, part));
  await recorder.step("the power at home goes, and comes back", () => cutPower(home));
  await recorder.step("reboot of the gateway, in the middle of a question", () => rebootGateway(home));
}

/**
 * A question during the reboot gets an immediate answer without the device; a later one gets the device's own answer.
 */
async function reboot(home: Home, part: "eye" | "arm" | "hub"): Promise<Seen> {
  const { machines, person } = home;
  const watch = stopwatch();
  await machines[part].reboot();
  const affected = part === "hub" ? DEVICES : [part];
  const turn = await person.ask(`during-${part}`, calls(affected[0], "system_info"), {
    text: "It says: $results",
  });
  expectAnswer(turn, /It says: ./);
  const during = watch();
  await machines[part].booted();
  const booted = watch();
  await answersAgain(home, affected);
  return {
    times: { "its systemd is up": booted, "it answers": watch() },
    note: `answered after ${(during / 1000).toFixed(1)} s meanwhile: ${turn.answer?.slice(0, 300)}`,
  };
}

/** Cuts the power of all machines at once, whatever they are doing. */
async function cutPower(home: Home): Promise<Seen> {
  const { hub, eye, arm } = home.machines;
  await Promise.all([hub, eye, arm].map((machine) => machine.cutPower()));
  const watch = stopwatch();
  for (const machine of [hub, eye, arm]) machine.start();
  await answersAgain(home, DEVICES);
  return { times: { "both devices answer": watch() } };
}

async function rebootGateway(home: Home): Promise<Seen> {
  const { machines, person, model } = home;
  const answer = { text: "It says: $results" };
  const held = { hold: "the gateway is rebooted", step: answer };
  const before = model.requests.length;
  // After its restart the gateway asks the model once more.
  const asked = person.ask("during-gateway", calls("eye", "system_info"), held, answer);
  await until(() => model.requests.length >= before + 2, {
    ...PATIENT,
    what: "the turn is at its second model call",
  });
  const watch = stopwatch();
  await machines.gateway.reboot();
  model.release(held.hold);
  await until(() => person.healthy(), { ...PATIENT, what: "the gateway answers again" });
  const healthy = watch();
  const turn = await asked;
  const answered = watch();
  expectAnswer(turn, /It says: [\s\S]*hostname: eye/);
  await answersAgain(home, DEVICES);
  return {
    times: { "it is there": healthy, "the question's answer": answered, "both devices answer": watch() },
  };
}

/** Each agent answers again, through model, gateway, bridge and broker. */
export async function answersAgain({ person }: Home, agents: readonly string[]): Promise<void> {
  for (const agent of agents) {
    await until(() => person.sees(agent), { ...PATIENT, what: `the gateway sees ${agent}` });
    const answered = async () => {
      const turn = await person.use(`again-${agent}`, agent).catch(() => undefined);
      return turn?.calls.at(-1)?.status === "success" && turn.answer?.includes(`hostname: ${agent}`);
    };
    await until(answered, { ...PATIENT, what: `${agent} answers` });
  }
}

/** As after a failure of the broker's disk. */
export async function replaceBroker(home: Home, recorder: Recorder): Promise<void> {
  const { machines, person } = home;
  await recorder.step("the broker is replaced by an empty one", async () => {
    const watch = stopwatch();
    const { code, out } = await person.type(
      machines.hub,
      `sudo systemctl stop ${BROKER} && sudo sh -c 'rm -rf ${BROKER_STATE}/*' && sudo systemctl start ${BROKER}`,
    );
    if (code !== 0) throw new Error(out);
    const started = watch();
    await answersAgain(home, DEVICES);
    return { times: { "the new one runs": started, "both devices answer": watch() } };
  });
}

/** The home's first machine is lost with the broker, the bridge and their keys. The devices do not learn of it. */
export async function replaceHub(home: Home, recorder: Recorder): Promise<void> {
  const { machines, person } = home;
  await recorder.step("the home's first machine gets an empty disk", async () => {
    await machines.hub.replaceDisk();
    machines.hub.start();
    await machines.hub.booted();
    const watch = stopwatch();
    await person.revoke("hub");
    const seen = await join(home, "hub", { agent: "@bridge" });
    await answersAgain(home, DEVICES);
    return { times: { ...seen.times, "both devices answer": watch() }, note: seen.note ?? "" };
  });
}

/** The first ten minutes: four machines, two of them devices, one command each, and the first answers. */
import { until } from "../wait.ts";
import { GATEWAY_NAME, type Home } from "./home.ts";
import { calls } from "./person.ts";
import { type Recorder, type Seen, stopwatch } from "./record.ts";

/** A loaded machine takes longer. */
const PATIENT = { within: 90_000, every: 100 };

export async function joinAll(home: Home, recorder: Recorder): Promise<void> {
  const { machines, person } = home;
  await recorder.step("four machines are switched on", async () => {
    for (const machine of Object.values(machines)) machine.start();
    await Promise.all(Object.values(machines).map((machine) => machine.booted()));
    await until(() => person.healthy(), { ...PATIENT, what: "the gateway answers" });
    return {};
  });
  await recorder.step("nothing gets into the home, and the home gets out", () => walls(home));
  await recorder.step("the home's first machine: broker and bridge", () =>
    join(home, "hub", { agent: "@bridge" }),
  );
  await recorder.step("a device by one command", () => join(home, "eye"));
  await recorder.step("the first answer through it", async () => {
    const turn = await person.ask("first", calls("eye", "system_info"), { text: "It says: $results" });
    expectAnswer(turn, /hostname: eye/);
    return {};
  });
  await recorder.step("a second device", () => join(home, "arm"));
  await recorder.step("a shell command, once the person approved it", async () => {
    const command = "uname -n; echo $((6*7))";
    const asked = person.ask("approval", calls("arm", "bash", { command }), { text: "$results" });
    const note = await approved(home, asked, "approval");
    const watch = stopwatch();
    expectAnswer(await asked, /\b42\b/);
    return { times: { "from the approval": watch() }, note };
  });
}

/**
 * Waits for a question to the person, and approves it.
 * @param work the work that waits for the answer; when it ends first, no question came
 * @returns the question
 */
export async function approved(
  { person }: Home,
  work: Promise<unknown>,
  conversation?: string,
): Promise<string> {
  const question = await Promise.race([
    until(() => person.openQuestion(conversation), { ...PATIENT, what: "the person is asked" }),
    work.then((end) => Promise.reject(new Error(`nobody was asked: ${JSON.stringify(end)}`))),
  ]);
  await person.approve(question.id);
  return question.text;
}

/**
 * "Add a device", the command, and the check that the device is online.
 * @param what.agent the device whose key may be replaced; `@bridge`: "Add the home's bridge"
 */
export async function join(
  home: Home,
  name: "hub" | "eye" | "arm",
  what: { agent?: string } = {},
): Promise<Seen> {
  const { machines, person } = home;
  const command = await person.addDevice(what);
  const watch = stopwatch();
  let online: number | undefined;
  const seen = until(() => person.sees(name), { ...PATIENT, what: `the gateway sees ${name}` }).then(() => {
    online = watch();
  });
  // When the command fails first, the code below reports that.
  seen.catch(() => {});
  const { code: ended, out } = await person.type(machines[name], command);
  const done = watch();
  if (ended !== 0) throw new Error(`${command}: ${ended}\n${out}`);
  await seen;
  return { times: { "until it is online": online ?? done, "until the command ends": done }, note: out };
}

/** @throws an error unless the model answered with the words of a device */
export function expectAnswer(turn: { status: string; answer: string | null }, wanted: RegExp): void {
  if (turn.status !== "done" || !wanted.test(turn.answer ?? ""))
    throw new Error(`expected an answer like ${wanted}, got ${JSON.stringify(turn)}`);
}

async function walls({ machines }: Home) {
  const tries = [
    { from: machines.gateway, to: machines.hub.address, port: 22, gets: false },
    { from: machines.gateway, to: machines.eye.address, port: 22, gets: false },
    { from: machines.eye, to: GATEWAY_NAME, port: 80, gets: true },
  ];
  await Promise.all(
    tries.map(async ({ from, to, port, gets }) => {
      // curl's exit code 28 means silence: neither an answer nor a refusal came back.
      const { code, out } = await from.look(`curl -sS --max-time 2 http://${to}:${port}/healthz`);
      if (gets ? code !== 0 : code !== 28)
        throw new Error(`${from.name} to ${to}:${port}: curl ended with ${code} ${out}`);
    }),
  );
  return {};
}

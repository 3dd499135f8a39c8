/** The home's first machine becomes its gateway, too, and is asked over Telegram by long polling. */
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import type { Home } from "./home.ts";
import { ARCHIVE, OWNER, SETTINGS } from "./home-gateway-files.ts";
import { leftOn } from "./looks.ts";
import { calls } from "./person.ts";
import { type Recorder, stopwatch } from "./record.ts";

const STATE = "/var/lib/edgecall-gateway";
const PATIENT = { within: 90_000, every: 100 };

export async function withoutCloudflare(home: Home, recorder: Recorder): Promise<void> {
  const { machines, person, telegram } = home;
  const { hub } = machines;
  const typed = async (command: string) => {
    const { code, out } = await person.type(hub, command);
    if (code !== 0) throw new Error(`${command}: ended with ${code}\n${out}`);
    return out;
  };
  const install = `sudo node ${ARCHIVE}/edgecall.cjs gateway install --settings ${SETTINGS}`;

  await recorder.step(
    "a home without Cloudflare: gateway, broker, bridge and device by one command",
    async () => {
      const planned = await typed(`${install} --dry-run`);
      const early = await leftOn(hub);
      if (early !== "" || !planned.includes("nothing was changed"))
        throw new Error(`a dry run left:\n${early}\n${planned}`);
      const watch = stopwatch();
      const out = await typed(install);
      const done = watch();
      // Again: nothing that is there is lost.
      const again = await typed(`sudo node ${ARCHIVE}/edgecall.cjs gateway install`);
      const token = /token +(\S+)/;
      if (token.exec(out)?.[1] !== token.exec(again)?.[1]) throw new Error(`another token:\n${again}`);
      // The programs are gone, and an older version's state is left: it is copied before this one writes there.
      await typed(`sudo node ${ARCHIVE}/edgecall.cjs gateway uninstall`);
      await typed(`sudo sh -c 'echo 0.3.0 > ${STATE}/version'`);
      const over = await typed(`sudo node ${ARCHIVE}/edgecall.cjs gateway install`);
      if (!over.includes(`${STATE} was edgecall 0.3.0's`) || token.exec(over)?.[1] !== token.exec(out)?.[1])
        throw new Error(`no copy, or another token:\n${over}`);
      await typed(`sudo sh -c 'diff ${STATE}-0.3.0-*/tokens.json ${STATE}/tokens.json'`);
      await typed(`sudo sh -c 'rm -r ${STATE}-0.3.0-*'`);
      await typed("sudo edgecall gateway status");
      await typed("sudo edgecall gateway doctor");
      return { times: { "the command ends": done }, note: out };
    },
  );
  await recorder.step("a message over Telegram is answered, without a webhook", async () => {
    const watch = stopwatch();
    await deviceAnswers(home);
    if (telegram.webhook) throw new Error("a webhook was set");
    return { times: { "the device's answer": watch() } };
  });
  await recorder.step("reboot of the home's gateway, and a message meanwhile", async () => {
    const watch = stopwatch();
    await hub.reboot();
    const before = telegram.chat(OWNER).length;
    say(home, "meanwhile");
    await hub.booted();
    const booted = watch();
    const isAnswer = ({ text }: { text: string }) => text.includes("meanwhile: ");
    await until(() => telegram.chat(OWNER).slice(before).some(isAnswer), { ...PATIENT, what: "an answer" });
    const meanwhile = watch();
    await deviceAnswers(home);
    const count = telegram.chat(OWNER).filter(isAnswer).length;
    if (count !== 1) throw new Error(`answered ${count} times`);
    return {
      times: {
        "its systemd is up": booted,
        "the message's answer": meanwhile,
        "the device answers": watch(),
      },
    };
  });
  await recorder.step("the gateway is taken away too", async () => {
    for (const service of ["agent", "bridge", "gateway"]) {
      const program = service === "gateway" ? `node ${ARCHIVE}/edgecall.cjs` : "edgecall";
      await typed(`sudo ${program} ${service} uninstall --purge`);
    }
    const left = await leftOn(hub);
    if (left !== "") throw new Error(`left on hub:\n${left}`);
    return {};
  });
}

let updates = 0;

function say({ telegram }: Home, word: string): void {
  updates += 1;
  const text = script(calls("hub", "system_info"), { text: `${word}: $results` });
  const from = { id: OWNER, is_bot: false, first_name: "P" };
  const chat = { id: OWNER, type: "private" };
  telegram.push({ update_id: updates, message: { message_id: updates, from, chat, text } });
}

/** Asks until the device's own answer comes: after a start of the gateway its bridge takes a moment. */
async function deviceAnswers(home: Home): Promise<void> {
  const texts = () => home.telegram.chat(OWNER).map(({ text }) => text);
  const answered = async () => {
    const word = `asked-${updates + 1}`;
    say(home, word);
    const answer = () => texts().find((text) => text.includes(`${word}: `));
    return (await until(answer, { ...PATIENT, what: "an answer" })).includes("hostname: hub");
  };
  await until(answered, { ...PATIENT, every: 500, what: "the device's answer in the chat" }).catch(
    (error: unknown) => {
      throw new Error(`${String(error)}: ${JSON.stringify(texts().slice(-3))}`);
    },
  );
}

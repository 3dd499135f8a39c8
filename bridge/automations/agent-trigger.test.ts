/**
 * A rule that acts on a paired agent's value: the agent says in its signed presence whether the condition is so. A real bridge program and
 * Mosquitto; the agent is played by its key.
 */
import { topicOf } from "@edgecall/core/protocol/names.ts";
import type { Truths } from "@edgecall/core/protocol/rules.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { SignedAgent } from "../../test/signed-agent.ts";
import { until } from "../../test/wait.ts";
import { TEST_MS, useActing, WITHIN_MS } from "../testkit/acting.ts";
import { PlayedAgent } from "../testkit/agent.ts";

const acting = useActing();
const { hosted } = acting;
const { played } = hosted;

type Said = Truths[string];

let pi: SignedAgent;
let client: PlayedAgent;

beforeEach(async () => {
  pi = await SignedAgent.make("pi");
  played.home.keys = [{ id: "pi", key: pi.publicKey, n: 0 }];
  client = await PlayedAgent.silent("pi", played.broker.url);
  played.after(() => client.stop());
  await hosted.publisher.plug("fan");
  await hosted.publisher.plug("light");
});

/** The agent's birth, with what it says of conditions. */
const births = (truths?: Truths) => pi.say("presence", { state: "online", ...(truths && { truths }) });
const publish = (text: string) => client.say("presence", text, true);
const says = async (truths?: Truths) => await publish(await births(truths));
const so = (value: boolean, more: Partial<Said> = {}): Truths => ({
  "w-00a1": { version: 1, so: value, ...more },
});

const sentTo = (name: string) => hosted.publisher.sentTo(name).length;

/** The fridge is too warm; the agent knows what that is. */
function warm(more: object = {}) {
  return {
    of: "agent" as const,
    key: pi.publicKey,
    agent: "pi",
    condition: {
      ...{ id: "w-00a1", version: 1, reading: "fridge", field: "celsius", type: "number" as const },
      ...{
        is: "above" as const,
        value: 8,
        unit: "°C",
        hysteresis: 0.5,
        hold_ms: 300_000,
        clear_hold_ms: 300_000,
      },
      ...{ stale_ms: 600_000, repeat: "each_time" as const, tell_own: false },
      ...more,
    },
  };
}

async function placed(more: object = {}, plug = "fan") {
  const rule = acting.rule({ when: [warm(more)], do: [acting.step(await acting.device(`plug-${plug}`))] });
  acting.place(rule);
  return rule;
}

/** A rule on a hosted value acts. By then one that counted what came before it would have acted too. */
async function expectNothing(): Promise<void> {
  const [fan, light] = [sentTo("fan"), sentTo("light")];
  const dial = await acting.device("dial");
  const step = acting.step(await acting.device("plug-light"));
  const control = acting.rule({ when: [acting.above(dial, 50)], do: [step] });
  acting.place(control);
  await acting.isIn(control.id, "armed");
  await acting.turn(60);
  await until(() => sentTo("light") > light, { within: WITHIN_MS, what: "the other rule acts" });
  expect(sentTo("fan")).toBe(fan);
}

describe("an agent's value", { tags: ["needs/mosquitto"], timeout: TEST_MS }, () => {
  test("is unknown until the agent said it; the first word never fires; a step to true does, at once, and is told", async () => {
    await acting.run();
    await says();
    const rule = await placed();
    await acting.isIn(rule.id, "unknown");
    await says(so(true));
    await acting.isIn(rule.id, "waiting");
    await says(so(false, { value: 4.5 }));
    expect((await acting.isIn(rule.id, "armed")).now).toEqual(["pi, fridge.celsius: 4.5 °C"]);
    expect(sentTo("fan")).toBe(0);
    await says(so(true, { value: 9.5 }));
    expect(await acting.ran(rule.id, ({ state }) => state === "done")).toMatchObject({
      because: ["pi, fridge.celsius: 9.5 °C"],
      steps: [{ outcome: "confirmed" }],
    });
    expect(sentTo("fan")).toBe(1);
  });

  test("acts while the gateway is away, also after a restart of the bridge, which knows the key from the signed rule", async () => {
    await acting.run();
    await says(so(false));
    const rule = await placed();
    await acting.isIn(rule.id, "armed");
    const kept = () => JSON.stringify(acting.content().agents ?? {}).includes(pi.publicKey);
    await until(kept, { within: WITHIN_MS, what: "the bridge keeps the agent's number" });
    await acting.kill();
    await played.home.stop();
    // It says that it is ready once a gateway has welcomed it, which never comes.
    acting.run().catch(() => undefined);
    await says(so(true));
    await until(() => sentTo("fan") === 1, { within: WITHIN_MS, what: "the fan is told" });
  });

  test("is unknown while the agent is offline, and a step that was missed meanwhile runs later", async () => {
    await acting.run();
    await says(so(false));
    const rule = await placed();
    await acting.isIn(rule.id, "armed");
    await publish(await pi.say("presence", { state: "offline", reason: "last will" }));
    await acting.isIn(rule.id, "unknown");
    await says(so(true));
    await until(() => sentTo("fan") === 1, { within: WITHIN_MS, what: "the fan is told" });
  });
});

describe("a word that is not the agent's of now", { tags: ["needs/mosquitto"], timeout: TEST_MS }, () => {
  beforeEach(async () => {
    await acting.dial(10);
    await acting.run();
    await says(so(false));
    const rule = await placed();
    await acting.isIn(rule.id, "armed");
  });

  test("forged on the broker: unsigned, by another key, signed for another topic or agent, changed below its signature", async () => {
    const thief = await SignedAgent.make("pi");
    thief.n = pi.n + 1_000;
    const other = await SignedAgent.make("other");
    const real = await births(so(false));
    const truths = so(true);
    const forged = [
      JSON.stringify({ state: "online", boot_id: pi.bootId, n: pi.n + 100, truths }),
      await thief.say("presence", { state: "online", truths }),
      await pi.say("capabilities", { state: "online", truths }),
      await other.say("presence", { state: "online", truths }),
      real.replace('"so":false', '"so":true'),
      real.replace(/^\{/, `{"truths":${JSON.stringify(truths)},`),
      real.replace(/,"sig"/, `,"truths":${JSON.stringify(truths)},"sig"`),
    ];
    for (const text of forged) await publish(text);
    await expectNothing();
  });

  test("a true word of before, said again: now, and to a bridge that starts anew", async () => {
    const before = await births(so(true));
    await says(so(false));
    await publish(before);
    await publish(await births(so(false)));
    await acting.kill();
    await publish(before);
    await acting.run();
    await publish(before);
    await expectNothing();
  });

  test("of another rule, another version, and of another agent that has a key here", async () => {
    const other = await SignedAgent.make("other");
    played.home.send({ t: "keys", keys: [{ id: "other", key: other.publicKey, n: 0 }], part: true });
    await says({
      ...so(false),
      "w-00a2": { version: 1, so: true },
      constructor: { version: 1, so: true },
    });
    await says({ ...so(true, { version: 2 }) });
    await says(so(false));
    const text = await other.say("presence", { state: "online", truths: so(true) });
    const topic = topicOf("evoclaw", "other", "presence");
    await client.client.publishAsync(topic, text, { qos: 1, retain: true });
    await expectNothing();
  });

  test("after the agent's key was revoked", async () => {
    played.home.send({ t: "keys", keys: [{ id: "pi", key: null, n: 0 }], part: true });
    await says(so(true));
    await expectNothing();
  });
});

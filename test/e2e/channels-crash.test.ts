/** An answer reaches the chat whatever dies on the way, and no part of it twice without need. */
import { afterAll, expect, test } from "vitest";
import { OWNER, onTelegram } from "../platforms/people.ts";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { useStack } from "./stack.ts";

const vars: Record<string, string> = {};
const stack = useStack({ vars });
const person = await onTelegram((path, init) => fetch(`${stack.gateway.url}${path}`, init));
vars.CHANNELS = JSON.stringify([person.settings]);
afterAll(() => person.server.close());

const shown = (text: string) => person.fake.chat(Number(OWNER)).filter((one) => one.text.includes(text));

test("the gateway is killed between its acknowledgement and the answer", async () => {
  const said = await person.say(script({ hang: "before" }, { text: "after the crash" }), OWNER, {
    delivery: "1",
  });
  expect(said.status).toBe(200);
  await until(() => stack.model.requests.length > 0, { what: "the model is asked" });
  await stack.worker.kill();
  await stack.startWorker();
  await until(() => shown("after the crash").length > 0, { within: 30_000, what: "the answer" });
  const again = await person.say(script({ text: "a second run" }), OWNER, { delivery: "1" });
  expect(again.status).toBe(200);
  await person.say("/help", OWNER);
  await until(() => shown("in your own words").length > 0, { what: "the help that was asked for later" });
  expect(shown("after the crash")).toHaveLength(1);
  expect(shown("a second run")).toHaveLength(0);
});

test("the platform is down when the turn ends, and the gateway is killed while it waits: parts that arrived stay the only ones", async () => {
  const parts = ["first", "second"].map((name) => `${name} `.repeat(600));
  const messages = () => person.server.calls.filter(({ path }) => path.endsWith("/sendMessage")).length;
  const before = messages();
  person.server.limit(
    3,
    () => ({ status: 503 }),
    (path) => path.endsWith("/sendMessage") && messages() > before,
  );
  await person.say(script({ text: parts.join("\n\n") }), OWNER);
  await until(() => person.server.calls.some(({ status }) => status === 503), { what: "a refusal" });
  expect(shown("first first")).toHaveLength(1);
  await stack.worker.kill();
  await stack.startWorker();
  await until(() => shown("second second").length > 0, { within: 30_000, what: "the rest" });
  expect(shown("first first")).toHaveLength(1);
});

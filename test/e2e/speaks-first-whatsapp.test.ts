/** Rules on WhatsApp, which delivers nothing unasked when a day has passed, unless it is an approved template. */
import { afterAll, expect, test } from "vitest";
import { onWhatsApp } from "../platforms/on-whatsapp.ts";
import { OWNER } from "../platforms/people.ts";
import { waitForText } from "../platforms/waiting.ts";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { count, messageWith, rulesOf, setBack, shown, tool } from "./rule-chats.ts";
import { useStack } from "./stack.ts";
import { writtenBefore } from "./stored-rows.ts";

const HOUR_MS = 3_600_000;
const vars: Record<string, string> = { GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" };
const stack = useStack({ vars });
const post = (path: string, init: RequestInit) => fetch(`${stack.gateway.url}${path}`, init);
const without = await onWhatsApp(post);
/** With a template. */
const alerts = await onWhatsApp((path, init) => post(path.replace("/family", "/alerts"), init));
vars.CHANNELS = JSON.stringify([
  without.settings,
  { ...alerts.settings, connection: "alerts", alert_template: "edgecall_alert" },
]);
/** The reminder's time has come. */
const comesDue: Parameters<typeof setBack>[1] = ({ id }, home) => {
  const at = Date.now() - 1_000;
  home
    .prepare("UPDATE rule SET due = ?, handled = ?, rule = json_set(rule, '$.schedule.at', ?) WHERE id = ?")
    .run(at, at - HOUR_MS, at, id);
};
afterAll(() => Promise.all([without, alerts].map(({ server }) => server.close())));

test("a rule's confirmation says what WhatsApp delivers; after a day nothing comes, or an approved template", async () => {
  const tea = () => script(tool("remind", { text: "*tea* at\nfour", in_minutes: 600 }), { text: "yes" });
  const sent = await without.say(tea(), OWNER);
  const made = await messageWith(sent, "Reminds you here once", "Undo");
  expect(shown(made)).toContain("Here I can only write within 24 hours of your last message.");
  const other = await alerts.say(tea(), OWNER);
  expect((await messageWith(other, "Reminds you here once", "Undo")).text).not.toContain("within 24 hours");
  await until(async () => (await rulesOf(stack)).length === 2, { what: "two rules" });

  without.fake.isWindowOpen = false;
  alerts.fake.isWindowOpen = false;
  // An answer that comes too late waits until the person writes. An approved template does not wait behind it.
  await alerts.say(script({ text: "too late" }), OWNER);
  await stack.worker.logged("reply.postponed");
  let isBack = false;
  await setBack(stack, (rule, home) => {
    if (!isBack) writtenBefore(stack.gatewayDir, 25 * HOUR_MS);
    isBack = true;
    comesDue(rule, home);
  });
  // The bridge wakes Home.
  const alert = await waitForText(other, "⏰", 60_000);
  expect(shown(alert)).toBe("Home a: ⏰ *tea* at four");
  await stack.worker.logged("rule.not_delivered");
  expect(count(sent, "⏰")).toBe(0);
  expect(count(other, "too late")).toBe(0);
}, 180_000);

test("a reminder whose chat was begun anew, and that WhatsApp refuses: by the template, or shown as not delivered", async () => {
  for (const { fake } of [without, alerts]) fake.isWindowOpen = true;
  const tea = () => script(tool("remind", { text: "more tea", in_minutes: 600 }), { text: "yes" });
  const sent = await without.say(tea(), OWNER);
  await messageWith(sent, "more tea", "Undo");
  const other = await alerts.say(tea(), OWNER);
  await messageWith(other, "more tea", "Undo");
  for (const chat of [without, alerts]) await chat.say("/new", OWNER);
  for (const { fake } of [without, alerts]) fake.isWindowOpen = false;
  await setBack(stack, comesDue);
  const alert = await waitForText(other, "⏰ more tea", 60_000);
  expect(shown(alert)).toBe("Home a: ⏰ more tea");
  await stack.worker.logged("reply.dead");
  await stack.worker.logged("rule.not_delivered");
  expect(count(sent, "⏰")).toBe(0);
}, 180_000);

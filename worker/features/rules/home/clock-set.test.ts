/** The clock of a gateway at home is set, as on a Pi without a clock chip. Home has no steady clock. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { view } from "../../../../test/keyed-home.ts";
import { at, MINUTE, make, passUntil, T0, told } from "../../../../test/rule-clock.ts";
import { script } from "../../../../test/scripted-model.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { agent, CPU, say, TestBridge } from "../../../../test/workerd.ts";

afterEach(async () => {
  vi.useRealTimers();
  await reset();
});
beforeEach(() => {
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" });
  at(T0);
});

const HOUR = 60 * MINUTE;
const shed = (online: boolean) => agent("shed", { online, tools: [CPU] });

test.each([
  ["3 h ahead", 3 * HOUR],
  ["3 h back", -3 * HOUR],
  ["1 year ahead", 365 * 24 * HOUR],
  ["1 year back", -365 * 24 * HOUR],
])(
  "O11: a hold of presence begins anew when the clock is set %s, and the words say what was measured",
  async (_, by) => {
    const bridge = await TestBridge.connect([shed(true), agent("pi", { tools: [CPU] })]);
    const offline = { name: "Shed", agent_id: "shed", reading: "presence", is: "offline", for_minutes: 5 };
    await say("shed", script(make("watch", offline), { text: "ok" }));
    const says = async (one: ReturnType<typeof agent>) => {
      bridge.send({ t: "agents", agents: [one] });

      await until(async () => (await view(one.id)).online === one.online, { what: `${one.id} is told` });
    };
    await says(shed(false));
    const set = T0 + MINUTE + by;
    // The bridge says something each minute, so its line lives.
    for (let minute = 0; minute <= 4; minute += 1) {
      at(set + minute * MINUTE);
      await says(agent("pi", { online: minute % 2 === 1, tools: [CPU] }));
      await passUntil(set + minute * MINUTE);
    }
    expect(await told("shed")).toEqual([]);
    at(set + 5 * MINUTE);
    await says(agent("pi", { online: true, tools: [CPU] }));
    await until(async () => (await told("shed")).length > 0, { what: "it is told" });
    const [text] = await told("shed");
    const time = new Intl.DateTimeFormat("de-DE", {
      hour: "2-digit",
      minute: "2-digit",
      timeZone: "Europe/Berlin",
    }).format(set);
    expect(text).toContain(`offline since ${time}`);
  },
);

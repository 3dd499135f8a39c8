/** What overtakes what: while Home waits for somebody else, the world goes on, and what it read before is old. */
import { reset, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, test } from "vitest";
import { script } from "../../test/scripted-model.ts";
import { theHome } from "../../test/states.ts";
import { hold } from "../../test/stopping.ts";
import { AGENTS, expectTurns, garden, on, turnsOf } from "../../test/turns.ts";
import { until } from "../../test/wait.ts";
import { say, TestBridge } from "../../test/workerd.ts";
import { Conversation } from "../conversation.ts";

const WITHIN_MS = 20_000;
const water = on("garden", { action: "water" });

// Each test has a home of its own.
afterEach(reset);

test(
  "a call that goes out while another is given up is not said to have reached nobody",
  async () => {
    const bridge = await TestBridge.connect(AGENTS);
    const ids = [crypto.randomUUID(), crypto.randomUUID()];
    const asked = ids.map((id) =>
      say(id, script({ calls: [water] }, { text: "Queued." }, { text: "In the end: $notes" })),
    );
    const [one, other] = await Promise.all(asked);
    // Both are due at one alarm, and the conversation of the first takes its time.
    const late = hold(Conversation, "late", "before");
    await runInDurableObject(theHome(), async (_, { storage }) => {
      storage.sql.exec("UPDATE call SET deadline = ?", Date.now() - 1);
      await storage.setAlarm(Date.now());
    });
    await late.reached();
    bridge.send({ t: "agent", agent: garden(true) });
    const call = await until(() => bridge.calls()[0]?.id, { what: "the queued call goes out" });
    late.release();
    const sent = one?.body.calls[0]?.id === call ? 0 : 1;
    expect([one, other][sent]?.body.calls[0]?.id).toBe(call);
    const unsent = async () => (await turnsOf(ids[1 - sent] ?? ""))[1];
    await until(async () => (await unsent())?.status === "done", { what: "the one is given up" });
    expect((await unsent())?.answer).toContain("Nothing was run");
    bridge.report(call, "garden", { status: "success", result: "watered" });
    await expectTurns(ids[sent] ?? "", [
      { answer: "Queued.", calls: [{ result: "watered" }] },
      { answer: /watered/ },
    ]);
    expect(bridge.calls()).toHaveLength(1);
  },
  WITHIN_MS,
);

/** The states of a Conversation in which one of the gateway's own tools runs, stopped there. */
import { expect } from "vitest";
import { fetching, html, withWeb } from "../../../test/gateway-web.ts";
import { script } from "../../../test/scripted-model.ts";
import { stopConversationWhile } from "../../../test/states.ts";
import { hold } from "../../../test/stopping.ts";
import { expectTurns, on, turnsOf } from "../../../test/turns.ts";
import { until } from "../../../test/wait.ts";
import { ask, say } from "../../../test/workerd.ts";
import { Home } from "../../home.ts";

const PAGE = "https://a.example/";
const read = { text: "It says: $results" };

async function linesOf(id: string) {
  const [turn] = await turnsOf(id);
  const { entries } = (await (await ask("/v1/audit?agent=@gateway")).json()) as {
    entries: Array<{ request_id: string; call_id: string; result: string }>;
  };
  return entries.filter(({ request_id }) => request_id === turn?.turn);
}

stopConversationWhile({
  "a gateway's tool runs in it": async ({ how, id, stop }) => {
    let begun = 0;
    let open = false;
    await withWeb(id, async () => {
      begun += 1;
      await until(() => open, { within: 20_000, what: "the page is let go" });
      return html("first try");
    });
    const waiting = say(id, script({ calls: [fetching(PAGE)] }, read));
    await until(() => begun === 1);
    await stop(async () => {
      if (how === "abort") await withWeb(id, () => html("second try"));
      open = true;
    });
    const { body } = await waiting;
    expect(body.status).toBe("done");
    expect(body.answer).toContain(how === "evict" ? "first try" : "second try");
    await expectTurns(id, [{ answer: body.answer, calls: [{ status: "success" }] }]);
    expect(await linesOf(id)).toMatchObject([{ call_id: body.calls[0]?.id, result: "success" }]);
  },

  "a gateway's tool is done, and Home has its line or not": async ({ how, id, stop }) => {
    await withWeb(id, () => html("first try"));
    const record = hold(Home, "calls.record", how === "evict" ? "before" : "after");
    const waiting = say(id, script({ calls: [fetching(PAGE)] }, read));
    await record.reached();
    await stop(async () => {
      if (how === "abort") await withWeb(id, () => html("second try"));
      record.release();
    });
    const { body } = await waiting;
    expect(body.answer).toContain(how === "evict" ? "first try" : "second try");
    // After a crash it runs twice, and still gives one line, because it is one call.
    expect(await linesOf(id)).toMatchObject([{ call_id: body.calls[0]?.id, result: "success" }]);
  },

  "a gateway's tool and a device's action are out together": async ({ how, id, bridge, stop }) => {
    let begun = 0;
    let open = false;
    const cpu = on("pi", { action: "cpu" });
    await withWeb(id, async () => {
      begun += 1;
      await until(() => open, { within: 20_000, what: "the page is let go" });
      return html("first try");
    });
    const waiting = say(id, script({ calls: [cpu, fetching(PAGE)] }, read));
    const call = await until(() => begun === 1 && bridge.calls()[0]?.id);
    await stop(async () => {
      if (how === "abort") await withWeb(id, () => html("second try"));
      open = true;
    });
    bridge.report(call, "pi", { status: "success", tool: "cpu", result: "load 0.5" });
    const { body } = await waiting;
    expect(body.answer).toMatch(how === "evict" ? /load 0\.5.*first try/s : /load 0\.5.*second try/s);
    expect(bridge.calls()).toHaveLength(1);
  },
});

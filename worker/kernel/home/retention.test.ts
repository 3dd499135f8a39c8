import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { TextKind } from "@edgecall/core/protocol/frames.ts";
import { expect, test } from "vitest";
import { madeHome } from "../../../test/made-home.ts";
import { HOME_FEATURES } from "../../home.ts";
import { AgentRows, agentRowsOf } from "./agents/agent-rows.ts";
import { AgentUpdates, agentUpdatesOf } from "./agents/agent-updates.ts";
import { HostedDevices } from "./agents/hosted-devices.ts";
import { ServedAgents } from "./agents/served-agents.ts";
import { NO_TEXTS } from "./agents/verify-presence.ts";
import { openHome } from "./home.ts";
import { KEEP_SETTLED_MS, ledgerOf } from "./ledger/ledger.ts";
import { questionsOf } from "./ledger/questions.ts";
import { prune } from "./retention.ts";

const HOUR_MS = 3_600_000;
const CALLER = { principal: "anna", role: "owner", channel: "api" } as const;
const ORDER = { command: "tool", payload: {}, silenceMs: 1_000, totalMs: 1_000, idempotent: true };

/** An agent without adverts. */
const UNREAD = { kept: new Set<TextKind>(), texts: NO_TEXTS };
const everybody = { serves: () => true, standing: () => "none" as const };

test("D12 an agent whose bridge is silent was last seen when the bridge was, not at its last change", async () => {
  const now = Date.now();
  const MINUTE_MS = 60_000;
  await runInDurableObject(await madeHome(), async (_, ctx) => {
    const bridge = { has: () => false, lastSeenAt: () => null, confirmedUntil: () => now - MINUTE_MS };
    const rows = new AgentRows(ctx.storage, bridge, everybody);
    const devices = new HostedDevices(ctx.storage, rows, everybody);
    const agents = new AgentUpdates(rows, bridge, env);
    const told = (id: string, online: boolean) => ({
      state: { id, online, last_seen: now - 15 * MINUTE_MS, foreign: false },
      ...UNREAD,
      problem: undefined,
      isNewRun: false,
    });
    await agents.update(told("here", true), false);
    await agents.update(told("gone", false), false);
    const seen = new ServedAgents(rows, devices, everybody, bridge)
      .roster(now)
      .map(({ id, lastSeen }) => [id, lastSeen]);
    expect(seen).toEqual([
      ["gone", now - 15 * MINUTE_MS],
      ["here", now - MINUTE_MS],
    ]);
  });
});

test("an agent that is gone for long is deleted, unless a call waits for it; a bridge's restart keeps the last seen time", async () => {
  const now = Date.now();
  const DAY_MS = 24 * HOUR_MS;
  const told = (id: string, online: boolean, last_seen: number | null) => ({
    state: { id, online, last_seen, foreign: false },
    ...UNREAD,
    problem: undefined,
    isNewRun: false,
  });
  const stub = await madeHome();
  await runInDurableObject(stub, async (_, ctx) => {
    const home = openHome(ctx, env, HOME_FEATURES);
    const agents = agentUpdatesOf(home);
    const ledger = ledgerOf(home);
    await agents.update(told("here", true, now - 60 * DAY_MS), false);
    await agents.update(told("gone", false, now - 31 * DAY_MS), false);
    await agents.update(told("lately", false, now - 29 * DAY_MS), false);
    await agents.update(told("wanted", false, now - 31 * DAY_MS), false);
    await agents.update(told("never", false, null), false);
    // The bridge was restarted, and has only a retained advert.
    await agents.update(told("gone", false, null), false);
    ledger.add(
      { id: crypto.randomUUID(), conversation: null, agent: "wanted", caller: CALLER, order: ORDER },
      1,
      "waiting",
      now,
    );
    prune(home, now - HOUR_MS);
    prune(home, now);
    expect(agentRowsOf(home).ids()).toEqual(["here", "lately", "never", "wanted"]);
  });
});

test("settled calls are deleted after two days, and searched for once an hour", async () => {
  const stub = await madeHome();
  await runInDurableObject(stub, async (_, ctx) => {
    const home = openHome(ctx, env, HOME_FEATURES);
    const now = Date.now();
    const settled = (settledAt: number) => {
      const id = crypto.randomUUID();
      ledgerOf(home).add(
        { id, conversation: null, agent: "pi", caller: CALLER, order: ORDER },
        1,
        "sent",
        now,
      );
      ledgerOf(home).settle(id, { status: "success", text: "", elapsedMs: 1 }, true, settledAt);
      return id;
    };
    const old = settled(now - KEEP_SETTLED_MS - 1);
    const young = settled(now - KEEP_SETTLED_MS + HOUR_MS / 2);
    // The first time is only noted.
    expect(prune(home, now - HOUR_MS)).toBe(false);
    expect(prune(home, now)).toBe(true);
    expect(ledgerOf(home).get(old)).toBeUndefined();
    expect(ledgerOf(home).get(young)).toBeDefined();
    expect(prune(home, now + HOUR_MS - 1)).toBe(false);
    expect(ledgerOf(home).get(young)).toBeDefined();
    expect(prune(home, now + HOUR_MS)).toBe(true);
    expect(ledgerOf(home).get(young)).toBeUndefined();
  });
});

test("an answer is kept from the time when it was given, because the device may be offline, and ask again", async () => {
  const stub = await madeHome();
  await runInDurableObject(stub, async (_, ctx) => {
    const home = openHome(ctx, env, HOME_FEATURES);
    const now = Date.now();
    const ask = (id: string, answeredAt: number) => {
      const asked = { id, call: id, conversation: "a/api/c", agent: "pi", agentQuestion: "q", text: "Blue?" };
      const expiresAt = now + 4 * KEEP_SETTLED_MS;
      questionsOf(home).add(
        { ...asked, options: [], approval: null, expiresAt },
        now - 3 * KEEP_SETTLED_MS,
        undefined,
      );
      const answered = questionsOf(home).answer(
        id,
        "yes",
        { principal: "anna", mayApprove: true, how: "press" },
        answeredAt,
      );
      expect(answered.ok).toBe(true);
    };
    ask("just", now);
    ask("long", now - KEEP_SETTLED_MS - 1);
    prune(home, now - HOUR_MS);
    prune(home, now);
    expect(questionsOf(home).known("just", "q")).toMatchObject({ answer: "yes" });
    expect(questionsOf(home).known("long", "q")).toBeUndefined();
  });
});

test("an expired device code is deleted, with its broker login", async () => {
  const stub = await madeHome();
  await runInDurableObject(stub, async (_, ctx) => {
    const now = Date.now();
    for (const [finder, expires] of [
      ["old", now],
      ["new", now + 1],
    ])
      ctx.storage.sql.exec(
        "INSERT INTO device_code (finder, secret_hash, broker, made_by, expires_at) VALUES (?, 'h', '{}', 'anna', ?)",
        finder,
        expires,
      );
    prune(openHome(ctx, env, HOME_FEATURES), now - HOUR_MS);
    prune(openHome(ctx, env, HOME_FEATURES), now);
    expect(ctx.storage.sql.exec("SELECT finder FROM device_code").toArray()).toEqual([{ finder: "new" }]);
  });
});

test.each([
  ["3 h ahead", 3, true],
  ["3 h back", -3, true],
  ["1 year ahead", 365 * 24, false],
  ["1 year back", -365 * 24, false],
])(
  "O11: when the clock is set %s, nothing is deleted by a time that nobody believes yet",
  async (_, hours, isSmall) => {
    const now = Date.now();
    await runInDurableObject(await madeHome(), async (_, ctx) => {
      const home = openHome(ctx, env, HOME_FEATURES);
      prune(home, now);
      const set = now + hours * HOUR_MS;
      expect(prune(home, set)).toBe(isSmall);
      // It is set right again within the hour.
      expect(prune(home, now + 60_000)).toBe(isSmall);
      // It goes on, and is believed after an hour.
      prune(home, set);
      expect(prune(home, set + HOUR_MS)).toBe(true);
    });
  },
);

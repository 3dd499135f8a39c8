import type { Presence } from "@edgecall/core/protocol/mqtt.ts";
import { AGENTS_MAX, HEARTBEAT_LOST_MS } from "@edgecall/core/protocol/names.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { BROKER_GRACE_MS, RETAINED_ONLINE_MS, Roster, STRANGERS_MAX, UNNAMED_MAX_BYTES } from "./presence.ts";

const OURS = { capabilities: "thermometer", features: ["v1"] };
const EVOCLAW = { capabilities: "thermometer" };
const ONLINE: Presence = { state: "online", boot_id: "b1" };
const OFFLINE: Presence = { state: "offline", boot_id: "b1", reason: "last will" };

let now = 0;
let roster: Roster;

beforeEach(() => {
  now = 1_000;
  roster = new Roster({ now: () => now, wall: () => 1_700_000_000_000 + now });
  roster.brokerConnected();
});

function advertise(id: string, advert: { capabilities: string; features?: string[] }, live = false): void {
  roster.advertised(id, JSON.stringify(advert), advert, live);
}

function say(id: string, presence: Presence, live: boolean): void {
  roster.onPresence(id, JSON.stringify(presence), presence, live);
}

describe("our own agents", () => {
  const cases: { name: string; play(): void; online: boolean; reason?: string }[] = [
    {
      name: "an advert alone is no sign of life",
      play: () => {},
      online: false,
      reason: "it has not said that it is online since the bridge started",
    },
    { name: "a retained online is believed at once", play: () => say("pi", ONLINE, false), online: true },
    {
      name: "and for a while",
      play: () => {
        say("pi", ONLINE, false);
        now += RETAINED_ONLINE_MS - 1;
      },
      online: true,
    },
    {
      name: "but not without a heartbeat",
      play: () => {
        say("pi", ONLINE, false);
        now += RETAINED_ONLINE_MS;
      },
      online: false,
      reason: "no heartbeat since the bridge started",
    },
    {
      name: "with a heartbeat it stays",
      play: () => {
        say("pi", ONLINE, false);
        now += 30_000;
        roster.heartbeat("pi");
        now += HEARTBEAT_LOST_MS - 1;
      },
      online: true,
    },
    {
      name: "an event is a sign of life too",
      play: () => {
        say("pi", ONLINE, false);
        now += 30_000;
        roster.onMessage("pi");
        now += RETAINED_ONLINE_MS + 1;
      },
      online: true,
    },
    {
      name: "90 s of silence end it",
      play: () => {
        say("pi", ONLINE, true);
        now += HEARTBEAT_LOST_MS;
      },
      online: false,
      reason: "no heartbeat for 90 s",
    },
    {
      name: "a last will takes effect at once, with its reason",
      play: () => {
        say("pi", ONLINE, true);
        say("pi", OFFLINE, true);
      },
      online: false,
      reason: "last will",
    },
    {
      name: "the will of an earlier boot does not count",
      play: () => {
        say("pi", { state: "online", boot_id: "b2" }, true);
        say("pi", OFFLINE, true);
      },
      online: true,
    },
    {
      name: "a heartbeat after an offline notice shows that the notice was stale",
      play: () => {
        say("pi", OFFLINE, false);
        roster.heartbeat("pi");
      },
      online: true,
    },
    {
      name: "heartbeats without any presence are not enough",
      play: () => roster.heartbeat("pi"),
      online: false,
      reason: "it has not said that it is online since the bridge started",
    },
    {
      name: "a cleared presence topic says nothing any more",
      play: () => {
        say("pi", ONLINE, true);
        roster.presenceCleared("pi");
      },
      online: false,
      reason: "it has not said that it is online since the bridge started",
    },
  ];
  test.each(cases)("$name", ({ play, online, reason }) => {
    advertise("pi", OURS);
    play();
    expect(roster.judge("pi")).toEqual({ online, reason, foreign: false });
  });

  test("presence alone does not make an agent", () => {
    say("pi", OFFLINE, false);
    expect(roster.judge("pi")).toBeUndefined();
    expect(roster.snapshot()).toEqual([]);
  });
});

describe("foreign agents", () => {
  const cases: { name: string; play(): void; online: boolean; reason?: string }[] = [
    {
      name: "never online by the advert alone, not even a live one",
      play: () => advertise("claw", EVOCLAW, true),
      online: false,
      reason: "no heartbeat since the bridge started",
    },
    { name: "online from the first heartbeat", play: () => roster.heartbeat("claw"), online: true },
    { name: "or the first report", play: () => roster.answered("claw"), online: true },
    {
      name: "until 90 s of silence",
      play: () => {
        roster.heartbeat("claw");
        now += HEARTBEAT_LOST_MS;
      },
      online: false,
      reason: "no heartbeat for 90 s",
    },
    {
      name: "silence during a call is work",
      play: () => {
        roster.heartbeat("claw");
        now += 60_000;
        roster.busy("claw", now + 80_000);
        now += 79_999;
      },
      online: true,
      reason: "busy with a call",
    },
    {
      name: "but not for ever",
      play: () => {
        roster.heartbeat("claw");
        now += 60_000;
        roster.busy("claw", now + 80_000);
        now += 80_000;
      },
      online: false,
      reason: "no heartbeat for 90 s",
    },
    {
      name: "deaf in spite of heartbeats",
      play: () => {
        roster.heartbeat("claw");
        roster.deaf("claw", "answers heartbeats but no calls");
        roster.heartbeat("claw");
        advertise("claw", EVOCLAW, false);
      },
      online: false,
      reason: "answers heartbeats but no calls",
    },
    {
      name: "an answer ends deafness",
      play: () => {
        roster.heartbeat("claw");
        roster.deaf("claw", "answers heartbeats but no calls");
        roster.answered("claw");
      },
      online: true,
    },
    {
      name: "and so does a fresh advert",
      play: () => {
        roster.heartbeat("claw");
        roster.deaf("claw", "answers heartbeats but no calls");
        advertise("claw", EVOCLAW, true);
      },
      online: true,
    },
  ];
  test.each(cases)("$name", ({ play, online, reason }) => {
    advertise("claw", EVOCLAW);
    play();
    expect(roster.judge("claw")).toEqual({ online, reason, foreign: true });
  });
});

test("D12 Home regularly learns when a deaf agent was last heard", () => {
  advertise("claw", EVOCLAW);
  roster.heartbeat("claw");
  roster.deaf("claw", "answers heartbeats but no calls");
  const told = () =>
    roster.changes().map((change) => (change.kind === "agent" ? change.agent.last_seen : null));
  expect(told()).toHaveLength(1);
  const times: unknown[] = [];
  for (let minute = 0; minute < 15 * 2; minute += 1) {
    now += 30_000;
    roster.heartbeat("claw");
    times.push(...told());
  }
  // Every two minutes of the fifteen, and the last time is no older than that.
  expect(times).toHaveLength(7);
  expect(1_700_000_000_000 + now - Number(times.at(-1))).toBeLessThanOrEqual(120_000);
  // An online agent needs no such report.
  roster.answered("claw");
  roster.changes();
  now += 600_000;
  roster.heartbeat("claw");
  expect(told()).toEqual([]);
});

describe("the broker", () => {
  beforeEach(() => {
    advertise("pi", OURS);
    advertise("claw", EVOCLAW);
    say("pi", ONLINE, true);
    roster.heartbeat("claw");
    roster.snapshot();
  });

  test("a short interruption causes no change", () => {
    roster.brokerLost();
    now += BROKER_GRACE_MS - 1;
    expect(roster.changes()).toEqual([]);
    roster.brokerConnected();
    now += BROKER_GRACE_MS - 1;
    expect(roster.changes()).toEqual([]);
    say("pi", ONLINE, false);
    now += BROKER_GRACE_MS;
    expect(roster.changes()).toEqual([]);
  });

  test("after a short interruption presence has to be reported again", () => {
    roster.brokerLost();
    now += 1;
    roster.brokerConnected();
    now += BROKER_GRACE_MS;
    expect(roster.judge("pi")?.online).toBe(false);
    expect(roster.judge("claw")?.online).toBe(true);
  });

  test("a long interruption takes all agents offline, and the retained topics bring our own agents back", () => {
    roster.brokerLost();
    now += BROKER_GRACE_MS;
    const gone = roster.changes();
    expect(gone).toHaveLength(2);
    for (const change of gone) {
      expect(change).toMatchObject({ agent: { online: false, reason: "the broker is not reachable" } });
    }
    roster.brokerConnected();
    say("pi", ONLINE, false);
    expect(roster.judge("pi")?.online).toBe(true);
    expect(roster.judge("claw")).toMatchObject({
      online: false,
      reason: "no heartbeat since the broker came back",
    });
    roster.heartbeat("claw");
    expect(roster.judge("claw")?.online).toBe(true);
  });
});

describe("what Home receives", () => {
  test("heartbeats are no change, and last_seen is the time of the last one", () => {
    advertise("claw", EVOCLAW);
    roster.heartbeat("claw");
    expect(roster.changes()).toHaveLength(1);
    now += 30_000;
    roster.heartbeat("claw");
    expect(roster.changes()).toEqual([]);
    expect(roster.snapshot()).toEqual([
      {
        id: "claw",
        online: true,
        foreign: true,
        last_seen: 1_700_000_000_000 + now,
        capabilities: JSON.stringify(EVOCLAW),
      },
    ]);
  });

  test("a new advert, new tools and silence are changes", () => {
    advertise("pi", OURS);
    say("pi", ONLINE, true);
    roster.snapshot();
    roster.toolsAdvertised("pi", "{}");
    expect(roster.changes()).toMatchObject([{ kind: "agent", agent: { tools: "{}" } }]);
    advertise("pi", { ...OURS, capabilities: "barometer" });
    expect(roster.changes()).toHaveLength(1);
    now += HEARTBEAT_LOST_MS;
    expect(roster.changes()).toMatchObject([{ kind: "agent", agent: { online: false } }]);
    expect(roster.changes()).toEqual([]);
  });

  test("an agent whose advert is removed is gone, and stays gone in spite of heartbeats", () => {
    advertise("pi", OURS);
    say("pi", ONLINE, true);
    roster.snapshot();
    roster.withdrawn("pi");
    expect(roster.changes()).toEqual([{ kind: "gone", id: "pi" }]);
    roster.heartbeat("pi");
    expect(roster.changes()).toEqual([]);
    advertise("pi", OURS, true);
    expect(roster.changes()).toMatchObject([{ kind: "agent", agent: { id: "pi", online: true } }]);
  });

  test("invented ids do not displace agents", () => {
    for (let i = 0; i < AGENTS_MAX - 1; i++) advertise(`a${i}`, OURS);
    roster.heartbeat("noise");
    expect(roster.advertised("real", JSON.stringify(OURS), OURS, true)).toBe(true);
    expect(roster.judge("noise")).toBeUndefined();
    expect(roster.advertised("late", JSON.stringify(OURS), OURS, true)).toBe(false);
    expect(roster.snapshot()).toHaveLength(AGENTS_MAX);
  });
});

describe("S11 limited room", () => {
  const named = new Set(["pi", "late"]);
  const serve = (others: "any" | "stranger") => roster.serve((id) => (named.has(id) ? "named" : others));
  const big = { capabilities: "x".repeat(40_000), features: ["v1"] };

  test("S11 before Home has named its agents: agents without room are requested again, and then have room first", () => {
    for (let i = 0; i < AGENTS_MAX + 50; i += 1) advertise(`ghost-${i}`, OURS);
    expect(roster.advertised("pi", JSON.stringify(OURS), OURS, false)).toBe(false);
    serve("stranger");
    expect(roster.isMissingAny(named)).toBe(true);
    expect(roster.isMissingAny(named)).toBe(false);
    expect(roster.advertised("pi", JSON.stringify(OURS), OURS, false)).toBe(true);
    expect(roster.judge("pi")).toMatchObject({ foreign: false });
  });

  test("S11 of agents that are not served only a few ids are stored, and they displace no agent", () => {
    serve("stranger");
    advertise("pi", OURS);
    say("pi", ONLINE, true);
    for (let i = 0; i < 600; i += 1) advertise(`ghost-${i}`, big, true);
    for (let i = 0; i < 600; i += 1) roster.toolsAdvertised(`ghost-${i}`, "y".repeat(40_000));
    const told = roster.snapshot();
    expect(told).toHaveLength(1 + STRANGERS_MAX);
    expect(JSON.stringify(told).length).toBeLessThan(20_000);
    expect(told.find(({ id }) => id === "pi")).toMatchObject({ online: true });
    expect(told.filter(({ id }) => id !== "pi").every(({ online }) => !online)).toBe(true);
    advertise("late", OURS);
    expect(roster.judge("late")).toBeDefined();
  });

  test("S11 when all agents are served, the number of adverts is bounded, and a named agent replaces one of them", () => {
    serve("any");
    for (let i = 0; i < AGENTS_MAX; i += 1) advertise(`any-${i}`, i < 1_700 ? big : OURS);
    const bytes = JSON.stringify(roster.snapshot()).length;
    expect(bytes).toBeLessThan(2 * UNNAMED_MAX_BYTES);
    expect(roster.advertised("any-more", JSON.stringify(OURS), OURS, true)).toBe(false);
    expect(roster.advertised("pi", JSON.stringify(big), big, true)).toBe(true);
    expect(roster.snapshot().length).toBeLessThanOrEqual(AGENTS_MAX);
  });

  test("S11 an agent that is paired later is requested again", () => {
    serve("stranger");
    advertise("newcomer", OURS);
    named.add("newcomer");
    serve("stranger");
    expect(roster.isMissingAny(named)).toBe(true);
    advertise("newcomer", OURS);
    expect(roster.judge("newcomer")).toMatchObject({ foreign: false });
    named.delete("newcomer");
  });
});

/**
 * Rules that act on devices of a real Home Assistant: a home with gateway, broker and a bridge of its own, which reaches Home Assistant by
 * a link that can be cut. What is told of each run is compared with what the devices did.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AutomationRun } from "@edgecall/core/protocol/automation.ts";
import { expect, test } from "vitest";
import { PlayedPublisher } from "../../bridge/testkit/publisher.ts";
import type { AutomationUndone, AutomationView } from "../../worker/features/automations/contract.ts";
import { Link } from "../chaos/link.ts";
import { byClock } from "../clock.ts";
import { until } from "../wait.ts";
import { ActingRules } from "./acting-rules.ts";
import type { HomeAssistant } from "./home-assistant.ts";
import { HomeRules, RULE_VARS } from "./home-rules.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { Stack } from "./stack.ts";

/** The lab's set of switches and lights that nothing else uses. */
const SET = -2;
/** Switches that Home Assistant keeps over its restart, persons and trackers. */
export const RULES_NEED = ["person"];
export const RULES_YAML = "input_boolean:\n  guests:\n    name: Guests\n  evening:\n    name: Evening\n";

/** Of a test. */
export const RULES_MS = byClock(3_600_000, 240_000);
/** A device is gone, and a home is empty, after ten minutes. */
const waits = { within: byClock(900_000, 60_000), every: 100 };

type Outcome = AutomationRun["steps"][number]["outcome"];
type Rule = { name: string; when: object[]; do: object[]; over: string; say?: string; only_if?: string };

/** What is said of a light that is told to go on when it is evening. */
const EVENING: readonly [behaviour: string, outcome: Outcome, told?: string][] = [
  // It says that it is on: no one can know that it is not.
  ["liar", "confirmed"],
  ["revert", "unconfirmed", "reported on, and took it back"],
  ["optimistic", "sent"],
  ["dead", "unconfirmed", "it did not answer"],
  ["raises", "unconfirmed", "did not acknowledge the command"],
  ["away", "not_sent", "unavailable"],
];
const darkOf = (behaviour: string) => `Dark: ${behaviour}`;
const conversationOf = (rule: string) => rule.toLowerCase().replace(": ", "-");

export class AssistantRules {
  readonly #assistant: () => HomeAssistant;
  readonly #folder = mkdtempSync(join(tmpdir(), "edgecall-home-assistant-rules-"));
  readonly #bridge: Record<string, string> = {
    BRIDGE_STATE: this.#folder,
    PRESENCE: "Anna=person.anna, Ben=device_tracker.ben",
  };
  readonly #stack = new Stack({ vars: RULE_VARS, bridge: this.#bridge });
  readonly #devices = new HostedDevices(this.#stack);
  readonly #rules = new ActingRules(() => this.#stack.gateway);
  readonly #told = new HomeRules(this.#stack);
  #link: Link | undefined;
  #publisher: PlayedPublisher | undefined;

  /** @param assistant it has started with `RULES_NEED` and `RULES_YAML` */
  constructor(assistant: () => HomeAssistant) {
    this.#assistant = assistant;
  }

  async start(): Promise<void> {
    const assistant = this.#assistant();
    await assistant.addLab(SET);
    await assistant.exposeAll();
    await this.#track("not_home", "not_home");
    await assistant.command({
      type: "person/create",
      name: "Anna",
      device_trackers: ["device_tracker.anna"],
    });
    await assistant.exposeAll();
    const token = await assistant.addUser("rules");
    this.#link = await Link.open({
      to: Number(new URL(assistant.url).port),
      mqtt: false,
      random: Math.random,
    });
    Object.assign(this.#bridge, { HA_URL: `http://127.0.0.1:${this.#link.port}`, HA_TOKEN: token });
    await this.#stack.start();
    const publisher = await PlayedPublisher.connect(this.#stack.mqttUrl);
    this.#publisher = publisher;
    await publisher.config("sensor/dial", {
      name: "Temperature",
      unique_id: "dial-t",
      state_topic: "dial/value",
      device_class: "temperature",
      unit_of_measurement: "°C",
      device: { identifiers: ["dial"], name: "Dial" },
    });
    await this.#turn(10);
    for (const name of ["hall", "guest", "alone"]) {
      await publisher.plug(name);
      await publisher.say(`plugs/${name}/state`, "OFF");
    }
    const named = ["light-works-three", "switch-works-three", "guests", "evening", "dial", "plug-alone"];
    await this.#devices.known(named);
    await this.#make();
  }

  async stop(): Promise<void> {
    await this.#publisher?.stop();
    await this.#stack.stop();
    await this.#link?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** The programs' output, for a test that failed. */
  log(): string {
    return this.#stack.log();
  }

  /** Registers the tests before its restart. */
  before(): void {
    test("persons and trackers are sources of the home, and no devices for models", async () => {
      const ids = (await this.#devices.list()).map(({ id }) => id);
      expect(ids.filter((id) => /anna|ben|person|tracker/.test(id))).toEqual([]);
      expect(this.#stack.model.requests.length).toBeGreaterThan(0);
      expect(JSON.stringify(this.#stack.model.requests)).not.toMatch(/device_tracker|person\.anna/);
      const { presence } = await this.#rules.all();
      expect(presence?.sources).toEqual([
        { name: "Anna", says: "away" },
        { name: "Ben", says: "away" },
      ]);
    });

    test("the gateway is off: a switch of Home Assistant lights a lamp of it; told later, and undone", async () => {
      await this.#stack.worker.kill();
      await this.#service("turn_on", "switch_works three");
      await until(() => this.#did("light_works three", "changed") === 1, {
        ...waits,
        what: "the lamp is on",
      });
      await this.#stack.startWorker();
      const run = await this.#ran("Door", 1);
      expect(run).toMatchObject({ state: "done", steps: [{ outcome: "confirmed" }] });
      expect((await this.#told.toldCount("door", 1, waits.within)).join("\n")).toContain("The lamp is on.");
      const { id } = await this.#rule("Door");
      const undo = { method: "POST", body: JSON.stringify({ firing: 1 }) };
      const response = await this.#stack.gateway.fetch(`/v1/automations/${id}/undo`, undo);
      expect((await response.json()) as AutomationUndone).toMatchObject({ confirmed: true });
      expect(await this.#state("light_works three")).toBe("off");
      expect(this.#did("light_works three", "called")).toBe(2);
    });

    test("each light is told as its state says, and a rule for nobody at home does not run with somebody there", async () => {
      await this.#track("home", "not_home");
      await this.#presenceIs("somebody");
      await this.#set("evening", true);
      const all = EVENING.map(async ([behaviour, outcome, told]) => {
        const name = darkOf(behaviour);
        // One that takes back what it reported is told of when it does.
        const words =
          told === undefined ? [] : await this.#told.toldCount(conversationOf(name), 1, waits.within);
        expect(words.join(" "), behaviour).toContain(told ?? "");
        const { state, steps } = await this.#ran(name, 1);
        expect(steps, behaviour).toMatchObject([{ outcome }]);
        expect(state, behaviour).toBe(told === undefined ? "done" : "stopped");
        const count = this.#did(`light_${behaviour} three`, "called");
        expect(count, behaviour).toBe(outcome === "not_sent" ? 0 : 1);
      });
      await Promise.all(all);
      // What is done with nothing to say, or only sent, has no message of its own.
      for (const behaviour of ["liar", "optimistic"])
        expect(await this.#told.told(conversationOf(darkOf(behaviour)))).toEqual([]);
      expect(await this.#ran("Hall", 1)).toMatchObject({ state: "done", steps: [{ outcome: "confirmed" }] });
      expect(this.#sentTo("hall")).toEqual(["ON"]);
      // A refusal stands in the record alone.
      const refused = async () =>
        (await this.#rule("Alone")).now?.runs.some(({ state }) => state === "not_run");
      await until(refused, { ...waits, what: "presence is looked at" });
      expect(this.#sentTo("alone")).toEqual([]);
    });

    test("nobody is home when each tracker says so, and one without a state says nothing", async () => {
      await this.#set("evening", false);
      await this.#track("not_home", "unknown");
      await this.#presenceIs("unknown");
      await this.#track("not_home", "Work");
      await this.#presenceIs("nobody");
      await this.#isArmed("Alone");
      await this.#set("evening", true);
      await until(() => this.#sentTo("alone").length > 0, { ...waits, what: "its rule runs" });
      expect(this.#sentTo("alone")).toEqual(["ON"]);
    });

    test("a value of the broker switches devices of Home Assistant, whose line goes dead in the middle: told, and not twice", async () => {
      const slow = "switch_slow three";
      await this.#turn(30);
      expect(await this.#ran("Warm", 1)).toMatchObject({ state: "done", steps: [{ outcome: "confirmed" }] });
      await this.#turn(60);
      await until(() => this.#did(slow, "called") === 1, { ...waits, every: 10, what: "the switch is told" });
      this.#link?.halfOpen("both");
      expect((await this.#ran("Hot", 1)).steps).toMatchObject([{ outcome: "unconfirmed" }]);
      expect((await this.#told.toldCount("hot", 1, waits.within)).join(" ")).toContain("did not answer");
      this.#link?.mend();
      await until(() => this.#did(slow, "changed") === 1, { ...waits, what: "it is on" });
      await this.#devices.known(["switch-slow-three"]);
      expect(this.#did(slow, "called")).toBe(1);
      expect((await this.#ran("Hot", 1)).steps).toMatchObject([
        { outcome: expect.stringMatching(/unconfirmed|late/) as string },
      ]);
    });

    test("renamed, trigger and lamp are what they were; removed or able to do something else, the rule pauses and says so", async () => {
      await this.#service("turn_off", "switch_works three");
      await this.#rename("switch_works three", "switch.another_name");
      await this.#rename("light_works three", "light.another_name");
      await this.#isArmed("Door");
      const before = this.#did("light_works three", "called");
      await this.#service("turn_on", "switch_works three");
      expect(await this.#ran("Door", 2)).toMatchObject({ state: "done", steps: [{ outcome: "confirmed" }] });
      expect(this.#did("light_works three", "called")).toBe(before + 1);

      const removed = await this.#entity("light_liar three");
      await this.#assistant().command({ type: "config/entity_registry/remove", entity_id: removed });
      const changed = await this.#entity("light_dead three");
      const attributes = { supported_color_modes: ["onoff"], friendly_name: "Light dead three" };
      await this.#assistant().request(`/api/states/${changed}`, { state: "off", attributes });
      await this.#isPaused("liar", "a device of it is gone");
      await this.#isPaused("dead", "a device of it is another one now");
    });
  }

  /** A rule has run whose trigger stays as it is over the restart. */
  async restarts(): Promise<void> {
    await this.#set("guests", true);
    expect(await this.#ran("Guests", 1)).toMatchObject({ state: "done" });
  }

  /** Registers the tests after its restart. */
  after(): void {
    test("a restart of Home Assistant is no step: what was on, away and on again starts nothing", async () => {
      await this.#isArmed("Guests", "waiting");
      await this.#set("guests", false);
      await this.#isArmed("Guests");
      expect(this.#sentTo("guest")).toEqual(["ON"]);
      await this.#set("guests", true);
      expect(await this.#ran("Guests", 2)).toMatchObject({ state: "done" });
      expect(this.#sentTo("guest")).toEqual(["ON", "ON"]);
    });

    test("the bridge starts while Home Assistant cannot be reached: no rule is paused, and they act when it is back", async () => {
      await this.#turn(10);
      await this.#isArmed("Warm");
      await this.#stack.bridge.stop();
      this.#link?.cut();
      await this.#stack.startBridge();
      await this.#isArmed("Warm");
      await this.#turn(30);
      expect((await this.#ran("Warm", 2)).steps).toMatchObject([{ outcome: "not_sent" }]);
      await this.#turn(10);
      this.#link?.mend();
      await this.#devices.known(["switch-liar-three"]);
      await this.#isArmed("Warm");
      await this.#turn(30);
      expect(await this.#ran("Warm", 3)).toMatchObject({ state: "done", steps: [{ outcome: "confirmed" }] });
      const stopped = (await this.#rules.list()).filter(({ status }) => status !== "active");
      expect(stopped.map(({ name }) => name).toSorted()).toEqual(["dead", "liar"].map(darkOf));
    });
  }

  /** Waits until the rule of a light is paused, and was told so once. */
  async #isPaused(behaviour: string, why: string): Promise<void> {
    const name = darkOf(behaviour);
    const said = async () => {
      const told = await this.#told.told(conversationOf(name));
      return told.filter((text) => text.includes(name) && text.includes(why));
    };
    const isSo = async () => (await this.#rule(name)).status === "paused" && (await said()).length > 0;
    await until(isSo, { ...waits, what: `${name} is paused, and told` });
    expect(await this.#rule(name)).toMatchObject({ why });
    expect(await said()).toHaveLength(1);
  }

  async #make(): Promise<void> {
    const is = async (agent_id: string, value: string) => {
      const device = (await this.#devices.list()).find(({ id }) => id === agent_id);
      return [{ agent_id, reading: device?.readings[0]?.name, is: "equal", value }];
    };
    const on = (agent_id: string) => [{ agent_id, action: "set", parameters: { on: true } }];
    const warm = (value: number) => [
      { agent_id: "dial", reading: "Temperature", is: "above", value, for_minutes: 0 },
    ];
    const evening = await is("evening", "on");
    const over = "leave";
    const all: Rule[] = [
      {
        name: "Door",
        when: await is("switch-works-three", "on"),
        do: on("light-works-three"),
        over,
        say: "The lamp is on.",
      },
      { name: "Guests", when: await is("guests", "on"), do: on("plug-guest"), over },
      { name: "Hall", when: evening, do: on("plug-hall"), over },
      { name: "Alone", when: evening, do: on("plug-alone"), over, only_if: "nobody_home" },
      { name: "Warm", when: warm(20), do: on("switch-liar-three"), over },
      { name: "Hot", when: warm(50), do: on("switch-slow-three"), over },
      ...EVENING.map(([behaviour]) => ({
        name: darkOf(behaviour),
        when: evening,
        do: on(`light-${behaviour}-three`),
        over,
      })),
    ];
    const made = all.map((rule) => this.#rules.make(conversationOf(rule.name), [rule]));
    await Promise.all(made);
    await this.#rules.armed();
  }

  async #rule(name: string): Promise<AutomationView> {
    const found = (await this.#rules.list()).find((one) => one.name === name);
    if (!found) throw new Error(`no rule ${name}`);
    return found;
  }

  /** Waits for the end of a rule's n-th run. */
  async #ran(name: string, firing: number): Promise<AutomationRun> {
    let last: AutomationView | undefined;
    const look = async () => {
      last = await this.#rule(name);
      return last.now?.runs.find((run) => run.firing === firing && run.state !== "running");
    };
    const ended = until(() => look().catch(() => undefined), waits);
    return await ended.catch(() => {
      throw new Error(`run ${firing} of ${name} has not ended: ${JSON.stringify(last)}`);
    });
  }

  async #isArmed(name: string, state = "armed"): Promise<void> {
    let last: AutomationView | undefined;
    const isSo = async () => {
      last = await this.#rule(name);
      return last.now?.state === state;
    };
    await until(() => isSo().catch(() => false), waits).catch(() => {
      throw new Error(`${name} is not ${state}: ${JSON.stringify(last?.now)}`);
    });
  }

  async #rename(unique: string, new_entity_id: string): Promise<void> {
    const entity_id = await this.#entity(unique);
    await this.#assistant().command({ type: "config/entity_registry/update", entity_id, new_entity_id });
  }

  async #presenceIs(home: string): Promise<void> {
    await until(async () => (await this.#rules.all()).presence?.home === home, { ...waits, what: home });
  }

  #turn(celsius: number): Promise<void> | undefined {
    return this.#publisher?.say("dial/value", String(celsius), true);
  }

  #sentTo(plug: string): string[] {
    return this.#publisher?.sentTo(plug) ?? [];
  }

  /** Times that a device of the lab was told to change, or has changed. */
  #did(unique: string, what: "called" | "changed"): number {
    return this.#assistant().lines.filter((line) => line.startsWith(`lab: ${unique} ${what} `)).length;
  }

  async #track(anna: string, ben: string): Promise<void> {
    const attributes = { source_type: "gps" };
    for (const [name, state] of Object.entries({ anna, ben }))
      await this.#assistant().request(`/api/states/device_tracker.${name}`, { state, attributes });
  }

  async #set(helper: string, isOn: boolean): Promise<void> {
    const body = { entity_id: `input_boolean.${helper}` };
    await this.#assistant().request(`/api/services/input_boolean/turn_${isOn ? "on" : "off"}`, body);
  }

  async #entity(unique: string): Promise<string> {
    const all = await this.#assistant().registered();
    return all.find(({ unique_id }) => unique_id === unique)?.entity_id ?? "";
  }

  async #service(service: string, unique: string): Promise<void> {
    const entity_id = await this.#entity(unique);
    await this.#assistant().request(`/api/services/${entity_id.split(".")[0]}/${service}`, { entity_id });
  }

  async #state(unique: string): Promise<string> {
    const { state } = await this.#assistant().request<{ state: string }>(
      `/api/states/${await this.#entity(unique)}`,
    );
    return state;
  }
}

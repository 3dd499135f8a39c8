/** A home of real configs, and what its people may want it to do by itself. */
import { createHash } from "node:crypto";
import type { AutomationDraft, AutomationDrafted } from "@edgecall/core/protocol/automation.ts";
import { Automation } from "@edgecall/core/protocol/automation.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import { expect } from "vitest";
import { HostedAgents } from "../../devices/hosted-agents.ts";
import type { KeptPast } from "../../history/bridge-history.ts";
import { type DraftParts, draftAutomation } from "../draft.ts";
import type { PairedAgent } from "../rule-devices.ts";

/** A Saturday, 12:00 in Berlin. */
export const NOW = Date.parse("2026-11-28T11:00Z");
export const ZONE = "Europe/Berlin";

export class DraftHome {
  readonly catalog = new DeviceCatalog({
    prefix: "homeassistant",
    ownPrefix: "edgecall",
    sha256: (text) => createHash("sha256").update(text).digest("hex"),
  });
  readonly clock = { wall: () => NOW, now: () => 0 };
  readonly agents = new HostedAgents({
    modes: { mqtt: "allow", "home-assistant": "allow" },
    roster: { isServed: () => false },
    clock: this.clock,
    log: () => {},
  });
  paired: PairedAgent[] = [];
  presence: string[] = ["Anna", "Ben"];
  place: { lat: number; lon: number } | undefined = { lat: 52.5, lon: 13.4 };
  isSo = false;
  rules: Automation[] = [];
  /** By device and reading. */
  readonly past = new Map<string, KeptPast>();
  mode: "allow" | "read" = "allow";
  /** What people call devices, by id. */
  names: Record<string, string> = {};
  /** What the gateway has asked paired agents for, by id. */
  readings: NonNullable<AutomationDraft["readings"]> = {};

  constructor() {
    this.config("binary_sensor", "door", "Front door", {
      device_class: "door",
      state_topic: "door",
      name: "Contact",
    });
    this.config("binary_sensor", "leak", "Kitchen leak", {
      device_class: "moisture",
      state_topic: "leak",
      name: null,
    });
    this.config("binary_sensor", "motion", "Hall motion", {
      device_class: "motion",
      state_topic: "motion",
      name: null,
    });
    this.config("sensor", "outside", "Outside", {
      device_class: "temperature",
      unit_of_measurement: "°C",
      state_topic: "outside",
      name: "Temperature",
    });
    this.config("valve", "water", "Main water", {
      command_topic: "water/set",
      state_topic: "water",
      device_class: "water",
      name: null,
    });
    this.config("climate", "trv", "Living room TRV", {
      mode_command_topic: "trv/mode/set",
      mode_state_topic: "trv/mode",
      modes: ["off", "heat"],
      temperature_command_topic: "trv/set",
      temperature_state_topic: "trv/target",
      current_temperature_topic: "trv/now",
      name: null,
    });
    this.config("switch", "hall", "Hall light", {
      command_topic: "hall/set",
      state_topic: "hall",
      name: null,
    });
    this.config("switch", "boiler", "Boiler", {
      command_topic: "boiler/set",
      state_topic: "boiler",
      name: null,
    });
    this.config("siren", "siren", "Siren", {
      command_topic: "siren/set",
      state_topic: "siren",
      support_duration: false,
      support_volume_set: false,
      name: null,
    });
    this.config("lock", "lock", "Front lock", { command_topic: "lock/set", state_topic: "lock", name: null });
    this.config("cover", "garage", "Garage", {
      device_class: "garage",
      command_topic: "garage/set",
      state_topic: "garage",
      name: null,
    });
    this.config("scene", "film", "Film", { command_topic: "film/set", payload_on: "ON", name: null });
    this.say("door", "OFF");
    this.say("leak", "OFF");
    this.say("motion", "OFF");
    this.say("outside", "4.5");
    this.say("water", "open");
    this.say("trv/mode", "heat");
    this.say("trv/target", "21");
    this.say("trv/now", "20.6");
    this.say("hall", "OFF");
    this.say("boiler", "OFF");
    this.update();
  }

  config(kind: string, id: string, name: string, config: object): void {
    const text = JSON.stringify({ unique_id: id, device: { identifiers: [id], name }, ...config });
    this.catalog.mqtt.config(`homeassistant/${kind}/${id}/config`, text, NOW);
  }

  say(topic: string, text: string): void {
    this.catalog.mqtt.state(topic, new TextEncoder().encode(text), { now: NOW, retained: false });
  }

  update(): void {
    this.agents.update(this.catalog.devices(NOW), () => false);
  }

  async draft(input: object | string, language: Language = "en"): Promise<AutomationDrafted> {
    const parts: DraftParts = {
      catalog: this.catalog,
      agents: this.agents,
      clock: this.clock,
      modes: { mqtt: this.mode, "home-assistant": "allow" },
      paired: () => this.paired,
      presence: () => this.presence,
      place: () => this.place,
      isSo: () => this.isSo,
      rules: () => this.rules,
      pastOf: async (key, reading) => this.past.get(`${key} ${reading}`),
    };
    const text = typeof input === "string" ? input : JSON.stringify(input);
    const rule = { id: "a-12ab", version: 1 };
    const asked = {
      id: "call-1",
      rule,
      input: text,
      zone: ZONE,
      language,
      names: this.names,
      readings: this.readings,
    };
    return await draftAutomation(asked, parts);
  }

  async drafted(input: object, language: Language = "en") {
    const drafted = await this.draft(input, language);
    if ("error" in drafted) throw new Error(drafted.error);
    expect(check(Automation, drafted.automation)).toMatchObject({ ok: true });
    return drafted;
  }

  keyOf(id: string): string | undefined {
    return this.agents.device(id)?.key;
  }

  async error(input: object | string): Promise<string[]> {
    const drafted = await this.draft(input);
    if (!("error" in drafted)) throw new Error(JSON.stringify(drafted.card));
    return drafted.error.split(" | ");
  }
}

export const LEAK = {
  name: "Leak: close the water",
  when: [{ agent_id: "kitchen-leak", reading: "moisture", is: "equal", value: "wet" }],
  do: [{ agent_id: "main-water", action: "close" }],
};
export const HEATING_DOWN = {
  name: "Door open, heating down",
  when: [{ agent_id: "front-door", reading: "contact", is: "equal", value: "open", for_minutes: 5 }],
  only_if: "nobody_home",
  do: [{ agent_id: "living-room-trv", action: "set", parameters: { temperature: 17 } }],
  over: "undo",
  say: "The door is open and nobody is home.",
};
export const LIGHT_OFF = {
  name: "Hall dark",
  when: [{ agent_id: "hall-motion", reading: "motion", is: "equal", value: "clear", for_minutes: 10 }],
  do: [{ agent_id: "hall-light", action: "set", parameters: { on: false } }],
};
export const HEATING_BACK = {
  name: "Warm mornings",
  at: "06:30",
  days: "mo,tu,we,th,fr",
  do: [{ agent_id: "living-room-trv", action: "set", parameters: { temperature: 21 } }],
};
export const SUNSET = {
  name: "Light at sunset",
  at: "sunset-30",
  do: [{ agent_id: "hall-light", action: "set", parameters: { on: true } }],
  at_most_minutes: 240,
};

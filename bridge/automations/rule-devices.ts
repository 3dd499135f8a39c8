/** The devices of which the bridge knows, as a draft looks at them: hosted ones, and paired agents by their adverts. */
import { notOffered, wrongArgument } from "@edgecall/core/automations/agent-action.ts";
import type { CardDevice, CardStep } from "@edgecall/core/automations/card.ts";
import type { Foreseen, RuleDevice } from "@edgecall/core/automations/device.ts";
import type { MadeStep } from "@edgecall/core/automations/make.ts";
import { actionVersion } from "@edgecall/core/permissions/action-version.ts";
import type { Automation, AutomationDraft, AutomationStep } from "@edgecall/core/protocol/automation.ts";
import type { HostedState } from "@edgecall/core/protocol/devices.ts";
import { type ActionAdvert, ToolsAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import type { ReadingOption } from "@edgecall/core/rules/make-watch.ts";
import { optionOf } from "@edgecall/core/rules/reading-option.ts";
import type { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import type { HostedDevice, SourceName } from "@edgecall/discovery/model/device.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { HostedAgents } from "../devices/hosted-agents.ts";

/** A paired agent. @property key its public key @property tools its advert, as it published it */
export type PairedAgent = { id: string; key: string; tools: string | undefined };

/** @property modes whether the bridge changes the devices of a source */
export type RuleDevicesParts = {
  catalog: Pick<DeviceCatalog, "foresee" | "readingOf" | "readings">;
  agents: Pick<HostedAgents, "device" | "ids">;
  paired: () => readonly PairedAgent[];
  modes: Readonly<Record<SourceName, HostedState["mode"]>>;
  clock: Pick<Clock, "wall">;
};

type Asked = Pick<AutomationDraft, "names" | "readings">;
type Readings = NonNullable<Asked["readings"]>[string];

const READ_ONLY = "the home's bridge only reads this device (MQTT_DEVICES or HA_DEVICES)";

export class RuleDevices {
  readonly devices: readonly RuleDevice[];
  readonly #adverts = new Map<string, readonly ActionAdvert[]>();
  /** How many devices have a name. */
  readonly #names = new Map<string, number>();

  /** @param names what people call hosted devices, by id; others have their publisher's name @param readings of paired agents, by id */
  constructor(parts: RuleDevicesParts, { names = {}, readings = {} }: Asked = {}) {
    const { agents } = parts;
    const given = new Map(Object.entries(names));
    const hosted = agents.ids().flatMap((id) => {
      const device = agents.device(id);
      return device ? [hostedDevice({ ...device, name: given.get(id) ?? device.name }, parts)] : [];
    });
    const paired = parts.paired().filter(({ id }) => !agents.device(id));
    this.devices = [...hosted, ...paired.map((agent) => this.#agent(agent, readings[agent.id]))];
    for (const { name } of this.devices) this.#names.set(name, (this.#names.get(name) ?? 0) + 1);
  }

  /** A device as the card names it. */
  shown({ id, key, name, area }: RuleDevice): CardDevice {
    return { id, key, name, area, isShared: (this.#names.get(name) ?? 0) > 1 };
  }

  /** A step as its card shows it. Of a paired agent nothing is foreseen. */
  shownStep({ device, foreseen }: Pick<MadeStep, "device" | "foreseen">): CardStep {
    return { device: this.shown(device), foreseen: device.of === "hosted" ? foreseen : undefined };
  }

  /** The readings that a step of a rule changes; undefined: its device is not here now. */
  changesOf({ of, key, action, parameters }: AutomationStep): Foreseen["changes"] | undefined {
    const device = this.devices.find((one) => one.of === of && one.key === key);
    const foreseen = device?.foresee(action, parameters);
    return foreseen && "changes" in foreseen ? foreseen.changes : undefined;
  }

  /** Writes into each step of a paired agent the version of its action, which has to be the same when it runs. */
  async nameVersions({ do: steps }: Automation): Promise<void> {
    for (const step of steps) {
      const advert = this.#adverts.get(step.key)?.find(({ name }) => name === step.action);
      if (step.of === "agent" && advert) step.allow = await actionVersion(advert);
    }
  }

  #agent({ id, key, tools }: PairedAgent, listed: Readings = []): RuleDevice {
    const read = tools === undefined ? undefined : checkJson(ToolsAdvert, tools);
    const adverts = read?.ok ? read.value.tools : [];
    this.#adverts.set(key, adverts);
    return {
      ...{ of: "agent", key, id, name: id },
      // SAFETY: the fields that are absent are those that are optional there.
      readings: listed.map(({ field, ...one }) => ({
        ...one,
        name: field === undefined ? one.name : `${one.name}.${field}`,
      })) as ReadingOption[],
      actions: adverts.filter((advert) => notOffered(advert) === undefined).map(({ name }) => name),
      withheld: Object.fromEntries(
        adverts.flatMap((advert): [string, string][] => {
          const why = notOffered(advert);
          return why === undefined ? [] : [[advert.name, why]];
        }),
      ),
      foresee: (action, parameters) => foreseenOfAgent(adverts, action, parameters),
    };
  }
}

function hostedDevice(device: HostedDevice, { catalog, modes, clock }: RuleDevicesParts): RuleDevice {
  const { key, id, name, area, aliases = [], actions, settings = [], source } = device;
  const changes = actions.filter(({ effect, setting }) => effect !== "read" && !setting);
  const now = clock.wall();
  return {
    ...{ of: "hosted", key, id, area, aliases },
    name,
    get readings() {
      // Those that a rule can look at: a field of another reading has no changes of its own.
      const all = catalog.readings(id, now, true).filter((one) => catalog.readingOf(key, one.name, now));
      return all.map(optionOf);
    },
    actions: changes.map((one) => one.name),
    withheld: Object.fromEntries(
      [...actions, ...settings]
        .filter((one) => !changes.includes(one))
        .map((one) => [
          one.name,
          one.effect === "read" ? "it changes nothing" : "a person alone changes settings",
        ]),
    ),
    isOnBroker: source === "mqtt",
    ...(modes[source] !== "allow" && { unchangeable: READ_ONLY }),
    foresee: (action, parameters) => catalog.foresee(id, action, parameters, now),
  };
}

/** Foresees an agent's action. What it changes is not known here. */
function foreseenOfAgent(
  adverts: readonly ActionAdvert[],
  action: string,
  parameters: Readonly<Record<string, unknown>>,
): Foreseen | { error: string } {
  const advert = adverts.find(({ name }) => name === action);
  if (!advert) return { error: `there is no action '${action}'` };
  const wrong = notOffered(advert) ?? wrongArgument(advert, parameters);
  if (wrong !== undefined) return { error: wrong };
  return {
    // `nameVersions` writes it.
    allow: "-",
    readings: [],
    changes: [],
    isConfirmed: false,
    waitMs: advert.timeout_ms ?? 0,
    changesOthers: true,
    isEnd: false,
    before: {},
    units: {},
  };
}

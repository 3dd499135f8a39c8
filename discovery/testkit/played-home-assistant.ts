/** What Home Assistant says of its entities, for tests of its devices in a catalog. */
import type { DeviceCatalog } from "../catalog.ts";
import type { HostedDevice, Mark, Plan, SourceName } from "../model/device.ts";
import { NOW, newCatalog } from "./device-cases.ts";

type Attributes = Record<string, unknown>;
type EntryRow = {
  id: string;
  entity_id: string;
  platform?: string;
  device?: string;
  name?: string;
  exposed?: boolean;
  more?: object;
};

/** A Home Assistant with these entities, each of a device of its own unless it names one. */
export class PlayedHomeAssistant {
  readonly catalog: DeviceCatalog;
  now = NOW;
  entries: EntryRow[] = [];
  devices: Record<string, Record<string, unknown>> = {};
  areas: Attributes[] = [{ area_id: "hall", name: "Hall" }];
  floors: Attributes[] = [];
  labels: Attributes[] = [];
  /** By entity id: what only its whole entry has. */
  details: Record<string, Attributes> = {};

  /** @param people entity ids of persons and trackers that its owner named @param firstSource whose a device is that the broker has, too */
  constructor(people: readonly string[] = [], firstSource?: SourceName) {
    this.catalog = newCatalog({ people, firstSource });
  }

  known(): this {
    const entities = this.entries.map(
      ({ id, entity_id, platform = "lab", device = id, name, exposed = true, more }) => ({
        id,
        entity_id,
        platform,
        unique_id: `u-${id}`,
        device_id: device,
        original_name: name ?? null,
        options: { conversation: { should_expose: exposed } },
        disabled_by: null,
        hidden_by: null,
        ...more,
      }),
    );
    const devices = [...new Set(entities.map(({ device_id }) => device_id))].map((id) => ({
      id,
      name: `Device ${id}`,
      identifiers: [["lab", id]],
      connections: [],
      area_id: "hall",
      ...this.devices[id],
    }));
    const manifests = [
      { domain: "lab", iot_class: "local_push" },
      { domain: "cloud", iot_class: "cloud_polling" },
    ];
    const { areas, floors, labels, details } = this;
    const config = { time_zone: "Europe/Berlin" };
    const lists = { entities, devices, areas, floors, labels, manifests, config, details };
    this.catalog.homeAssistant.known(lists, this.now);
    return this;
  }

  add(id: string, entity_id: string, more: Partial<EntryRow> = {}): this {
    this.entries.push({ id, entity_id, ...more });
    return this.known();
  }

  /** Its whole state, as after a connect. */
  whole(entity: string, state: string, attributes: Attributes = {}): this {
    const lc = this.now / 1_000 - 60;
    return this.#event({ a: { [entity]: { s: state, a: attributes, c: "1", lc } } });
  }

  change(entity: string, more: { s?: string; a?: Attributes }): this {
    return this.#event({ c: { [entity]: { "+": { ...more, lc: this.now / 1_000 } } } });
  }

  #event(event: object): this {
    this.catalog.homeAssistant.state(event, this.now);
    return this;
  }

  get device(): HostedDevice {
    const [device] = this.catalog.devices(this.now);
    if (!device) throw new Error("there is no device");
    return device;
  }

  plan(action: string, parameters: Record<string, unknown> = {}): Plan {
    const plan = this.catalog.plan(this.device.id, action, parameters, this.now);
    if ("error" in plan) throw new Error(plan.error);
    return plan;
  }

  mark(): Mark {
    return this.catalog.mark(this.now);
  }

  words(all = false): Record<string, string> {
    const readings = this.catalog.readings(this.device.id, this.now, all);
    return Object.fromEntries(readings.map(({ name, text }) => [name, text]));
  }
}

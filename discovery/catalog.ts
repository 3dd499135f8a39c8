/** All devices, with the list of their sources. */
import { HomeAssistantSource } from "./home-assistant/home-assistant-source.ts";
import { KnownDevices, type KnownDevicesOptions } from "./model/known-devices.ts";
import { MqttSource } from "./mqtt/mqtt-source.ts";
import type { Prefixes } from "./mqtt/topics/topics.ts";

export type CatalogOptions = KnownDevicesOptions &
  Prefixes & {
    /** Entity ids of those persons and trackers of Home Assistant that are devices. */
    people?: readonly string[] | undefined;
  };

export class DeviceCatalog extends KnownDevices {
  readonly mqtt: MqttSource;
  readonly homeAssistant: HomeAssistantSource;

  constructor(options: CatalogOptions) {
    super(options);
    this.mqtt = this.add((events) => new MqttSource(options, events));
    this.homeAssistant = this.add((events) => new HomeAssistantSource(events, options.people));
  }
}

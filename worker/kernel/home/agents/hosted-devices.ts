/** The devices that the bridge hosts, among the rows of agents, with what people decided about each. */

import type { HostedState } from "@edgecall/core/protocol/devices.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { isLabel } from "@edgecall/core/text/label.ts";
import { type DeviceChange, type DeviceSetting, DeviceSettings } from "../devices/device-settings.ts";
import { slot } from "../slot.ts";
import type { ActionNames } from "./advert-store.ts";
import { type AgentKeys, keysOf } from "./agent-keys.ts";
import { type AgentRows, agentRowsOf } from "./agent-rows.ts";
import type { ListedAgent } from "./listed-agent.ts";

/** A device that the bridge hosts, with what people decided about it. */
export type HostedDevice = { id: string; hosted: HostedState; setting: DeviceSetting | undefined };

export class HostedDevices {
  readonly #rows: AgentRows;
  readonly #keys: Pick<AgentKeys, "standing">;
  readonly #settings: DeviceSettings;

  constructor(storage: DurableObjectStorage, rows: AgentRows, keys: Pick<AgentKeys, "standing">) {
    this.#rows = rows;
    this.#keys = keys;
    this.#settings = new DeviceSettings(storage);
  }

  /** The device that the bridge hosts under this id. An agent with a key comes before it, as does one whose key was revoked. */
  get(id: string): HostedDevice | undefined {
    const agent = this.#rows.get(id);
    return agent && this.of(agent);
  }

  /** In the order of their ids, also those that are switched off. */
  all(): HostedDevice[] {
    return this.#rows.inOrder().flatMap((agent) => this.of(agent) ?? []);
  }

  /** @returns undefined: the agent of this row is no hosted device */
  of({ id, hosted }: ListedAgent): HostedDevice | undefined {
    if (!hosted || this.#keys.standing(id) !== "none") return undefined;
    return { id, hosted, setting: this.#settings.get(hosted.key) };
  }

  /** @param isVoid what was allowed it by the hash of 0.3 does not hold any more */
  compared({ hosted }: HostedDevice, isVoid: boolean): void {
    this.#settings.compared(hosted, isVoid, Date.now());
  }

  /** What a person allowed it up to 0.3 stands as permissions from now on. */
  allowanceWrittenOut({ id, hosted }: HostedDevice): void {
    this.#settings.writtenOut(hosted.key);
    this.#rows.decided(id);
  }

  /** A person allows its changes, by the hash that its bridge tells. */
  allowedByHash({ hosted }: HostedDevice): void {
    this.#settings.allowedByHash(hosted);
  }

  /** @param by the person */
  change({ id, hosted }: HostedDevice, change: DeviceChange, by: string): void {
    this.#settings.change(hosted, change, by, Date.now());
    this.#rows.decided(id);
  }

  /** People's decisions about it are gone, and the device too until the bridge tells of it again. */
  forget({ id, hosted }: HostedDevice): void {
    this.#settings.forget(hosted.key);
    this.#rows.remove(id);
  }

  /** An agent with this id has a key from now on: what the bridge hosted under it is gone. */
  drop(id: string): void {
    if (this.#rows.get(id)?.hosted) this.#rows.remove(id);
  }

  /** Devices that were allowed up to 0.3 and ask again, with the time since when (epoch ms). */
  voided(): Array<{ device: HostedDevice; since: number }> {
    const voided = this.#settings.voided();
    return voided.size === 0
      ? []
      : this.all().flatMap((device) => {
          const since = voided.get(device.hosted.key);
          return since === undefined ? [] : [{ device, since }];
        });
  }

  markVoidedNotified(): void {
    this.#settings.markVoidedNotified();
  }

  /** True for a hosted device of whose words nothing is a stranger's. What it reports is the bridge's word. */
  isPlain(id: string): boolean {
    const agent = this.#rows.get(id);
    const device = agent && this.of(agent);
    if (!device || agent.newText) return false;
    // The bridge's words about it have its name.
    return agent.isLineAccepted || isLabel(device.hosted.name);
  }

  /** True if Home's ledger alone knows which calls it was sent: a call is never sent to it twice. */
  isForgetful(id: string): boolean {
    return this.#rows.isForeign(id) || this.get(id) !== undefined;
  }

  // The actions of agents, without those that change a device's settings where no person wants these to be offered

  /** True for an action that changes a setting of a device, and that no person wants to be offered. */
  isHiddenSetting(id: string, action: string): boolean {
    const agent = this.#rows.get(id);
    return agent !== undefined && this.#hiddenOf(agent).includes(action);
  }

  /** Names of the actions that change its settings, whether or not they are offered. */
  settingsOf(id: string): readonly string[] {
    return this.#rows.get(id)?.names.settings ?? [];
  }

  /** Its actions that are offered. */
  toolsOf(agent: ListedAgent): readonly ActionAdvert[] {
    const hidden = this.#hiddenOf(agent);
    const tools = this.#rows.adverts.tools(agent.advert);
    return hidden.length === 0 ? tools : tools.filter(({ name }) => !hidden.includes(name));
  }

  /** Names of its actions that are offered. */
  namesOf(agent: ListedAgent): ActionNames {
    const hidden = this.#hiddenOf(agent);
    if (hidden.length === 0) return agent.names;
    const { names, actions, queues } = agent.names;
    const isShown = (name: string) => !hidden.includes(name);
    return { names: names.filter(isShown), actions: actions.filter(isShown), queues: queues.filter(isShown) };
  }

  #hiddenOf(agent: ListedAgent): readonly string[] {
    const { settings = [] } = agent.names;
    return settings.length === 0 || this.of(agent)?.setting?.offersSettings ? [] : settings;
  }
}

export const hostedDevicesOf = slot(
  (home) => new HostedDevices(home.ctx.storage, agentRowsOf(home), keysOf(home)),
);

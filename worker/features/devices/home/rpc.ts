/** What the rest of the Worker asks a home about devices. */
import { RpcTarget } from "cloudflare:workers";
import type { DeviceList, DeviceView } from "../../../kernel/api/answers.ts";
import type { DeviceBody, Person } from "../../../kernel/api/devices.ts";
import type { HomeAccess } from "../../../kernel/home/access.ts";
import { devicesGone } from "../../rules/home/alarm-part.ts";
import type { DevicesApi } from "../devices-api.ts";
import { changeDevice, deviceViews, forgetDevice } from "./device-views.ts";

export class DevicesRpc extends RpcTarget implements DevicesApi {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    super();
    this.#at = at;
  }

  async devices(all: boolean): Promise<DeviceList> {
    return await deviceViews(this.#at.home, all);
  }

  async changeDevice(
    id: string,
    change: DeviceBody,
    by: Person,
  ): Promise<DeviceView | "changed" | "unknown"> {
    return changeDevice(this.#at.home, id, change, by);
  }

  async forgetDevice(id: string, by: Person): Promise<"forgotten" | "online" | "no_bridge" | "unknown"> {
    const forgotten = forgetDevice(this.#at.home, id, by);
    if (forgotten === "forgotten") await devicesGone(this.#at.home);
    return forgotten;
  }
}

/** What the rest of the Worker asks a home about devices. */
import type { DeviceList, DeviceView } from "../../../kernel/api/answers.ts";
import type { DeviceBody, Person } from "../../../kernel/api/devices.ts";
import { emit } from "../../../kernel/home/feature.ts";
import { HomePart } from "../../../kernel/home/part.ts";
import type { DevicesApi } from "../devices-api.ts";
import { changeDevice, deviceViews, forgetDevice } from "./device-views.ts";

export class DevicesRpc extends HomePart implements DevicesApi {
  async list(all: boolean): Promise<DeviceList> {
    return await deviceViews(this.home, all);
  }

  async change(id: string, change: DeviceBody, by: Person): Promise<DeviceView | "changed" | "unknown"> {
    return changeDevice(this.home, id, change, by);
  }

  async forget(id: string, by: Person): Promise<"forgotten" | "online" | "no_bridge" | "unknown"> {
    const forgotten = forgetDevice(this.home, id, by);
    if (forgotten === "forgotten") await emit("agentsGone", this.home);
    return forgotten;
  }
}

/** Methods of a home about devices. */

import type { DeviceList, DeviceView } from "../../kernel/api/answers.ts";
import type { DeviceBody, Person, ProfileBody, ProfileView } from "../../kernel/api/devices.ts";
import { topicAt } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";

export interface DevicesApi {
  /** The hosted devices with what they report, in the order of their ids. @param all also readings that are diagnostic or settings */
  list(all: boolean): Promise<DeviceList>;
  /** @returns `changed`: the device is not what the person saw; `full`: there are too many permissions */
  change(id: string, change: DeviceBody, by: Person): Promise<DeviceView | "changed" | "full" | "unknown">;
  profile(): Promise<ProfileView>;
  /** Gives all of these devices the mode of the profile, or none of them. @returns `changed`: one is not what the person saw */
  applyProfile(profile: ProfileBody, by: Person): Promise<"applied" | "changed" | "full" | "unknown">;
  /** People's decisions about the device are deleted, and the bridge's memory of it. */
  forget(id: string, by: Person): Promise<"forgotten" | "online" | "no_bridge" | "unknown">;
}

/** This home, as to devices. */
export const devicesAt = (env: Env, home: string): DevicesApi => topicAt(env, home, "devices");

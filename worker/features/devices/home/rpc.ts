/** What the rest of the Worker asks a home about devices. */

import { emit } from "../../../kernel/home/feature.ts";
import type { HomePart } from "../../../kernel/home/part.ts";
import type { DevicesApi } from "../devices-api.ts";
import { applyProfile, profileView } from "./apply-profile.ts";
import { changeDevice, deviceViews, forgetDevice } from "./device-views.ts";

export const devicesRpc: HomePart<DevicesApi> = {
  list: async ({ home }, all) => await deviceViews(home, all),
  change: async ({ home }, id, change, by) => changeDevice(home, id, change, by),
  profile: async ({ home }) => profileView(home),
  applyProfile: async ({ home }, profile, by) => applyProfile(home, profile, by),
  async forget({ home }, id, by) {
    const forgotten = forgetDevice(home, id, by);
    if (forgotten === "forgotten") await emit("agentsGone", home);
    return forgotten;
  },
};

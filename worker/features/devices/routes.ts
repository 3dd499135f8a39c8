/** `/v1/devices`: the devices of the broker that the bridge hosts, and what an administrator decides about each. */

import type { DeviceList } from "../../kernel/api/answers.ts";
import { DeviceBody, type Person } from "../../kernel/api/devices.ts";
import { newRoutes } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { AGENT, yesOrNo } from "../../kernel/http/fields.ts";
import { json, nothing, route } from "../../kernel/http/route.ts";
import type { ApiToken } from "../../kernel/settings/tokens.ts";
import { devicesAt } from "./devices-api.ts";

export const devices = newRoutes();

/**
 * Lists the hosted devices of the home with what they report. `readings` and `left_out` are null when the bridge did not
 * answer within a second.
 */
route(
  devices,
  "GET /v1/devices",
  {
    scope: "ask",
    query: {
      /** Also readings that are diagnostic or settings. */
      all: yesOrNo,
    },
  },
  async (c, { token, query: { all } }) => {
    const list: DeviceList = await devicesAt(c.env, token.home).list(all);
    return json(c, list);
  },
);

/**
 * Gives a hosted device a name and an area, and says what may be done with it. `mode: "allowed"` needs `approve` too, and
 * `allow`, the hash as it was read. 409 `device_changed`: the device has another one by now. A new mode is a new decision:
 * what was allowed before counts no more. `settings: true` offers the actions that change its settings; each use asks a
 * person.
 */
route(
  devices,
  "PATCH /v1/devices/:device",
  { scope: "admin", confirm: widens, path: { device: AGENT }, body: DeviceBody },
  async (c, { token, path: { device }, body }) => {
    // Allowing changes approves all of them at once, for everybody.
    if (body.mode === "allowed" && !(token.role === "owner" && token.scopes.includes("approve")))
      throw new HttpError(
        403,
        "forbidden",
        "mode: allowing changes needs an owner's token with the scope 'approve'",
      );
    if (body.mode === "allowed" && body.allow === undefined)
      throw new HttpError(
        400,
        "invalid_body",
        "allow: expected with mode 'allowed': the device's own `allow`, as GET /v1/devices showed it to whoever decides",
      );
    const changed = await devicesAt(c.env, token.home).change(device, body, personOf(token));
    if (changed === "unknown") throw unknown(device);
    if (changed === "changed")
      throw new HttpError(409, "device_changed", "allow: the device is something else by now; read it again");
    if (changed === "full")
      throw new HttpError(409, "too_many", "this home has too many standing permissions; end some first");
    return json(c, changed);
  },
);

/**
 * Forgets a hosted device that is gone, and what was decided about it. 409 `in_use`: it is online, and would be back at once,
 * so set `mode` to `off`; `bridge_offline`: the bridge has to forget it too.
 */
route(
  devices,
  "DELETE /v1/devices/:device",
  { scope: "admin", path: { device: AGENT } },
  async (c, { token, path: { device } }) => {
    const forgotten = await devicesAt(c.env, token.home).forget(device, personOf(token));
    if (forgotten === "unknown") throw unknown(device);
    if (forgotten === "online")
      throw new HttpError(
        409,
        "in_use",
        `'${device}' is online and would be back at once; switch it off instead`,
      );
    if (forgotten === "no_bridge")
      throw new HttpError(409, "bridge_offline", "the bridge has to forget it too, and is not connected");
    return nothing(c);
  },
);

/** Less may be done with a device at once; more takes a confirmation. */
function widens({ mode, settings }: DeviceBody): boolean {
  return settings === true || (mode !== undefined && mode !== "off" && mode !== "read");
}

function personOf({ name, role }: ApiToken): Person {
  return { name, role };
}

function unknown(device: string): HttpError {
  return new HttpError(404, "not_found", `no such device: ${device}`);
}

/** Hosted devices, as people see them and decide about them. */
import { z } from "@edgecall/core/protocol/parse.ts";
import type { ApiToken } from "../settings/tokens.ts";

/** The person who decides. */
export type Person = Pick<ApiToken, "name" | "role">;

/** `ask`: each change asks that no permission covers. `allowed`: each harmless action gets a permission for everybody; dangerous ones ask all the same. */
const DEVICE_MODES = ["off", "read", "ask", "allowed"] as const;

const own = z.nullable(
  z
    .string()
    .check(
      z.trim(),
      z.minLength(1),
      z.maxLength(60),
      z.regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, "expected one line without invisible characters"),
    ),
);

export const DeviceBody = z.strictObject({
  /** Null: the publisher's. */
  name: z.optional(own),
  /** Null: the publisher's. */
  area: z.optional(own),
  /** Null: as the bridge's setting MQTT_DEVICES says. */
  mode: z.optional(z.nullable(z.enum(DEVICE_MODES))),
  /** Its settings are offered as actions, and each use of one asks a person. */
  settings: z.optional(z.boolean()),
  /** `allow` of the device as the person saw it: a device that changed since is not allowed. Needed with the mode `allowed`. */
  allow: z.optional(z.string().check(z.maxLength(64))),
});
export type DeviceBody = z.infer<typeof DeviceBody>;

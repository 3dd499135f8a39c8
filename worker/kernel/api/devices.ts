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

/** `look`: nothing is changed. `ask`: each change asks. `act`: harmless changes of these devices ask no more. */
const PROFILES = ["look", "ask", "act"] as const;
const DEVICES_MAX = 200;

export const ProfileBody = z.strictObject({
  profile: z.enum(PROFILES),
  /** The devices that it is for, each as the person saw it. One that is not here, or that comes later, stays as it is. */
  devices: z
    .array(
      z.strictObject({
        id: z.string().check(z.maxLength(64)),
        /** `allow` of the device: one that changed since is not touched, and no other one either. */
        allow: z.string().check(z.maxLength(64)),
      }),
    )
    .check(z.minLength(1), z.maxLength(DEVICES_MAX)),
});
export type ProfileBody = z.infer<typeof ProfileBody>;

/** The devices that can be changed. @property acts actions that ask no more with `act` @property asks those that ask all the same @property chosen a person chose the mode */
export type ProfileView = {
  devices: Array<{
    id: string;
    name: string;
    area: string | null;
    allow: string;
    mode: "read" | "ask" | "allowed";
    chosen: boolean;
    acts: string[];
    asks: string[];
  }>;
};

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

import type { DeviceView } from "@edgecall/client/routes.ts";
import { expect, test } from "vitest";
import { bodyOf, changedFrom, settingsOf } from "./device-changes.ts";

const device = (more: Partial<DeviceView>) =>
  ({
    own: { name: "Lamp", area: null },
    chosen: true,
    mode: "allowed",
    settings: { offered: false, actions: [] },
    ...more,
  }) as DeviceView;

test("what a person did not change is not sent, and what was put back is no change", () => {
  const opened = settingsOf(device({}));
  const named = changedFrom(opened, { name: " Desk lamp " });
  // A permission ends meanwhile, which makes no difference.
  expect(bodyOf(named, "hash")).toEqual({ name: "Desk lamp" });
  expect(changedFrom(opened, { ...named, mode: "allowed", settings: false })).toEqual(named);
  expect(bodyOf({}, "hash")).toEqual({});
});

test("a mode is sent with the device as it was seen, and an empty field means that the choice is another's", () => {
  expect(settingsOf(device({ chosen: false, mode: "ask" }))).toMatchObject({ area: "", mode: "" });
  expect(bodyOf({ mode: "allowed" }, "hash")).toEqual({ mode: "allowed", allow: "hash" });
  expect(bodyOf({ mode: "", name: " ", area: "Hall", settings: true }, "hash")).toEqual({
    mode: null,
    allow: "hash",
    name: null,
    area: "Hall",
    settings: true,
  });
});

test("what is changed again while it is sent stays a change", () => {
  const sent = { name: "Lamp", mode: "ask" } as const;
  expect(changedFrom(sent, { ...sent, name: "Lamp 2" })).toEqual({ name: "Lamp 2" });
});

/** Of a washing machine on a plug: what it takes says whether it runs, and its plug only whether it is on. */
import type { Reading } from "@edgecall/core/protocol/devices.ts";
import { expect, test } from "vitest";
import { stateIn, wantedValue } from "./readings.ts";

const reading = (name: string, value: Reading["value"], more: Partial<Reading>): Reading => ({
  name,
  value,
  text: "",
  kind: "sensor",
  at: 0,
  tainted: false,
  ...more,
});
const plug = reading("Switch", true, { kind: "switch" });
const power = (value: number) => reading("Power", value, { class: "power", unit: "W" });

test("a machine that has ended is on, and does not run", () => {
  expect(stateIn([plug, power(180)], "running")).toMatchObject({ so: true, by: { name: "Power" } });
  expect(stateIn([plug, power(1)], "finished")).toMatchObject({ so: true, by: { name: "Power" } });
  expect(stateIn([plug, power(1)], "on")).toMatchObject({ so: true, by: { name: "Switch" } });
  expect(stateIn([plug], "running")).toMatchObject({ so: true, by: { name: "Switch" } });
});

test("a watch has the value at which it is so", () => {
  expect(wantedValue(power(180), "finished")).toEqual({ is: "below", value: 6 });
  expect(wantedValue(power(1), "running")).toEqual({ is: "above", value: 5 });
  expect(wantedValue(plug, "finished")).toEqual({ is: "equal", value: false });
  const battery = reading("Battery", 80, { class: "battery", unit: "%" });
  expect(wantedValue(battery, "low_battery")).toEqual({ is: "below", value: 21 });
  const position = reading("Position", 100, { kind: "cover", unit: "%" });
  expect(wantedValue(position, "open")).toEqual({ is: "above", value: 0 });
  expect(wantedValue(position, "closed")).toEqual({ is: "below", value: 1 });
});

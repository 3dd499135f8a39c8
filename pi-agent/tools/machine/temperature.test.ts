import { expect, test } from "vitest";
import { PI_ZERO_2W, tree } from "../../testing/tree.ts";
import { temperatureMissing } from "./temperature.ts";

test("D12 temperature is offered only if there is a sensor", async () => {
  expect(await temperatureMissing({ root: tree(PI_ZERO_2W) })).toBeUndefined();
  expect(await temperatureMissing({ root: tree({ "/etc/hostname": "vm" }) })).toContain(
    "no temperature sensor",
  );
});

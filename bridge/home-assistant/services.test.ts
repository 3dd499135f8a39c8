/** The list of services is the only fence of a bridge that has an administrator's token. */
import type { ServiceCall, Step } from "@edgecall/discovery/model/entity/entity.ts";
import { expect, test } from "vitest";
import { PlayedHomeAssistant } from "../../discovery/testkit/played-home-assistant.ts";
import { SERVICES } from "./services.ts";

const isCall = (step: Step): step is ServiceCall => "service" in step;

test("no service of it restarts, reloads, publishes, runs code or changes what others depend on", () => {
  const never =
    /^(?:hassio|shell_command|python_script|rest_command|mqtt|automation|recorder|persistent_notification|homeassistant\.(?!update_entity$)|script\.(?!turn_on$))|reload|group\.set|scene\.(?:apply|create)|snapshot/;
  expect([...SERVICES].filter((service) => never.test(service))).toEqual([]);
});

/** All that an entity may be able to do, so that each command is there. */
const ALL = {
  supported_features: 0xfffff,
  available_tones: ["fire"],
  fan_speed_list: ["max"],
  has_date: true,
  source_list: ["TV"],
  sound_mode_list: ["night"],
  supported_color_modes: ["brightness", "color_temp"],
  effect_list: ["rainbow"],
  hvac_modes: ["off", "heat"],
  preset_modes: ["eco"],
  fan_modes: ["low"],
  swing_modes: ["on"],
  operation_list: ["eco"],
  available_modes: ["dry"],
  options: ["a", "b"],
  min: 0,
  max: 10,
  min_temp: 5,
  max_temp: 30,
};
const KINDS =
  "alarm_control_panel button calendar climate cover date datetime fan humidifier input_boolean input_button input_datetime input_number input_select input_text lawn_mower light lock media_player notify number scene script select siren switch text time timer todo update vacuum valve water_heater";

/** A text that a schema takes. */
function textFor({ pattern }: Record<string, unknown>): string {
  const all = ["abc", "2026-12-24", "07:30", "2026-12-24 07:30"];
  return all.find((one) => pattern === undefined || new RegExp(String(pattern)).test(one)) ?? "abc";
}

test.each(KINDS.split(" "))("each command of %s calls services that are on the list", (kind) => {
  const home = new PlayedHomeAssistant().add("p", `${kind}.x`).whole(`${kind}.x`, "unknown", ALL);
  const { actions } = home.device;
  const calls = actions.slice(1).flatMap(({ name, parameters }) => {
    const { properties = {} } = parameters as { properties?: Record<string, Record<string, unknown>> };
    const values = Object.entries(properties).map(([key, schema]): [string, unknown] => [
      key,
      (schema.enum as unknown[] | undefined)?.[0] ??
        (schema.type === "boolean" ? true : schema.type === "string" ? textFor(schema) : schema.minimum),
    ]);
    const sets = [Object.fromEntries(values), ...values.map((one) => Object.fromEntries([one]))];
    return sets.flatMap((asked) => {
      const plan = home.catalog.plan(home.device.id, name, asked, home.now);
      return "error" in plan ? [] : plan.steps.filter(isCall);
    });
  });
  expect(calls.length).toBeGreaterThan(0);
  for (const { domain, service } of calls) expect(SERVICES).toContain(`${domain}.${service}`);
});

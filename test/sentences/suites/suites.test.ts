/** Small copies in the shape of each public set, with words of our own. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { halfOf } from "../item.ts";
import { judge } from "../judge.ts";
import { act } from "../meaning.ts";
import { homeLlmItems } from "./home-llm.ts";
import { intentsItems } from "./intents.ts";
import { slurpItems } from "./slurp.ts";

function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "sentences-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

describe("a copy of OHF-Voice/intents", () => {
  const folder = folderWith({
    "tests/en/HassTurnOff/name_only.yaml": `
entities:
  - { name: Porch light, domain: light }
  - { name: Shed door, domain: lock }
tests:
  - sentences: ["porch light off", "kill the porch light"]
    slots: { name: Porch light }
  - sentences: ["release the shed door"]
    slots: { name: Shed door }
`,
    "tests/en/HassLightSet/area_brightness.yaml": `
areas: [{ name: Attic }]
tests:
  - sentences: ["attic at half"]
    slots: { area: Attic, brightness: 50 }
`,
    "tests/en/HassGetWeather/default.yaml": `
tests: [{ sentences: ["will it rain"] }]
`,
  });
  const items = intentsItems(folder);

  it("gives each sentence of a device intent its small home and what its slots mean", () => {
    expect(items.map(({ text }) => text)).toEqual([
      "porch light off",
      "kill the porch light",
      "release the shed door",
      "attic at half",
    ]);
    expect(items[0]?.home.devices.map(({ name }) => name)).toEqual(["Porch light", "Shed door"]);
    expect(items[2]?.means).toEqual([{ acts: [{ do: "unlock", to: ["Shed door"] }] }]);
    expect(items[3]?.means).toEqual([
      { acts: [{ do: "set", what: "brightness", value: 50, to: ["light@Attic"] }] },
    ]);
  });

  it("is right for the device that is meant, and wrong for another one", () => {
    const [item] = items;
    if (item === undefined) throw new Error("no sentence");
    expect(judge(item.means, act("off", "Porch light"), item.home)).toBe("right");
    expect(judge(item.means, act("off", "Shed door"), item.home)).toBe("wrong");
  });
});

describe("a copy of acon96/home-llm", () => {
  it("puts a name into each phrase, and means that device", () => {
    const piles = ["english", "german", "french", "spanish", "polish"].map(
      (name) => `data/piles/${name}/pile_of_`,
    );
    const folder = folderWith(
      Object.fromEntries(
        piles.flatMap((pile) => [
          [`${pile}device_names.csv`, 'device_name,description\nlight.one,"Lamp one"\nlock.two,Lock two\n'],
          [
            `${pile}templated_actions.csv`,
            "device_type,service,phrase,multiplier\nlock,lock,Bolt <device_name>,1\ntodo,add_item,Note <todo>,1\n",
          ],
          [
            `${pile}status_requests.csv`,
            'device_type,state,phrase,assistant_response\nlight,on,"Say, is <device_name> lit",Yes\n',
          ],
        ]),
      ),
    );
    const items = homeLlmItems(folder);
    expect(items).toHaveLength(10);
    expect(items[0]).toMatchObject({
      text: "Bolt Lock two",
      means: { acts: [{ do: "lock", to: ["Lock two"] }] },
    });
    expect(items[1]).toMatchObject({ text: "Say, is Lamp one lit", means: { ask: "*", of: ["Lamp one"] } });
  });
});

describe("a copy of SLURP", () => {
  const row = (sentence: string, marked: string, scenario: string, intent: string) =>
    JSON.stringify({ sentence, sentence_annotation: marked, scenario, intent });
  const items = slurpItems(
    folderWith({
      "dataset/slurp/devel.jsonl": [
        row("attic lights off", "[house_place : attic] lights off", "iot", "iot_hue_lightoff"),
        row("lights off at nine", "lights off at [time : nine]", "iot", "iot_hue_lightoff"),
        row("book a taxi", "book a taxi", "transport", "transport_taxi"),
        row("wake me at six", "wake me at [time : six]", "alarm", "alarm_set"),
      ].join("\n"),
    }),
  );

  it("means an act by a command, and nothing by one with a time or by other words", () => {
    expect(items.map(({ means }) => means)).toEqual([
      [{ acts: [{ do: "off", to: ["light@attic"] }] }],
      "nothing",
      "nothing",
      "no act",
    ]);
    expect(items[0]?.home.areas).toContain("attic");
  });
});

it("a sentence is always in the same half, and each half has sentences", () => {
  expect(halfOf({ text: "Lights OFF" })).toBe(halfOf({ text: "lights off" }));
  const halves = Array.from({ length: 100 }, (_, at) => halfOf({ text: `lamp ${at}` }));
  expect(halves.filter((half) => half === "A").length).toBeGreaterThan(30);
  expect(halves.filter((half) => half === "B").length).toBeGreaterThan(30);
});

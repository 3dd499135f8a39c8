/** What sentences come to with devices as real configs make them: calls with the devices' own actions, or words. */
import { readSentence } from "@edgecall/core/sentences/read.ts";
import { describe, expect, test } from "vitest";
import { answerTo, callsOf, contextOf, lexicon, resolve, table } from "../../../../test/home-of-configs.ts";
import { chosenFrames } from "./choice.ts";
import { resolveMeanings } from "./resolve.ts";

describe("an act is the device's own action", () => {
  test.each<[sentence: string, ...calls: string[]]>([
    ["turn on the kitchen light", 'kitchen-light set {"on":true}'],
    ["switch the fridge off", 'fridge set {"on":false}'],
    ["set the kitchen light to 40 %", 'kitchen-light set {"brightness_pct":40}'],
    ["dim the reading lamp to 20 percent", 'reading-lamp set {"brightness_pct":20}'],
    ["set the blinds to 40 %", 'blinds set_position {"position":40}'],
    ["close the blinds", "blinds close {}"],
    ["lock the front door", "front-door lock {}"],
    ["unlock the front door", "front-door unlock {}"],
    ["set the living room heating to 21 degrees", 'living-room-heating set {"temperature":21}'],
    ["turn off the living room heating", 'living-room-heating set {"mode":"off"}'],
    ["set the bathroom fan to 50 %", 'bathroom-fan set {"percentage":50}'],
    ["make the kitchen light red", 'kitchen-light set {"rgb":[255,0,0]}'],
    [
      "turn off all lights in the kitchen",
      'counter-light set {"on":false}',
      'kitchen-light set {"on":false}',
    ],
    ["start the robot", "robot start {}"],
    ["raise the blinds", "blinds open {}"],
    ["lower the blinds", "blinds close {}"],
    ["raise the blinds by 20 %", 'blinds set_position {"position":100}'],
    ["close all blinds", "blinds close {}"],
    ["lower the blinds by 20 %", 'blinds set_position {"position":80}'],
    ["open the front door", "front-door unlock {}"],
    ["open the door", "front-door unlock {}"],
    ["open the garage door", "garage-door open {}"],
    ["turn off the washing machine", 'bosch-washing-machine-plug set {"on":false}'],
    ["turn on the freezer light", 'freezer-light set {"on":true}'],
  ])("%s", async (sentence, ...calls) => {
    expect((await callsOf(sentence)).sort()).toEqual(calls);
  });

  test("brighter is a step from what it reports", async () => {
    expect(await callsOf("make the kitchen light brighter")).toEqual([
      'kitchen-light set {"brightness_pct":65}',
    ]);
    expect(await callsOf("make the reading lamp brighter")).toEqual([
      'reading-lamp set {"brightness_pct":100}',
    ]);
  });

  test("it means what was spoken of", async () => {
    expect(await callsOf("turn it off", ["reading-lamp"])).toEqual(['reading-lamp set {"on":false}']);
    expect(await answerTo("turn it off")).toBe("Which device?");
  });

  test("a singular of which there are several is asked back", async () => {
    expect(await resolve("turn off the light in the kitchen")).toEqual({
      problem: { text: "Which one? Counter light or Kitchen light", asks: true, which: true },
    });
  });

  test("what no meaning can do is said of the thing that was named", async () => {
    expect(await answerTo("make the counter light red")).toMatch(/^Counter light: it cannot do that\./);
  });

  test("a value beyond the device's own bounds is said, and not sent", async () => {
    expect(await answerTo("set the living room heating to 50 degrees")).toBe(
      "Living room heating: temperature goes from 5 to 30.",
    );
  });

  test("what a device cannot do is said with what it can", async () => {
    expect(await answerTo("lock the fridge")).toBe(
      "Fridge: it cannot do that. It can: switch on, switch off.",
    );
  });

  test("a room that nothing tells is asked for", async () => {
    const asked = { problem: { text: "In which room?", asks: true, which: true } };
    expect(await resolve("turn on the lights here")).toEqual(asked);
    expect(await resolve("how warm is it here?")).toEqual(asked);
    const understood = readSentence("turn on the lights here", table, [lexicon]);
    const frames = understood.result === "one" ? understood.frames : [];
    const chosen = chosenFrames(frames, "in the Living room", "all of them", table) ?? [];
    expect(await resolveMeanings([{ frames: chosen }], contextOf(""))).toMatchObject({
      steps: [[{ args: { agent_id: "reading-lamp" } }]],
    });
    expect(chosenFrames(frames, "the robot", "all of them", table)).toBeUndefined();
  });

  test("one word for open and turn on unlocks a lock too", async () => {
    const target = { of: "named", ids: ["front-door"], name: "Front door" } as const;
    const frames = [{ kind: "act", action: "turn_on", or: "open", target }] as const;
    expect(await resolveMeanings([{ frames }], contextOf(""))).toMatchObject({
      steps: [[{ args: { agent_id: "front-door", action: "unlock" } }]],
    });
  });

  test("everything is opened, but no lock", async () => {
    const opened = await callsOf("open everything in the hall");
    expect(opened.join()).not.toMatch(/unlock/);
  });

  test("a machine is not switched, and is no unknown name", async () => {
    expect(await answerTo("turn off vm")).toBe("vm: it cannot do that.");
    expect(await answerTo("is vm on?")).toBe("Yes. vm: online.");
  });

  test("two parts are two steps", async () => {
    expect(await resolve("turn off the counter light and turn on the reading lamp")).toMatchObject({
      steps: [[{ args: { agent_id: "counter-light" } }], [{ args: { agent_id: "reading-lamp" } }]],
    });
  });
});

describe("a question is answered from what devices report", () => {
  test.each([
    ["how warm is it in the bedroom?", "Bedroom thermometer: 19.5 °C."],
    ["what is the temperature of the freezer?", "Freezer: −18.4 °C."],
    ["is the front door locked?", "Yes. Front door: locked."],
    ["is the counter light on?", "No. Counter light: off."],
    ["which windows are open?", "Kitchen window: open."],
    ["are all windows closed?", "No. Kitchen window: open."],
    ["is any window open?", "Yes. Kitchen window: open."],
    ["is any window in the living room open?", "No. Living room window: closed."],
    ["which windows in the living room are open?", "None.\nLiving room window: closed."],
    ["how many doors are locked?", "1 of 1: Front door."],
    ["which doors are unlocked?", "None.\nFront door: locked."],
    ["are all doors locked?", "Yes. Front door: locked."],
    ["what is open?", "Blinds: 100 %.\nKitchen window: open."],
    ["is anything open in the living room?", "Yes. Blinds: 100 %."],
    ["is anything on in the bathroom?", "No. Bathroom fan: off."],
    ["which lights are off?", "Counter light: off."],
    ["are the windows open?", "Kitchen window: open.\nLiving room window: closed."],
    ["are the windows in the kitchen open?", "Yes. Kitchen window: open."],
    ["what is on?", "Bosch washing machine plug: on.\nFridge: on.\nKitchen light: on.\nReading lamp: on."],
    ["how many lights are on?", "2 of 3: Kitchen light and Reading lamp."],
    ["is the freezer colder than -15 degrees?", "Yes. Freezer: −18.4 °C."],
    ["is the leak sensor wet?", "No. Leak sensor: dry."],
  ])("%s", async (sentence, answer) => {
    expect(await answerTo(sentence)).toBe(answer);
  });

  test.each([
    ["tell me when the front door opens", "Front door does not report that. No sensor near it does."],
    ["is the front door open?", "Front door does not report that. No sensor near it does."],
    [
      "tell me when the counter light opens",
      "Counter light does not report that. The nearest that does: Kitchen window.",
    ],
    ["tell me when vm opens", "vm does not report that. No sensor near it does."],
  ])("%s: the nearest that reports it is named", async (sentence, answer) => {
    expect(await answerTo(sentence)).toBe(answer);
  });

  test("a reading that the device does not have is said with those that it has", async () => {
    expect(await answerTo("what is the humidity of the freezer?")).toBe(
      "Freezer has no humidity. It has: temperature.",
    );
  });

  test("of a machine it is a call of its own tool", async () => {
    expect(await callsOf("how full is the disk?")).toEqual(["vm disk {}"]);
  });
});

describe("an act and a question in one sentence", () => {
  test("a question before the act is answered now", async () => {
    expect(await resolve("how warm is the freezer and turn on the reading lamp")).toMatchObject({
      steps: [[{ args: { agent_id: "reading-lamp" } }]],
      parts: ["Freezer: −18.4 °C.", 0],
      changes: 1,
    });
  });

  test("a question behind the act is left until the act is over", async () => {
    const resolved = await resolve("turn on the counter light and how warm is the freezer");
    expect(resolved).toMatchObject({ parts: [0, { kind: "ask", reading: "temperature" }] });
  });

  test("a question about a machine is a step of its own", async () => {
    const resolved = await resolve("turn on the counter light and how full is the disk of vm");
    expect(resolved).toMatchObject({ asked: [null, { reading: "disk" }], changes: 1 });
    expect(resolved).not.toHaveProperty("parts");
  });

  test("a question that has no answer here lets nothing be done", async () => {
    expect(await answerTo("turn on the counter light and what is the humidity of the freezer")).toBe(
      "Freezer has no humidity. It has: temperature.",
    );
  });
});

describe("a rule is a call of its tool", () => {
  test("a watch has the device's own reading and a value that it reports", async () => {
    expect(await callsOf("tell me when the kitchen window is open.")).toEqual([
      'watch {"agent_id":"kitchen-window","name":"tell me when the kitchen window is open","reading":"window","is":"equal","value":true}',
    ]);
    expect(await callsOf("tell me when the freezer is above -15 degrees")).toEqual([
      'watch {"agent_id":"freezer","name":"tell me when the freezer is above -15 degrees","reading":"temperature","is":"above","value":-15}',
    ]);
  });

  test("a watch on a machine has its tool's own figure", async () => {
    const watched = async (sentence: string) => {
      const [call] = await callsOf(sentence);
      return call?.replace(/"name":"[^"]*",/, "");
    };
    expect(await watched("tell me when the disk of vm is above 90 %")).toBe(
      'watch {"agent_id":"vm","reading":"disk","field":"/.used_percent","is":"above","value":90}',
    );
    expect(await watched("tell me when less than 5 GB is free on the disk of vm")).toBe(
      'watch {"agent_id":"vm","reading":"disk","field":"/.free_bytes","is":"below","value":5000000000}',
    );
    expect(await answerTo("tell me when the humidity of vm is above 90 %")).toBe("vm has no humidity.");
    expect(await watched("tell me when the load is above 4")).toBe(
      'watch {"agent_id":"vm","reading":"cpu","field":"load_1","is":"above","value":4}',
    );
    expect(await watched("tell me when the cpu load of vm is above 80 %")).toBe(
      'watch {"agent_id":"vm","reading":"cpu","field":"usage_percent","is":"above","value":80}',
    );
    expect(await answerTo("tell me when the memory is above 4")).toBe("vm: it cannot do that.");
  });

  test("what no machine has is asked of none", async () => {
    expect(await resolve("which services are running?")).toEqual({
      problem: { text: "vm has no services." },
    });
  });

  test("a reminder has the person's text and time", async () => {
    expect(await callsOf("remind me in 10 minutes to turn the pizza")).toEqual([
      'remind {"text":"turn the pizza","in_minutes":10}',
    ]);
  });
});

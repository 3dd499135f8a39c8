import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HeldText, writtenCall } from "./written-calls.ts";

const NAMES = new Set(["edge_call", "find_agents"]);
const ARGS = '{"agent_id": "pi", "action": "disk"}';
const CALL = `{"name": "edge_call", "arguments": ${ARGS}}`;

const CALLS = [
  `<tool_call>\n${CALL}\n</tool_call>`,
  `<tool_call>edge_call\n<arg_key>agent_id</arg_key>\n<arg_value>pi</arg_value>\n</tool_call>`,
  `<function=edge_call>\n<parameter=agent_id>\npi\n</parameter>\n</function>`,
  `<function=edge_call>${ARGS}</function>`,
  `<function_calls>\n<invoke name="edge_call">\n<parameter name="agent_id">pi</parameter>\n</invoke>\n</function_calls>`,
  `<minimax:tool_call>\n<invoke name="edge_call">\n<parameter name="agent_id">pi</parameter>\n</invoke>\n</minimax:tool_call>`,
  `<|tool_call>call:edge_call{agent_id:<|"|>pi<|"|>}<tool_call|>`,
  `<|python_tag|>${CALL}`,
  `<|python_tag|>edge_call.call(agent_id="pi")`,
  `[TOOL_CALLS][${CALL}]`,
  `[TOOL_CALLS]edge_call[ARGS]${ARGS}`,
  `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>edge_call<｜tool▁sep｜>${ARGS}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  `<|tool_calls_section_begin|><|tool_call_begin|>functions.edge_call:0<|tool_call_argument_begin|>${ARGS}<|tool_call_end|><|tool_calls_section_end|>`,
  `<|channel|>commentary to=functions.edge_call <|constrain|>json<|message|>${ARGS}`,
  `<|action_start|><|plugin|>\n${CALL}<|action_end|>`,
  `functools[${CALL}]`,
  CALL,
  `[${CALL}]`,
  `{"type": "function", "name": "edge_call", "parameters": ${ARGS}}`,
  `{"tool": "edge_call", "args": ${ARGS}}`,
  `{"function": {"name": "edge_call", "arguments": ${ARGS}}}`,
  `{"tool_calls": [{"function": {"name": "edge_call", "arguments": ${JSON.stringify(ARGS)}}}]}`,
  `{"edge_call": ${ARGS}}`,
  `{"action": "edge_call", "action_input": ${ARGS}}`,
  `\`\`\`json\n${CALL}\n\`\`\``,
  `\`\`\`tool_call\n${CALL}\n\`\`\``,
  `I look at the disk:\n\`\`\`json\n${CALL}\n\`\`\``,
  `Let me look.\n\n<tool_call>\n${CALL}\n</tool_call>`,
  `edge_call(agent_id="pi", action="disk")`,
  `[edge_call(agent_id="pi", action="disk")]`,
  `print(default_api.edge_call(agent_id="pi"))`,
  `\`\`\`tool_code\nprint(edge_call(agent_id="pi"))\n\`\`\``,
  `Thought: I need the disk.\nAction: edge_call\nAction Input: ${ARGS}`,
  `**Tool call:** edge_call ${ARGS}`,
  `<tool_call>\n${CALL}\n</tool_call>\nThe lamp is on now.`,
  `<tools>\n${CALL}\n</tools>`,
  `<|tool_call_start|>[edge_call(agent_id="pi")]<|tool_call_end|>`,
  `<TOOLCALL>[${CALL}]</TOOLCALL>`,
  `edge_call\n${ARGS}`,
  `✿FUNCTION✿: edge_call\n✿ARGS✿: ${ARGS}\n✿RESULT✿`,
  `<execute_tool>\nedge_call(agent_id="pi")\n</execute_tool>`,
  `Action: edge_call(agent_id="pi")`,
  `Action: edge_call[${ARGS}]`,
  `tool: edge_call\nparameters:\n  agent_id: pi\n  action: disk`,
  "```yaml\ntool: edge_call\nparameters:\n  agent_id: pi\n```",
  `<edge_call>\n<agent_id>pi</agent_id>\n<action>disk</action>\n</edge_call>`,
  `<edge_call agent_id="pi" action="disk"/>`,
  `{"command":"edge_call","arguments":${ARGS}}`,
  `{"method":"edge_call","params":${ARGS}}`,
  `{'name': 'edge_call', 'arguments': {'agent_id': 'pi'}}`,
  `Calling edge_call with arguments: ${ARGS}`,
  `Calling the tool edge_call: ${ARGS}`,
  `Action: \`\`\`json\n[{"tool_name":"edge_call","parameters":${ARGS}}]\n\`\`\``,
  `<function_calls>edge_call(agent_id="pi")</function_calls>`,
  `[edge_call(agent_id="pi")]`,
  `<tool_use>\n<name>edge_call</name>\n<arguments>${ARGS}</arguments>\n</tool_use>`,
  `<|tool_call|>\n{"name":"edge_call"}\n<|/tool_call|>`,
  `I'll check the disk.\n\nedge_call(agent_id="pi", action="disk")`,
  'I\'ll check.\n```\nedge_call(agent_id="pi")\n```',
  "```xml\n<tool_call>\n<name>edge_call</name>\n</tool_call>\n```",
  `[Tool call: edge_call(${ARGS})]`,
  `{"tool_calls":[{"id":"1","function":{"name":"edge_call","arguments":"{}"}}],"content":null}`,
  `<seed:tool_call>\n<function=edge_call>\n<parameter=agent_id>pi</parameter>\n</function>\n</seed:tool_call>`,
  `assistant\n{"name": "edge_call", "parameters": ${ARGS}}`,
  `{"name": "edge_call", "parameters": ${ARGS}}; {"name": "edge_call", "parameters": ${ARGS}}`,
  `{"name": "edge_call", "parameters": ${ARGS}}\n{"name": "edge_call", "parameters": ${ARGS}}`,
  `{"name": "edge_call", "arguments": ${ARGS}`,
  `{"id":"call_1","type":"function","function":"edge_call","args":${ARGS}}`,
  `I need to check.\n{"name": "edge_call", "parameters": ${ARGS}}\nI will wait for the result.`,
  `TOOL_CALL: edge_call ${ARGS}`,
  `<|call|>edge_call${ARGS}<|end|>`,
  `edge_call ${ARGS}`,
  `await edge_call({"agent_id":"pi"})`,
  '```js\nconst r = await edge_call({ agent_id: "pi" });\n```',
  "```python\nresult = edge_call(agent_id='pi')\nprint(result)\n```",
  `to=edge_call ${ARGS}`,
  `<tool name="edge_call">${ARGS}</tool>`,
  `<use_tool><tool_name>edge_call</tool_name></use_tool>`,
  `@edge_call(agent_id="pi")`,
];

/** Within a sentence or code: noticed at the end, and taken back. */
const SPOKEN = [
  `I will call edge_call(${ARGS})`,
  `analysisI think.assistantcommentary to=functions.edge_call json${ARGS}`,
  `const result = await edge_call({ agent_id: "pi", action: "disk" });`,
  `/edge_call ${ARGS}`,
];

const HONEST = [
  "The disk is 17 % full.",
  "I used edge_call to read the disk: it is 17 % full.",
  "I can call devices with `edge_call`, and search them with `find_agents`.",
  "The tool edge_call takes `agent_id` and `action`; which device do you mean?",
  'A call looks like this:\n\n```json\n{"name": "edge_call", "arguments": {}}\n```\n\nI have made none so far, since nothing is to do.',
  'In Qwen\'s format a call is `<tool_call>{"name": "edge_call"}</tool_call>`. Nothing else is needed.',
  "The file has this line: <tool_call>edge_call</tool_call>. It was written by a model.",
  '{"percent": 17}',
  '{"name": "disk", "value": 17}',
  '```json\n{"lamps": ["on", "off"]}\n```',
  "edge_call failed twice: the device is offline.",
  "| tool | for |\n| --- | --- |\n| edge_call | devices |\n| find_agents | search |",
  "Action: switch the lamp on yourself, I may not.",
  "The function `edge_call(agent_id, action)` is how I reach a device; it is not run by writing it.",
  "Three steps:\n1. find_agents finds the device\n2. edge_call asks it\n3. I tell you",
  "The log says: `print(foo)` was called.",
  "Set it in Python:\n```python\nprint(sensor.read())\n```",
  "edge_call",
  "Calling edge_call failed: the device is offline.",
  "I called edge_call with agent_id pi and got 17 %.",
  "Use edge_call(agent_id, action) to reach a device.",
  'You can write `edge_call(agent_id="pi")`, but I already did that: 17 %.',
  'To call it yourself: edge_call(agent_id="pi"). The disk is 17 % full.',
  "tool: edge_call is what I have; action: none.",
  "The tools are <edge_call> and <find_agents>, in that order.",
  "I ran edge_call (agent pi) and the disk is 17 % full (ok)",
  "edge_call (device pi): 17 % full",
  'The result of edge_call: {"percent": 17}',
  'Result of edge_call on pi:\n```json\n{"percent": 17}\n```',
  "Here is the config you asked for:\n```yaml\ntools:\n  - edge_call\n  - find_agents\n```",
  'The call of edge_call returned:\n{"status": "ok", "name": "pi"}',
  'I used these parameters for edge_call: {"agent_id": "pi"}. It worked.',
  'To call edge_call yourself:\n```python\nedge_call(agent_id="pi")\n```\nIt returns the disk.',
];

describe("L5: a call that a model wrote as text is noticed:", () => {
  test.each([...CALLS, ...SPOKEN])("%s", (text) => {
    expect(writtenCall(text, NAMES)).toBe("edge_call");
  });

  test("not where the tool is not offered", () => {
    for (const text of CALLS) expect(writtenCall(text, new Set(["disk_of"])), text).toBeUndefined();
    for (const text of CALLS) expect(writtenCall(text, new Set())).toBeUndefined();
  });
});

describe("L5: an honest text is no call:", () => {
  test.each(HONEST)("%s", (text) => {
    expect(writtenCall(text, NAMES)).toBeUndefined();
  });
});

const cutAt = (text: string, cuts: readonly number[]) => {
  const at = [...new Set([0, ...cuts.map((cut) => cut % (text.length + 1)), text.length])].sort(
    (a, b) => a - b,
  );
  return at.slice(1).map((end, i) => text.slice(at[i], end));
};
const CUTS = fc.array(fc.nat(400), { maxLength: 10 });

test("L5: property: of a text in any pieces nothing is lost, and its order stays", () => {
  const text = fc.oneof(
    fc.constantFrom(...CALLS, ...HONEST),
    fc
      .array(fc.constantFrom("edge_", "call", "<", "{", "`", "```", "\n", "Action", "word ", "[TOOL"), {
        maxLength: 30,
      })
      .map((it) => it.join("")),
    fc.string(),
  );
  fc.assert(
    fc.property(text, CUTS, (whole, cuts) => {
      const held = new HeldText(NAMES);
      const given = cutAt(whole, cuts)
        .map((piece) => held.add(piece))
        .join("");
      expect(held.given).toBe(given);
      expect(given + held.end()).toBe(whole);
    }),
  );
});

test("L5: property: of a written call no part is shown that names the tool", () => {
  fc.assert(
    fc.property(fc.constantFrom(...CALLS), CUTS, (call, cuts) => {
      const held = new HeldText(NAMES);
      for (const piece of cutAt(call, cuts)) held.add(piece);
      expect(writtenCall(held.given, NAMES)).toBeUndefined();
      expect(held.given).not.toContain("agent_id");
    }),
  );
});

test("a plain text is shown while it arrives", () => {
  const held = new HeldText(NAMES);
  expect(["The disk ", "is 17 % ", "full."].map((piece) => held.add(piece))).toEqual([
    "The disk ",
    "is 17 % ",
    "full.",
  ]);
  const without = new HeldText(new Set());
  expect(without.add("<tool_call>")).toBe("<tool_call>");
});

test("a long text in code is given on once it is clear that it calls nothing", () => {
  const held = new HeldText(NAMES);
  const code = `\`\`\`\n${"x = 1\n".repeat(60)}`;
  expect(held.add(code).length).toBeGreaterThan(0);
});

/** Calls, thoughts and tokens of a model's own format in the text of a reply, and texts that are cut. */
import {
  type Asked,
  always,
  type Cases,
  called,
  delta,
  each,
  events,
  final,
  finish,
  inTurn,
  json,
  oneCall,
  RUN_AFTER,
  RUN_ONCE,
  say,
  stream,
  type Wanted,
  wanted,
  words,
} from "./replies.ts";

type Written = (call: Wanted, asked: Asked) => string;
const named = (call: Wanted) => JSON.stringify({ name: call.name, arguments: call.args });

/** A call as text, in the models' own forms. */
const WRITTEN: Record<string, Written> = {
  "x-toolcalltag": (call) => `<tool_call>\n${named(call)}\n</tool_call>`,
  "x-twice": (call) => `<tool_call>\n${named(call)}\n</tool_call>\n<tool_call>\n${named(call)}\n</tool_call>`,
  "x-led": (call) => `Let me bump it.\n\n<tool_call>\n${named(call)}\n</tool_call>`,
  "x-twotools": (call) => `<tool_call>\n${named(call)}\n</tool_call>\nThe lamp is on now.`,
  "x-unclosed": (call) => `<tool_call>\n${named(call)}`,
  "x-jsonfence": (call) => `\`\`\`json\n${JSON.stringify({ name: call.name, arguments: call.args }, null, 1)}\n\`\`\``,
  "x-jsonbare": named,
  "x-jsonlist": (call) => `[${named(call)}]`,
  "x-typefunction": (call) => JSON.stringify({ type: "function", name: call.name, parameters: call.args }),
  "x-functionobject": (call) => JSON.stringify({ function: { name: call.name, arguments: json(call) } }),
  "x-toolcalls": (call) => JSON.stringify({ tool_calls: [{ id: "1", type: "function", function: { name: call.name, arguments: json(call) } }] }),
  "x-toolinput": (call) => JSON.stringify({ tool: call.name, tool_input: call.args }),
  "x-action": (call) => `Thought: I bump it.\nAction: ${call.name}\nAction Input: ${json(call)}`,
  "x-actionjson": (call) => `\`\`\`json\n${JSON.stringify({ action: call.name, action_input: call.args })}\n\`\`\``,
  "x-mistral": (call) => `[TOOL_CALLS][${named(call)}]`,
  "x-mistralargs": (call) => `[TOOL_CALLS]${call.name}[ARGS]${json(call)}`,
  "x-deepseek": (call) => `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>${call.name}<｜tool▁sep｜>${json(call)}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  "x-deepseekfunction": (call) => `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>${call.name}\n\`\`\`json\n${json(call)}\n\`\`\`<｜tool▁call▁end｜>`,
  "x-dsml": (call) => `<｜DSML｜function_calls>\n<｜DSML｜invoke name="${call.name}">\n<｜DSML｜parameter name="n" string="true">1</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>`,
  "x-kimi": (call) => `<|tool_calls_section_begin|><|tool_call_begin|>functions.${call.name}:0<|tool_call_argument_begin|>${json(call)}<|tool_call_end|><|tool_calls_section_end|>`,
  "x-glm": (call) => `<tool_call>${call.name}\n<arg_key>n</arg_key>\n<arg_value>1</arg_value>\n</tool_call>`,
  "x-qwencoder": (call) => `<tool_call>\n<function=${call.name}>\n<parameter=n>\n1\n</parameter>\n</function>\n</tool_call>`,
  "x-llamafunction": (call) => `<function=${call.name}>${json(call)}</function>`,
  "x-pythontag": (call) => `<|python_tag|>${named(call)}`,
  "x-invoke": (call) => `<function_calls>\n<invoke name="${call.name}">\n<parameter name="n">1</parameter>\n</invoke>\n</function_calls>`,
  "x-minimax": (call) => `<minimax:tool_call>\n<invoke name="${call.name}">\n<parameter name="n">1</parameter>\n</invoke>\n</minimax:tool_call>`,
  "x-harmony": (call) => `<|channel|>commentary to=functions.${call.name} <|constrain|>json<|message|>${json(call)}<|call|>`,
  "x-harmonythought": (call) => `<|channel|>analysis<|message|>I call it.<|end|><|start|>assistant<|channel|>commentary to=functions.${call.name}<|message|>${json(call)}`,
  "x-granite": (call) => `<|tool_call|>[${named(call)}]`,
  "x-gemma": (call) => `<|tool_call>call:${call.name}{n:<|"|>1<|"|>}<tool_call|>`,
  "x-toolcode": (call) => `\`\`\`tool_code\nprint(default_api.${call.name}(n="1"))\n\`\`\``,
  "x-python": (call) => `[${call.name}(n="1")]`,
  "x-functools": (call) => `functools[${named(call)}]`,
  "x-actionbrackets": (call) => `Action: ${call.name}(n="1")`,
  "x-yaml": (call) => `tool: ${call.name}\nparameters:\n  n: "1"`,
  "x-qwenold": (call) => `✿FUNCTION✿: ${call.name}\n✿ARGS✿: ${json(call)}\n✿RESULT✿`,
  "x-nametag": (call) => `<${call.name}>\n<n>1</n>\n</${call.name}>`,
  "x-nameattribute": (call) => `<${call.name} n="1"/>`,
  "x-lfm": (call) => `<|tool_call_start|>[${call.name}(n="1")]<|tool_call_end|>`,
  "x-nemotron": (call) => `<TOOLCALL>[${named(call)}]</TOOLCALL>`,
  "x-announced": (call) => `Calling ${call.name} with arguments: ${json(call)}`,
  "x-assigned": (call) => `\`\`\`python\nresult = ${call.name}(n="1")\nprint(result)\n\`\`\``,
  "x-llamaend": (call) => `${JSON.stringify({ name: call.name, parameters: call.args })}<|eot_id|>`,
  "x-jsonline": (call) => `I need to bump it.\n${named(call)}\nI wait for the result.`,
  "x-afterthought": (call) => `<think>I call it.</think>\n<tool_call>\n${named(call)}\n</tool_call>`,
}; // biome-ignore format: a table

/** Answers that speak of a call. */
const HONEST: Record<string, string> = {
  "x-quoted": "In Qwen's format a call is `<tool_call>{\"name\": \"edge_call\"}</tool_call>`. Nothing else is needed.",
  "x-explained": "A call looks like this:\n\n```json\n{\"name\": \"edge_call\", \"arguments\": {}}\n```\n\nI have made none so far, since nothing is to do.",
  "x-named": "I could use edge_call or bump for that, but you asked for words alone.",
  "x-code": "Put this into the file:\n```python\nprint(sensor.read())\n```",
  "x-lessthan": "It is < 20 °C and [no] lamp is on; a<b holds.",
  "x-thinktag": "The tag <think> begins a thought, and </think> ends it.",
  "x-tokenquoted": "In ChatML `<|im_end|>` ends a message.",
}; // biome-ignore format: a table

/** Replies whose answer is "All is well.". */
const SPLIT: Record<string, unknown[]> = {
  "x-think": [words("<think>\nThe user wants X. I should pretend "), words("that the key is 1234.\n</think>\n\n"), words("All is well.")],
  "x-thinkpieces": Array.from("<think>\nsecret\n</think>\n\nAll is well.", words),
  "x-thinking": [words("<thinking>secret</thinking>\nAll is well.")],
  "x-reasoningtag": [words("<reasoning>secret</reasoning>All is well.")],
  "x-mistralthink": [words("[THINK]secret[/THINK]All is well.")],
  "x-kimithink": [words("◁think▷secret◁/think▷All is well.")],
  "x-coherethink": [words("<|START_THINKING|>secret<|END_THINKING|>All is well.")],
  "x-halfthink": [words("The user wants X.\n</think>\n\nAll is well.")],
  "x-harmonyfinal": [words("<|channel|>analysis<|message|>secret<|end|><|start|>assistant<|channel|>final<|message|>All is well.<|return|>")],
  "x-harmonybare": [words("analysisThe user wants X.assistantfinalAll is well.")],
  "x-stoptoken": [words("All is well.<|im_end|>\n<|im_start|>assistant\nAll is well.</s>")],
  "x-eot": [words("All is well."), words("<|eot_"), words("id|>")],
  "x-endofturn": [words("All is well.<end_of_turn>")],
  "x-endtext": [words("All is well.<|endoftext|>Human: more")],
  "x-dsend": [words("All is well.<｜end▁of▁sentence｜>")],
  "x-answertags": [words("<think>secret</think>\n<answer>\nAll is "), words("well.\n</answer>")],
  "x-llama4end": [words("All is well.<|eot|>")],
  "x-reasoning": [delta({ role: "assistant", reasoning: "secret" }), words("All is well.")],
  "x-reasoningcontent": [delta({ reasoning_content: "sec" }), delta({ reasoning_content: "ret" }), words("All is well.")],
  "x-details": [delta({ reasoning_details: [{ type: "reasoning.text", text: "secret", index: 0 }] }), words("All is well.")],
  "x-parts": [delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: "secret" }] }] }), delta({ content: [{ type: "text", text: "All is well." }] })],
  "x-partslast": [delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: "secret" }] }] }), words("All is well.")],
}; // biome-ignore format: a table

/** Why a text ended too early, in the words of endpoints. */
const CUT: Record<string, readonly [reason: string, why: string]> = {
  "c-lengthtext": ["length", "MAX_TOKENS"],
  "c-maxtokens": ["MAX_TOKENS", "MAX_TOKENS"],
  "c-modellength": ["model_length", "MAX_TOKENS"],
  "c-outputtokens": ["max_output_tokens", "MAX_TOKENS"],
  "c-filtertext": ["content_filter", "content filter"],
  "c-safety": ["SAFETY", "content filter"],
  "c-sensitive": ["sensitive", "content filter"],
  "c-recitation": ["RECITATION", "content filter"],
};

/** A reply that ended with an error of the endpoint. */
const BROKEN = ["error", "network_error", "insufficient_system_resource", "engine_error"];

const unanswered = { runs: [], status: "failed" as const };

export const TEXTS: Cases = {
  ...each(WRITTEN, (write) => ({
    row: "L5",
    play: inTurn((asked) => say(write(wanted(asked), asked)), oneCall, final),
    outcome: { ...RUN_AFTER, answer: /FINAL\(did 1\)$/ },
  })),
  "x-again": {
    row: "L5",
    play: (asked) => say(`<tool_call>\n${named(wanted(asked))}\n</tool_call>`),
    outcome: { ...unanswered, answer: /twice/, says: ["cannot call tools"], requests: 2 },
  },
  "x-thenwords": {
    row: "L5",
    play: inTurn(
      (asked) => say(`<tool_call>\n${named(wanted(asked))}\n</tool_call>`),
      always(say("I cannot do that.")),
    ),
    outcome: { runs: [], answer: "I cannot do that.", requests: 2 },
  },
  "x-othername": {
    row: "L5",
    play: always(say('<tool_call>\n{"name": "nobody_has_it", "arguments": {}}\n</tool_call>')),
    outcome: { runs: [], answer: /nobody_has_it/, requests: 1 },
  },
  ...each(HONEST, (text) => ({
    row: "L5",
    play: always(say(text)),
    outcome: { runs: [], answer: text, requests: 1 },
  })),
  ...each(SPLIT, (parts) => ({
    row: "L6",
    play: always(stream(...parts, finish("stop"))),
    outcome: { runs: [], answer: "All is well.", requests: 1 },
  })),
  "x-thinkcall": {
    row: "L6",
    play: inTurn(
      (asked) => stream(words("<think>I call the tool.</think>"), ...called(wanted(asked))),
      (asked) =>
        stream(words("<think>secret musings</think>\n"), words(`FINAL(did ${asked.tag}-1)`), finish("stop")),
    ),
    outcome: RUN_ONCE,
  },
  "x-reasoncall": {
    row: "L6",
    play: events((call) => [delta({ reasoning_content: "I should call." }), ...called(call)]),
    outcome: RUN_ONCE,
  },
  "x-thinkonly": {
    row: "L6",
    play: always(stream(words("<think>\nI think and think and never answer.\n</think>\n"), finish("stop"))),
    outcome: { ...unanswered, answer: /thought, and gave no answer/, requests: 2 },
  },
  "x-reasononly": {
    row: "L6",
    play: always(
      stream(
        delta({ role: "assistant", content: null, reasoning_content: "I think. The answer is 42." }),
        finish("stop"),
      ),
    ),
    outcome: { ...unanswered, answer: /thought, and gave no answer/, requests: 2 },
  },
  "x-thinkcut": {
    row: "L6",
    play: always(stream(words("<think>\nI think and"), finish("length"))),
    outcome: { ...unanswered, answer: /MAX_TOKENS while it thought/, requests: 1 },
  },
  "x-empty": {
    play: always(stream(delta({ role: "assistant", content: "" }), finish("stop"))),
    outcome: { ...unanswered, answer: /gave an empty answer/, requests: 2 },
  },
  "x-emptyonce": {
    play: inTurn(always(stream(delta({ role: "assistant", content: "" }), finish("stop"))), oneCall, final),
    outcome: RUN_AFTER,
  },
  "x-lengthempty": {
    row: "L4",
    play: always(stream(finish("length"))),
    outcome: { ...unanswered, answer: /MAX_TOKENS/, requests: 1 },
  },
  "c-filterempty": {
    row: "L4",
    play: always(stream(words(""), finish("content_filter"))),
    outcome: { ...unanswered, answer: /content filter held back/, requests: 1 },
  },
  "x-refusal": {
    play: always(stream(delta({ refusal: "I will not do that." }), finish("stop"))),
    outcome: { runs: [], answer: "I will not do that.", requests: 1 },
  },
  "c-emptylist": {
    play: always(
      stream(
        delta({ role: "assistant", content: "", tool_calls: [] }),
        delta({ content: "plain", tool_calls: [] }),
        delta({ content: null, tool_calls: null }),
        finish("stop"),
      ),
    ),
    outcome: { runs: [], answer: "plain", requests: 1 },
  },
  ...each(CUT, ([reason, why]) => ({
    row: "L4",
    play: always(stream(words("The disk of the machine is"), finish(reason))),
    outcome: {
      runs: [],
      answer: /^The disk of the machine is\n\n\[The answer was cut: /,
      says: [why],
      requests: 1,
    },
  })),
  ...each(
    Object.fromEntries(BROKEN.map((reason) => [`e-finish-${reason.replaceAll("_", "")}`, reason])),
    (reason) => ({
      row: "L4",
      play: inTurn(always(stream(words("The disk "), finish(reason))), always(say("The disk is full."))),
      outcome: { runs: [], answer: "The disk is full.", requests: 2 },
    }),
  ),
  "x-donelie": {
    row: "L15",
    play: always(say("Done! I have switched the lamp on for you.")),
    outcome: { runs: [], answer: "Done! I have switched the lamp on for you.", requests: 1 },
  },
  "x-json": {
    play: always(say('{"percent":17}')),
    outcome: { runs: [], answer: '{"percent":17}', requests: 1 },
  },
};

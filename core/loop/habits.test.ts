import { describe, expect, test } from "vitest";
import { HabitsInMemory, habitsFor, habitsOfHost, knownHabits } from "./habits.ts";
import { ModelError } from "./retry.ts";

const refusal = (words: string, status?: number) =>
  new ModelError("never", words, { words, ...(status !== undefined && { status }) });

describe("L8: a refusal's words ask for a form, whatever its status:", () => {
  test.each<[string, string]>([
    // L3, pictures.
    ["no_pictures", "No endpoints found that support image input"],
    ["no_pictures", "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"],
    ["no_pictures", "messages[1].content must be a string"],
    ["no_pictures", "Image content is not supported for this model"],
    ["no_pictures", "messages[1]: unknown variant `image_url`, expected `text` at line 1 column 500"],
    ["no_pictures", "This model does not support vision"],
    ["no_pictures", "Multimodal data provided, but model does not support multimodal requests."],
    ["no_pictures", "At most 0 image(s) may be provided in one request."],
    ["no_pictures", "invalid content type. image_url is only supported by certain models"],
    ["no_pictures", "input modalities of this model: text"],
    // Parameters.
    ["max_completion_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."],
    ["no_stream_options", "body.stream_options.include_usage: Extra inputs are not permitted"],
    ["no_temperature", "Unsupported value: 'temperature' does not support 0.7 with this model."],
    ["no_temperature", "body.temperature: Input should be less than or equal to 1"],
    ["no_tool_choice", "`tool_choice` is not supported"],
    ["no_stream", "Your organization must be verified to stream this model."],
    // L1.
    ["no_replay", "body.messages.2.assistant.reasoning_content: Extra inputs are not permitted"],
    ["no_replay", "property 'messages.1.assistant.reasoning_content' is unsupported"],
    ["no_replay", "Unrecognized request argument supplied: reasoning_details"],
    ["dummy_signatures", "Function call is missing a thought_signature in functionCall parts."],
    ["empty_reasoning", "Missing `reasoning_content` field in the assistant message at message index 2."],
    ["empty_reasoning", "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"],
    // L9.
    ["ids_of_nine", "Tool call id was call_abc but must be a-z, A-Z, 0-9, with a length of 9."],
    ["answer_after_results", "Unexpected role 'user' after role 'tool'"],
    ["no_null_content", "Invalid 'messages': message content must be a string, got null"],
    ["no_null_content", "invalid value for 'content': expected a string, got null"],
    ["no_null_content", "messages.2.content: Input should be a valid string"],
    ["named_results", "GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty."],
    ["alternating_roles", "Conversation roles must alternate user/assistant/user/assistant/..."],
    ["no_system", "System role not supported"],
    ["no_system", "Developer instruction is not enabled for models/gemma-3-27b-it"],
    ["one_call_a_message", "This model only supports single tool-calls at once!"],
  ])("%s: %s", (habit, words) => {
    for (const status of [400, 422, 500, undefined]) expect(habitsFor(refusal(words, status))).toContain(habit);
  }); // biome-ignore format: a table

  test("other statuses tell of the endpoint's state, and other words of other faults", () => {
    for (const status of [401, 403, 429, 503]) expect(habitsFor(refusal("temperature", status))).toEqual([]);
    for (const words of ["", "Incorrect API key provided", "The model does not exist", "overloaded"])
      expect(habitsFor(refusal(words, 400))).toEqual([]);
  });
});

test("L8: a known form that is refused now is dropped, and one that is the cause of a refusal first", () => {
  const asked = refusal("max_completion_tokens unknown", 400);
  expect(habitsFor(asked, new Set(["max_completion_tokens"]))).toEqual(["max_completion_tokens"]);
  const missing = refusal("reasoning_content is missing in assistant message at index 2", 400);
  expect(habitsFor(missing, new Set(["no_replay"]))).toEqual(["no_replay", "empty_reasoning"]);
  expect(habitsFor(missing)).toEqual(["empty_reasoning"]);
  const store = new HabitsInMemory();
  store.learned("a m", ["max_completion_tokens", "no_temperature"], []);
  store.learned("a m", ["no_pictures"], ["max_completion_tokens"]);
  expect(store.of("a m")).toEqual(["no_temperature", "no_pictures"]);
});

test("L9: known of endpoints without a refusal", () => {
  expect(habitsOfHost("api.mistral.ai")).toContain("ids_of_nine");
  expect(habitsOfHost("generativelanguage.googleapis.com")).toContain("dummy_signatures");
  expect(habitsOfHost("mistral.ai.example")).toEqual([]);
});

test("L8: what was learned belongs to its address and model, once", () => {
  const store = new HabitsInMemory();
  store.learned("a m", ["no_pictures"]);
  store.learned("a m", ["no_pictures", "no_temperature"]);
  expect(store.of("a m")).toEqual(["no_pictures", "no_temperature"]);
  expect(store.of("a n")).toEqual([]);
  // Stored by a newer version.
  expect(knownHabits(["no_pictures", "later_invention"])).toEqual(["no_pictures"]);
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { errorDetail } from "./error-detail.ts";

const json = JSON.stringify;

describe("L7: the words of an error are found in", () => {
  test.each<[string, unknown, string]>([
    ["OpenAI's form", { error: { message: "no such model", type: "invalid_request_error", code: "x" } }, "no such model"],
    ["Ollama's", { error: "model 'x' not found" }, "model 'x' not found"],
    ["Gemini's list", [{ error: { code: 400, message: "bad", status: "INVALID_ARGUMENT" } }], "bad"],
    ["Cloudflare's errors", { success: false, errors: [{ code: 7009, message: "Upstream service unavailable" }], messages: [], result: null }, "Upstream service unavailable"],
    ["AI Gateway's error list", { success: false, result: [], error: [{ code: 2008, message: "Invalid provider" }] }, "Invalid provider"],
    ["MiniMax's base_resp", { choices: null, base_resp: { status_code: 1008, status_msg: "insufficient balance" } }, "insufficient balance"],
    ["vLLM's", { object: "error", message: "The model `x` does not exist.", type: "NotFoundError", code: 404 }, "The model `x` does not exist."],
    ["FastAPI's detail", { detail: [{ loc: ["body", "max_tokens"], msg: "Input should be less than 1024", type: "x" }] }, "body.max_tokens: Input should be less than 1024"],
    ["FastAPI's detail as text", { detail: "Not Found" }, "Not Found"],
    ["Mistral's message with detail", { message: { detail: [{ loc: ["body", "stop"], msg: "Extra inputs are not permitted" }] } }, "body.stop: Extra inputs are not permitted"],
    ["OpenRouter's metadata", { error: { code: 429, message: "Provider returned error", metadata: { raw: "google/gemma is rate-limited upstream", provider_name: "X" } } }, "Provider returned error: google/gemma is rate-limited upstream"],
    ["OpenRouter's metadata with JSON in it", { error: { message: "Provider returned error", metadata: { raw: json({ error: { message: "too many pictures" } }) } } }, "Provider returned error: too many pictures"],
    ["LiteLLM's text with JSON", { error: { message: json({ error: { message: "inner words" } }) } }, "inner words"],
    ["AWS's", { __type: "ValidationException", Message: "The model is not ready" }, "The model is not ready"],
    ["a fault", { fault: { faultstring: "Rate quota violation", detail: { errorcode: "policies.ratelimit" } } }, "Rate quota violation"],
    ["an OAuth server's", { error: "invalid_client", error_description: "The token has expired" }, "The token has expired: invalid_client"],
    ["a problem of RFC 9457", { type: "about:blank", title: "Forbidden", detail: "You may not use this model", status: 403 }, "You may not use this model: Forbidden"],
    ["DashScope's", { code: "InvalidParameter", message: "url error", request_id: "x" }, "url error"],
    ["Baidu's", { error_code: 336003, error_msg: "the length of content is 0" }, "the length of content is 0"],
    ["errMsg", { errCode: 1, errMsg: "quota used up" }, "quota used up"],
    ["a list of texts", { errors: ["first", "second"] }, "first: second"],
    ["plain text", "upstream connect error", "upstream connect error"],
    ["a page's title", "<!DOCTYPE html><title>Attention Required! | Cloudflare</title><body>much</body>", "Attention Required! | Cloudflare"],
    ["a page without a title", "<html><h1>502</h1></html>", ""],
    ["a JSON text", json({ error: { message: "in a text" } }), "in a text"],
    ["a body that was cut", `{"error":{"message":"cut off here","data":"${"x".repeat(50)}`, "cut off here"],
    ["an error of a code alone", { error: { code: "model_not_found" } }, "model_not_found"],
    ["an error of a type alone", { error: { type: "overloaded_error", message: "" } }, "overloaded_error"],
    ["the same words twice", { error: { message: "no credit" }, message: "no credit" }, "no credit"],
    ["nothing", {}, ""],
    ["null", null, ""],
    ["null in words", { error: { message: null, detail: "null" } }, ""],
  ])("%s", (_, body, words) => {
    expect(errorDetail(body)).toBe(words);
  }); // biome-ignore format: a table
});

test("L7: property: any body gives a text that fits a sentence", () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.string()), (body) => {
      const words = errorDetail(body);
      expect(words.length).toBeLessThanOrEqual(500);
      expect(words).not.toContain("\n");
    }),
  );
});

test("L7: property: a message is found below known members, at any of the first depths", () => {
  const names = fc.array(
    fc.constantFrom("error", "errors", "detail", "message", "metadata", "raw", "response", "body"),
    { minLength: 1, maxLength: 4 },
  );
  fc.assert(
    fc.property(names, fc.boolean(), (path, isList) => {
      const body = path.reduceRight<unknown>(
        (inner, name) => ({ id: "x", [name]: isList ? [inner] : inner }),
        { message: "the words" },
      );
      expect(errorDetail(body)).toBe("the words");
    }),
  );
});

import { expect, test } from "vitest";
import { readTraceSettings } from "./settings.ts";

test("without an address nothing is traced, whatever else is set", () => {
  expect(readTraceSettings({})).toEqual({ ok: true, value: undefined });
  expect(readTraceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: " ", OTEL_EXPORTER_OTLP_HEADERS: "?" })).toEqual({
    ok: true,
    value: undefined,
  });
});

test("address, headers and ratio", () => {
  expect(
    readTraceSettings({
      OTEL_EXPORTER_OTLP_ENDPOINT: "https://otlp.example.org/otlp/",
      OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Basic%20YTpi, x-team = a=b ,",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
    }),
  ).toEqual({
    ok: true,
    value: {
      url: "https://otlp.example.org/otlp/v1/traces",
      headers: { authorization: "Basic YTpi", "x-team": "a=b" },
      ratio: 0.25,
    },
  });
});

const there = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };
test.each([
  ["no address", { OTEL_EXPORTER_OTLP_ENDPOINT: "secret-host:4318" }, "OTEL_EXPORTER_OTLP_ENDPOINT"],
  ["another scheme", { OTEL_EXPORTER_OTLP_ENDPOINT: "grpc://secret:4317" }, "OTEL_EXPORTER_OTLP_ENDPOINT"],
  ["a user", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://secret@x" }, "OTEL_EXPORTER_OTLP_ENDPOINT"],
  ["a header without =", { ...there, OTEL_EXPORTER_OTLP_HEADERS: "secret" }, "OTEL_EXPORTER_OTLP_HEADERS"],
  ["a broken escape", { ...there, OTEL_EXPORTER_OTLP_HEADERS: "a=secret%2" }, "OTEL_EXPORTER_OTLP_HEADERS"],
  ["a line break", { ...there, OTEL_EXPORTER_OTLP_HEADERS: "a=secret%0Ab" }, "OTEL_EXPORTER_OTLP_HEADERS"],
  ["a ratio above 1", { ...there, OTEL_TRACES_SAMPLER_ARG: "2" }, "OTEL_TRACES_SAMPLER_ARG"],
])("%s is an error that names its variable and quotes nothing", (_, variables, name) => {
  const read = readTraceSettings(variables);
  expect(read.ok).toBe(false);
  const error = read.ok ? "" : read.error;
  expect(error.startsWith(`${name}: should be `)).toBe(true);
  expect(error).not.toContain("secret");
});

import { expect, test } from "vitest";
import { checkModelAddress, type Reach } from "./model-address.ts";

const read = (text: string, reach: Reach) => {
  const checked = checkModelAddress(text, reach);
  return checked.ok ? checked.value : checked.error;
};

test.each([
  ["http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"],
  ["http://localhost:1234/v1/", "http://localhost:1234/v1"],
  [" http://192.168.1.20:8080/v1 ", "http://192.168.1.20:8080/v1"],
  ["http://[fd12::5]:11434/v1", "http://[fd12::5]:11434/v1"],
  ["http://tower.local:11434/v1", "http://tower.local:11434/v1"],
  ["http://tower:11434/v1", "http://tower:11434/v1"],
  ["https://api.openai.com/v1", "https://api.openai.com/v1"],
  ["https://a.openai.azure.com/d/x/?api-version=1", "https://a.openai.azure.com/d/x?api-version=1"],
])("a gateway at home takes %s", (text, address) => expect(read(text, "home")).toBe(address));

test.each([
  ["http://api.example.com/v1", "expected https"],
  ["http://8.8.8.8/v1", "expected https"],
  ["http://169.254.169.254/latest", "no machine, or special in a cloud"],
  ["http://2852039166/", "no machine, or special in a cloud"],
  ["http://[::ffff:169.254.169.254]/", "no machine, or special in a cloud"],
  ["http://[fe80::1]/v1", "no machine, or special in a cloud"],
  ["http://[fd00:ec2::254]/v1", "no machine, or special in a cloud"],
  ["http://100.100.100.200/latest", "no machine, or special in a cloud"],
  ["http://metadata.google.internal./v1", "no machine, or special in a cloud"],
  ["http://0.0.0.0:11434/v1", "no machine, or special in a cloud"],
  ["https://user:pass@api.example.com/v1", "without a user"],
  ["https://api.example.com/v1?key=secret", "without a query"],
  ["https://a.openai.azure.com/d/x?api-version=1&api-key=secret", "without a query"],
  ["https://api.example.com/v1#key", "without '#'"],
  ["https://api.example.com:25/v1", "a port other than"],
  ["ftp://127.0.0.1/v1", "an address such as"],
  ["ollama", "an address such as"],
  [`https://api.example.com/${"a".repeat(500)}`, "an address such as"],
])("nobody may set %s", (text, why) => {
  for (const reach of ["home", "cloudflare"] as const) {
    expect(read(text, reach)).toContain(why);
    expect(read(text, reach)).toMatch(/^base_url: expected /);
  }
});

test.each([
  "http://127.0.0.1:11434/v1",
  "https://localhost/v1",
  "http://192.168.1.20/v1",
  "https://10.0.0.1/v1",
  "https://100.64.0.1/v1",
  "https://[fd12::5]/v1",
  "https://tower.local/v1",
  "https://tower/v1",
])("a gateway on Cloudflare does not take %s", (text) =>
  expect(read(text, "cloudflare")).toMatch(/public https address/),
);

test("a gateway on Cloudflare takes a public https address", () =>
  expect(read("https://api.openai.com/v1", "cloudflare")).toBe("https://api.openai.com/v1"));

import { NO_TOOL_CALLED } from "@edgecall/core/loop/history.ts";
import { expect, test } from "vitest";
import { paintFor } from "./paint.ts";
import { TurnView } from "./turn-view.ts";

function plainView() {
  const lines: string[] = [];
  const io = { out: () => {}, err: (text: string) => void lines.push(text) };
  const view = new TurnView({
    io: { ...io, terminal: false, watched: false, person: false },
    streams: false,
    tells: true,
    paint: paintFor(false, {}),
  });
  return { view, lines };
}

test("L15: a call for which the device's model called no tool is shown as such, and not as done", () => {
  const { view, lines } = plainView();
  const call = { id: "c", name: "edge_call", agent: "pi", query: "clean up", elapsed_ms: 900 };
  view.show({ event: "call", call: { ...call, status: "success", asked: false } });
  view.show({ event: "call", call: { ...call, status: "success" } });
  expect(lines).toEqual([
    `– pi "clean up"  ${NO_TOOL_CALLED}  900 ms\n`,
    '✓ pi "clean up"  success  900 ms\n',
  ]);
});

test("N10: a write that was denied on the device has no green tick", () => {
  const { view, lines } = plainView();
  const inner = { status: "error", error_type: "permission_denied" };
  view.show({
    event: "call",
    call: {
      id: "c",
      name: "edge_call",
      agent: "pi",
      query: "write it",
      elapsed_ms: 900,
      status: "success",
      calls: [inner],
    },
  });
  expect(lines).toEqual(['✗ pi "write it"  answered, and 1 call on the device was denied  900 ms\n']);
});
